//! Units that people write ("100Gbps", "64KiB", "1.5us") and models count in integers.

mod arithmetic;
mod bytes;
mod length;
mod parse;
mod rate;
mod ratio;
mod time;
mod unit;

pub use bytes::Bytes;
pub use length::Length;
pub use parse::ParseUnitError;
pub use rate::Rate;
pub use ratio::Ratio;
pub use time::Time;
pub use unit::Unit;
