//! Every host sends to one other host and receives from one.

use super::common::{HOSTS, SIZES, START};
use super::marking::{MARKING, Marking};
use super::{Context, Pair, Pattern, Streams};
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::params::{Entry, Fallback, Kind, Reader, params};
use crate::size::Sizes;
use weir_core::rng::Stream;
use weir_core::{NodeId, Time};

/// Every host sends one flow to another host, and each receives one.
#[derive(Clone, Debug, PartialEq)]
pub struct Permutation {
    /// The hosts that take part; `None` for all.
    pub hosts: Option<Vec<NodeId>>,
    /// How large the flows are; [`Bytes::MAX`](weir_core::Bytes::MAX) lasts until the run ends.
    pub sizes: Sizes,
    /// `Some(n)`: host i sends to host i + n. `None`: drawn at random, each permutation without
    /// fixed point equally likely.
    pub shift: Option<u64>,
    /// When the flows start.
    pub start: Time,
    /// Class and priority.
    pub marking: Marking,
}

/// `permutation`.
pub(crate) const ENTRY: Entry = Entry {
    name: "permutation",
    doc: "Every host sends one flow to another host, and each receives one.",
    groups: &[
        HOSTS,
        SIZES,
        params! {
            "shift" Kind::COUNT, Fallback::Absent("drawn at random"),
                "host i sends to host i + shift, around the list";
        },
        START,
        MARKING,
    ],
};

impl Permutation {
    /// Reads it from parameters.
    pub fn read(r: &mut Reader<'_>) -> Result<Self, TrafficError> {
        Ok(Self {
            hosts: r.hosts("hosts")?,
            sizes: r.sizes("size", "scale")?,
            shift: r.optional("shift")?,
            start: r.get("start")?,
            marking: Marking::read(r, ENTRY.name)?,
        })
    }
}

/// A random permutation of `0..n` without fixed point, each equally likely: shuffles until one
/// has none, which takes e = 2.7 shuffles on average.
fn derangement(n: usize, stream: &mut Stream) -> Vec<usize> {
    let mut to: Vec<usize> = (0..n).collect();
    loop {
        for i in (1..n).rev() {
            to.swap(i, stream.below(i as u64 + 1) as usize);
        }
        if to.iter().enumerate().all(|(i, &t)| i != t) {
            return to;
        }
    }
}

impl Pattern for Permutation {
    fn check(&self, fabric: &Fabric) -> Result<(), TrafficError> {
        let hosts = fabric.select("hosts", self.hosts.as_deref())?;
        if hosts.len() < 2 {
            return Err(TrafficError::value("hosts", "1 host", "it takes at least 2"));
        }
        if let Some(shift) = self.shift.filter(|s| s.is_multiple_of(hosts.len() as u64)) {
            let valid =
                format!("no multiple of the {} hosts, or they send to themselves", hosts.len());
            return Err(TrafficError::value("shift", shift, valid));
        }
        self.sizes.check("size")
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let hosts = ctx.fabric.select("hosts", self.hosts.as_deref()).expect("checked");
        let (hosts, n) = (hosts.as_slice(), hosts.len());
        let to = match self.shift {
            Some(shift) => (0..n).map(|i| (i + (shift % n as u64) as usize) % n).collect(),
            None => derangement(n, &mut ctx.stream("dst", 0)),
        };
        let mut size = ctx.stream("size", 0);
        let flow = |(&src, &to): (&NodeId, &usize)| {
            self.marking.flow(Pair::new(src, hosts[to]), self.sizes.draw(&mut size), self.start)
        };
        ctx.bucket(hosts.iter().zip(&to).map(flow).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{fabric, flows_of};
    use weir_core::Bytes;

    fn permutation(shift: Option<u64>) -> Permutation {
        Permutation {
            hosts: None,
            sizes: Sizes::Fixed(Bytes::MAX),
            shift,
            start: Time::ZERO,
            marking: Marking::default(),
        }
    }

    #[test]
    fn everyone_sends_once_and_receives_once() {
        for seed in 0..20 {
            let flows = flows_of(permutation(None), &fabric(9), seed);
            let mut receivers: Vec<NodeId> = flows.iter().map(|f| f.dst).collect();
            receivers.sort_unstable();
            assert_eq!(receivers, (0..9).map(NodeId).collect::<Vec<_>>());
            assert!(flows.iter().all(|f| f.src != f.dst && f.size == Bytes::MAX));
        }
    }

    #[test]
    fn both_derangements_of_three_are_equally_likely() {
        let mut stream = Stream::new(1, "test", 0);
        let first = (0..2000).filter(|_| derangement(3, &mut stream) == [1, 2, 0]).count();
        // 1000, standard deviation 22
        assert!(first.abs_diff(1000) < 100, "{first}");
    }

    #[test]
    fn a_shift_goes_around_the_list() {
        let flows = flows_of(permutation(Some(5)), &fabric(8), 0);
        assert!(flows.iter().all(|f| f.dst.0 == (f.src.0 + 5) % 8));
        let error = permutation(Some(16)).check(&fabric(8)).unwrap_err();
        assert!(error.to_string().contains("`shift` is 16"), "{error}");
        assert!(permutation(None).check(&fabric(1)).is_err());
    }
}
