//! SimAI's workload text, as AICB writes it, and the flows that SimAI makes of it.
//!
//! A workload is a line of settings, the number of rows, and a row for each layer with three
//! parts: forward, input gradient, weight gradient. Each has a computation and a collective. Every
//! rank runs the same rows once: forward from the first to the last, then backward from the last
//! to the first. It waits for the collectives of the forward pass and of input gradients; those of
//! weight gradients go on beside what follows, one at a time, the newest that waits first.
//!
//! [`text`] reads the file, [`job`] makes tasks of it, [`flows`] has the messages.

pub mod job;
pub mod text;

pub use crate::collective::flows;

/// What holds for any bytes: they are a workload or an error with a line. For fuzzing.
pub fn fuzz(bytes: &[u8]) {
    match text::parse(bytes) {
        Ok(rows) => {
            let tp = u32::try_from(rows.tp).unwrap_or(1).clamp(1, 8);
            let ranks = tp * 2;
            let options = job::Options { ranks, ..job::Options::default() };
            if let Ok(workload) = job::workload(&rows, &options) {
                crate::tasks::fuzz(workload);
            }
        }
        Err(error) => assert!(error.line >= 1, "{error}"),
    }
}
