//! What a change of settings does to a network: `weir search` and `weir diff`.
//!
//! | module | what it answers |
//! |---|---|
//! | [`search`] | which is the smallest (or largest) value of a setting that keeps a property? |
//! | [`diff`] | two scenarios or two results: what changed, and can it be told from chance? |
//! | [`condition`] | a property of a run, as people write it: `lost == 0 and p99 slowdown < 3` |

pub mod condition;
pub mod diff;
pub mod search;
