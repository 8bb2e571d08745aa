//! An ordered set of hosts that is cheap to share, to search and to draw from.

use crate::error::TrafficError;
use std::sync::Arc;
use weir_core::NodeId;
use weir_core::rng::Stream;

/// Some hosts in a given order, each once. Clones share their content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSet {
    hosts: Arc<[NodeId]>,
    /// (host, position in `hosts`), sorted.
    index: Arc<[(NodeId, u32)]>,
}

impl HostSet {
    /// The hosts given for `parameter`, which must not repeat.
    pub fn new(parameter: &'static str, hosts: &[NodeId]) -> Result<Self, TrafficError> {
        let mut index: Vec<(NodeId, u32)> = (0..).zip(hosts).map(|(i, &h)| (h, i)).collect();
        index.sort_unstable();
        if let Some(pair) = index.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(TrafficError::Twice { parameter, node: pair[0].0 });
        }
        Ok(Self { hosts: hosts.into(), index: index.into() })
    }

    /// The hosts, in the order given.
    pub fn as_slice(&self) -> &[NodeId] {
        &self.hosts
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Where `host` stands, if it does.
    pub fn position(&self, host: NodeId) -> Option<usize> {
        let at = self.index.binary_search_by_key(&host, |&(h, _)| h).ok()?;
        Some(self.index[at].1 as usize)
    }

    /// Whether `host` is one of them.
    pub fn contains(&self, host: NodeId) -> bool {
        self.position(host).is_some()
    }

    /// How many there are besides `host`.
    pub fn others(&self, host: NodeId) -> usize {
        self.len() - usize::from(self.contains(host))
    }

    /// Those besides one host, to draw from many times.
    pub fn without(&self, host: NodeId) -> Others {
        Others { hosts: self.clone(), skip: self.position(host) }
    }
}

/// The hosts of a set besides one.
#[derive(Clone, Debug)]
pub struct Others {
    hosts: HostSet,
    skip: Option<usize>,
}

impl Others {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.hosts.len() - usize::from(self.skip.is_some())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them, each equally likely.
    ///
    /// # Panics
    /// When there are none.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> NodeId {
        let i = stream.below(self.len() as u64) as usize;
        self.hosts.hosts[i + usize::from(self.skip.is_some_and(|skip| i >= skip))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[u32]) -> HostSet {
        let hosts: Vec<NodeId> = ids.iter().map(|&i| NodeId(i)).collect();
        HostSet::new("hosts", &hosts).unwrap()
    }

    #[test]
    fn the_others_are_all_but_one_and_equally_likely() {
        let others = set(&[9, 4, 7, 5]).without(NodeId(4));
        let mut stream = Stream::new(1, "dst", 0);
        let mut seen = [0u32; 10];
        for _ in 0..30_000 {
            seen[others.draw(&mut stream).index()] += 1;
        }
        // 10 000 each, standard deviation 82
        for host in [9, 7, 5] {
            assert!(seen[host].abs_diff(10_000) < 400, "{seen:?}");
        }
        assert_eq!(seen[4], 0);
    }

    #[test]
    fn a_host_outside_leaves_all() {
        let hosts = set(&[9, 4]);
        assert_eq!((hosts.others(NodeId(1)), hosts.others(NodeId(9))), (2, 1));
        assert_eq!((hosts.position(NodeId(4)), hosts.position(NodeId(1))), (Some(1), None));
    }

    #[test]
    fn a_repeated_host_is_refused_by_name() {
        let error = HostSet::new("senders", &[NodeId(1), NodeId(3), NodeId(1)]).unwrap_err();
        assert_eq!(error, TrafficError::Twice { parameter: "senders", node: NodeId(1) });
    }
}
