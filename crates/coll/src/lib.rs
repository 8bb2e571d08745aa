//! Programs of ranks that wait for each other, without input, output or a clock.
//!
//! A parallel job is a program per rank: messages are sent when others have arrived, computations
//! wait for messages. [`goal`] reads such programs in the GOAL format, as text and as binary;
//! [`loggops`] runs them under the LogGOPS model, which knows overheads, gaps, latency and
//! bandwidth but no packets: a quick estimate, and the reference for simulations with packets.
//!
//! A [`program::Program`] is what one rank does, as a state machine that whoever moves messages
//! drives: [`collective`] has the collective operations with their algorithms, [`graph`] runs a
//! schedule, [`training`] the steps of a model that is trained. [`ideal`] is how long they take
//! where nothing else is in the network.
//!
//! Other traces become [`tasks`] of ranks with collectives among them: [`chakra`] execution traces,
//! [`simai`] workloads and [`htsim`] connection matrices.
//!
//! ```
//! use weir_coll::{goal, loggops};
//!
//! let text = "num_ranks 2\n\
//!             rank 0 {\na: calc 500\nb: send 4096b to 1 tag 7\nb requires a\n}\n\
//!             rank 1 {\nr: recv 4096b from 0 tag 7\n}\n";
//! let schedule = goal::text::parse(text.as_bytes()).expect("a schedule");
//! let run = loggops::run(&schedule, &loggops::Params::default()).expect("every receive is met");
//! // sent at 500 ns, arrives o + L later; the receiver needs o and 4095 gaps of G
//! assert_eq!(run.end_ns, [500 + 1500, 500 + 1500 + 2500 + 1500 + 4095 * 6]);
//! ```

pub mod balance;
pub mod chakra;
pub mod collective;
pub mod goal;
pub mod graph;
pub mod htsim;
pub mod ideal;
pub mod loggops;
mod matching;
pub mod program;
pub mod simai;
pub mod tasks;
mod text;
pub mod training;

pub use text::TextError;
