//! What can be known about a fabric before anything runs on it.
//!
//! | question | answer |
//! |---|---|
//! | how big is it? | [`Census`] |
//! | how much can cross the middle? | [`bisection`] |
//! | where is it oversubscribed? | [`oversubscription`] |
//! | how far apart are the farthest hosts? | [`LongestPath`] |
//! | can these routes deadlock? | [`BufferGraph`] |
//! | which vertices of a directed graph wait for each other? | [`Digraph`] |
//! | how much buffer must stay free above XOFF? | [`Headroom`] |

mod bisection;
mod buffers;
mod census;
mod distance;
mod headroom;
mod maxflow;
mod scc;

pub use bisection::{Bisection, bisection};
pub use buffers::{Buffer, BufferGraph, CyclicDependency, rises_then_falls};
pub use census::{Census, Oversubscription, Tier, oversubscription};
pub use distance::{LongestPath, RttModel};
pub use headroom::Headroom;
pub use scc::Digraph;

#[cfg(test)]
mod tests;
