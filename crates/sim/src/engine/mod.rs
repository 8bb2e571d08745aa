//! Engines: who runs which node when.
//!
//! Nodes interact only through wires, and what a node sends cannot arrive in less than one
//! **lookahead** (propagation plus the shortest frame's time). So when the earliest pending
//! event of the whole network is at `t`, every node may be run up to `t + lookahead` on its
//! own: nothing that happens elsewhere can reach it before. Each node handles its own events in
//! canonical order; results do not depend on the order in which an engine visits nodes.

pub(crate) mod calendar;
pub(crate) mod sequential;

use crate::node::{Env, Node};
use weir_core::Time;

/// Moves a network forward in time.
pub(crate) trait Engine {
    /// Handles every event before `until`.
    fn advance(&mut self, nodes: &mut [Node], env: &mut Env<'_, '_>, until: Time);
}
