//! The value of a setting from which on a property holds.
//!
//! ```text
//!   fails  fails  fails | keeps  keeps  keeps        a property that is monotone
//!   low             breaks keeps          high
//! ```
//!
//! Bisection needs one run per halving, and is right if the property changes once along the range.
//! That is not known, so values beside the boundary are tried as well: if one of them contradicts
//! it, the property is not monotone and the answer says so.

mod axis;
mod bisect;
mod runner;

pub use axis::Axis;
pub use bisect::{Boundary, Found, bisect, changes};
pub(crate) use runner::each_seed;
pub use runner::{RunError, Runner, Verdict};
