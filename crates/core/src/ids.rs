//! Typed indices. A `PortId` cannot be used where a `NodeId` is meant.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($repr:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $repr);

        impl $name {
            /// The id as an index into a flat array.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The id at position `i` of a flat array.
            ///
            /// # Panics
            /// When `i` does not fit the id's width: tables are checked against
            /// that limit when a network is built.
            #[inline]
            pub const fn from_index(i: usize) -> Self {
                assert!(i <= <$repr>::MAX as usize, "index exceeds the id's width");
                Self(i as $repr)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

id!(
    /// A node of the network, host or switch. Hosts and switches share one number space.
    NodeId(u32), "n"
);
id!(
    /// A port of one node, numbered from 0 in the order its links were declared.
    PortId(u16), "p"
);
id!(
    /// A full-duplex link of the topology, in declaration order.
    LinkId(u32), "l"
);
id!(
    /// An egress queue of one port. On a NIC a queue is a flow slot.
    QueueId(u32), "q"
);
id!(
    /// A traffic class label ("victim", "incast"), for reporting only.
    ClassId(u16), "c"
);

/// A flow: the `k`-th message of its source host.
///
/// Flows are numbered by their source, so that every host can generate its own without
/// asking anyone for the next free number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FlowId(u64);

impl FlowId {
    /// Queue pairs of jobs are numbered from here on: the other flows of a host have smaller
    /// numbers.
    pub const FIRST_PAIR: u32 = 1 << 31;

    /// The `k`-th flow of `source`.
    #[inline]
    pub const fn new(source: NodeId, k: u32) -> Self {
        Self((source.0 as u64) << 32 | k as u64)
    }

    /// The host that sends it.
    #[inline]
    pub const fn source(self) -> NodeId {
        NodeId((self.0 >> 32) as u32)
    }

    /// Its number among the flows of its source.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0 as u32
    }

    /// Whether it is a queue pair of a job: it carries many messages and has no end.
    #[inline]
    pub const fn is_pair(self) -> bool {
        self.number() >= Self::FIRST_PAIR
    }

    /// A well-mixed hash of the flow, the same on every machine: what ECMP hashes.
    #[inline]
    pub const fn hash64(self) -> u64 {
        crate::rng::mix(self.0 ^ 0x6563_6d70)
    }

    /// The id as one integer, ordered by (source, number).
    #[inline]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}.{}", self.source().0, self.number())
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One of the eight 802.1Q priorities. 7 is the highest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Priority(u8);

impl Priority {
    /// How many priorities there are.
    pub const COUNT: usize = 8;
    /// All priorities, lowest first.
    pub const ALL: [Self; Self::COUNT] =
        [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5), Self(6), Self(7)];

    /// Priority `p`, or `None` above 7.
    pub const fn new(p: u8) -> Option<Self> {
        if p < Self::COUNT as u8 { Some(Self(p)) } else { None }
    }

    /// The priority as an index below [`Priority::COUNT`].
    #[inline]
    pub const fn index(self) -> usize {
        // the mask changes nothing, but spares arrays of one per priority their bounds check
        (self.0 & 7) as usize
    }

    /// The priority as written in a frame.
    #[inline]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "prio{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_print_what_they_are() {
        assert_eq!(
            format!("{} {:?} {}", NodeId(3), PortId(1), FlowId::new(NodeId(2), 9)),
            "n3 p1 f2.9"
        );
    }

    #[test]
    fn priorities_above_seven_do_not_exist() {
        assert_eq!(Priority::new(7).map(Priority::get), Some(7));
        assert_eq!(Priority::new(8), None);
    }

    #[test]
    #[should_panic(expected = "exceeds")]
    fn an_index_too_wide_for_its_id_is_refused() {
        let _ = PortId::from_index(70_000);
    }
}
