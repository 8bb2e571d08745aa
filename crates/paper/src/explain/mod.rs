//! What would have to be true: combinations of readings and open settings, scored against a
//! paper's claims.
//!
//! ```text
//!   explain.toml ─► Explanation ─► combinations ─► sweeps ─► verdicts of claims ─► Answer
//!                   (explanation/)   (design)    (search.rs)    (score.rs)        (answer.rs)
//!                                                      └─► effects (effects.rs) ─► figure
//! ```
//!
//! Everything here is found with the paper's numbers in view. It says what a result hangs on; it
//! never counts as reproduced. Combinations that are chosen so are run again on seeds that had no
//! part in the choice.

pub mod answer;
pub mod conclude;
pub mod effects;
pub mod files;
mod forest;
pub mod record;
pub mod score;
pub mod search;

pub use record::Record;
pub use search::{Phase, Study};

/// What stands wherever something of this is shown.
pub const POST_HOC: &str =
    "post hoc: found with the paper's numbers in view; none of it counts as reproduced";
