//! The messages of critical paths: the same walk as for flows, for one message of a queue pair.

use super::walk::{FeltAt, Walk};
use crate::outcome::pieces::{Life, Posted};
use crate::outcome::{CriticalPath, FlowBlame, Flows, LinkKind, Until, Waited};
use rustc_hash::FxHashMap;
use weir_core::{FlowId, Priority, Time};

/// A message, by its queue pair and its last packet.
pub(super) type Key = (FlowId, u32);

/// All that nodes have reported of messages.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) posted: FxHashMap<Key, Posted>,
    /// The packet that completed it, and when.
    pub(super) arrived: FxHashMap<Key, (Box<Life>, Time)>,
    /// By queue pair.
    pub(super) felt: FxHashMap<FlowId, Vec<FeltAt>>,
}

impl Messages {
    /// Adds what messages waited for to the links of paths.
    pub(super) fn explain(self, paths: &mut [CriticalPath], flows: &Flows) {
        for link in paths.iter_mut().flat_map(|path| &mut path.links) {
            let (from, to) = (link.from, link.to);
            let LinkKind::Message { flow, seq, until, blame, answered } = &mut link.what else {
                continue;
            };
            let priority = flows.get(*flow).map_or_else(Priority::default, |f| f.priority);
            let found = self.blame((*flow, *seq), *until, priority, (from, to));
            if let Some((found, rest)) = found {
                (*blame, *answered) = (Some(Box::new(found)), rest);
            }
        }
    }

    /// The account of a message from `from` to `to`, and what of that was its acknowledgement.
    fn blame(
        &self,
        key: Key,
        until: Until,
        priority: Priority,
        (from, to): (Time, Time),
    ) -> Option<(FlowBlame, Time)> {
        let posted = self.posted.get(&key)?;
        let (life, end) = match until {
            Until::Left => {
                let hops = Vec::new();
                let (flow, seq) = key;
                (Life { flow, seq, sent: to, port: posted.port.1, hops }, to)
            }
            Until::Arrived | Until::Acked => {
                let (life, at) = self.arrived.get(&key)?;
                ((**life).clone(), (*at).min(to))
            }
        };
        let mut walk = Walk::new(&life);
        walk.host(posted.at, &life, &posted.history, self.felt_by(key.0, posted.at, life.sent));
        if until != Until::Left {
            walk.network(&life, end);
        }
        let (culprits, path) = (walk.culprits(&life), walk.path);
        let waited = trim(walk.waited, end.saturating_sub(from));
        let start = from.min(end);
        let blame = FlowBlame { flow: key.0, priority, start, end, path, waited, culprits };
        Some((blame, to - from.max(end).min(to)))
    }

    /// The holds that packets of a queue pair felt between two instants.
    fn felt_by(&self, flow: FlowId, from: Time, to: Time) -> Vec<FeltAt> {
        let all = self.felt.get(&flow).map_or(&[][..], |felt| felt);
        let within = |f: &&FeltAt| f.hold.to > from && f.hold.from < to;
        all.iter().filter(within).copied().collect()
    }
}

/// Leaves out what was before the time that counts: the sum is `length` afterwards, if it was not
/// less. (The iteration began when the message was under way, or a packet that was sent before it
/// completed it.)
fn trim(mut waited: Vec<Waited>, length: Time) -> Vec<Waited> {
    let sum: Time = waited.iter().map(|w| w.time).sum();
    let mut beyond = sum.saturating_sub(length);
    for w in &mut waited {
        let cut = beyond.min(w.time);
        w.time -= cut;
        w.from = (w.from + cut).min(w.to);
        beyond -= cut;
    }
    waited.retain(|w| w.time > Time::ZERO);
    waited
}
