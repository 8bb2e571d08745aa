//! Per-hop flow control as state machines that never see a clock, a socket or an event queue.
//!
//! A scheme is one object per node, switch or NIC. The node calls its hooks when something
//! happens, and the scheme returns actions. The node owns the buffers, the scheme decides:
//!
//! ```text
//!            packet in                                   packet out
//!   wire ──► [memory] ──► arrive ──► [queues] ──► serve ──► depart ──► wire
//!                            │                                 │
//!               pauses or grants upstream        RESUMEs or grants upstream, tags
//!                            ▼                                 ▼
//!                     Actions: send · hold · open · limit · mark · arm · cancel
//!                        ▲
//!   control frame in ── control      timer ── timer      link up/down ── link
//! ```
//!
//! The simulator drives these objects; a live switch can drive the same ones with real frames;
//! [`harness`] drives them by hand in tests. The types that matter:
//!
//! | type | role |
//! |---|---|
//! | [`FlowControl`] | the scheme |
//! | [`Hints`] | what it may leave out: calls that would do nothing |
//! | [`Pipelined`] | what it does in a pipelined switch, if it supports them |
//! | [`NodeView`] | what it may read: the node's counters at an instant |
//! | [`Actions`] | what it requests |
//! | [`QueueLayout`] | the queues it needs and how they are served |
//! | [`Mmu`] | buffer memory: admission and pause thresholds |
//! | [`SchemeInfo`] | its name, parameters and constructor: the line in the catalogue |
//!
//! PFC at a switch with two ports, driven by hand: it pauses its neighbour when the ingress has
//! reached xoff, and resumes it when the packets have left.
//!
//! ```
//! use weir_core::{ControlMessage, PortId};
//! use weir_fc::harness::{Bench, PRIORITY};
//! use weir_fc::{Values, scheme};
//!
//! let (input, output) = (PortId(0), PortId(1));
//! let pfc = scheme("pfc").expect("PFC is a scheme");
//! let mut switch = Bench::switch(pfc, &Values::new(), 2);
//! let packets = 75; // of 1000 B: xoff of the bench is 75 KB
//! let mut queue = None;
//! for seq in 0..packets {
//!     assert!(switch.take_sent().is_empty());
//!     queue = Some(switch.arrive(switch.packet(input, 1000).seq(seq), output));
//! }
//! let pause = ControlMessage::pfc(PRIORITY, u16::MAX);
//! assert_eq!(switch.take_sent(), [(input, pause)]);
//! while switch.depart(output, queue.expect("packets came")).is_some() {}
//! assert_eq!(switch.take_sent(), [(input, ControlMessage::pfc(PRIORITY, 0))]);
//! ```
//!
//! # Writing a scheme
//!
//! One file: the state machine, its parameter table and its [`SchemeInfo`]; then its `mod` and one
//! line in [`SCHEMES`]. [`none`] is the smallest example, [`pfc`] the first real one.

// The guide's scheme names this crate as users do, also as a module of it.
extern crate self as weir_fc;

pub mod actions;
pub mod bfc;
pub mod capfc;
pub mod catalogue;
pub mod explore;
pub mod ffc;
pub mod flowsail;
pub mod gfc;
pub mod gpfc;
pub mod harness;
pub mod hints;
pub mod ideal;
pub mod interface;
pub mod layout;
pub mod mmu;
pub mod none;
pub mod ofc;
pub mod order;
pub mod params;
mod perflow;
pub mod pfc;
pub mod pipelined;
pub mod port;
pub mod ppfc;
pub mod refresh;

mod threshold;
pub mod view;

/// The guide's scheme, added as the guide says.
#[cfg(test)]
#[path = "../examples/own_scheme.rs"]
mod door;

// for the macros, which are used in crates that know this one only
#[doc(hidden)]
pub use weir_core;

pub use actions::{Action, Actions, HoldState, Target, TimerClass, TimerKey};
pub use catalogue::{Build, IngressBound, NodeSetup, SchemeInfo, Senders};
pub use hints::{Hints, Interest};
pub use interface::{
    FlowControl, IngressWait, LinkState, Network, PortQueue, StateSize, Verdict, Violation, Waits,
};
pub use layout::{EgressRoom, Group, OnDemand, PrioritySchedule, QueueLayout, QueueSpec};
pub use mmu::{
    Cell, EgressLimit, EgressShare, EgressThresholds, Mmu, MmuConfig, PortThresholds, Refusal,
    SharedLimits, StageLimits, Thresholds, share_of,
};
pub use params::{Choices, Fallback, Kind, Param, ParamError, Value, Values};
pub use pipelined::{OnFull, Pipelined};
pub use port::{Neighbour, PortBook, PortSetup, QueueBook, Role};
use weir_core::registry::Registry;

pub use view::{Books, NodeView};

/// All schemes there are, in the order they are listed and compared; a program can add its own.
pub static SCHEMES: Registry<SchemeInfo> = Registry::new(&[
    &pfc::INFO,
    &capfc::INFO,
    &ppfc::INFO,
    &gfc::INFO,
    &gpfc::INFO,
    &ofc::INFO,
    &none::INFO,
    &bfc::INFO,
    &ideal::INFO,
    &flowsail::INFO,
    &ffc::INFO,
]);

/// The scheme called `name`.
pub fn scheme(name: &str) -> Option<&'static SchemeInfo> {
    SCHEMES.find(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_core::{ControlMessage, Packet, PacketKind, PortId, Priority, QueueId};

    #[test]
    fn names_are_unique_and_every_default_reads_as_its_kind() {
        for (i, s) in SCHEMES.iter().enumerate() {
            assert!(SCHEMES[..i].iter().all(|o| o.name != s.name), "{}", s.name);
            for (j, p) in s.params.iter().enumerate() {
                assert!(s.params[..j].iter().all(|o| o.name != p.name), "{}", p.name);
                let _ = Values::new().get(p);
            }
        }
    }

    /// The last step of the guide: a line of a list such as [`SCHEMES`].
    #[test]
    fn the_guides_scheme_can_be_added_as_the_guide_says() {
        const MORE: &[&SchemeInfo] = &[&none::INFO, &door::INFO];
        assert_eq!(MORE.iter().map(|s| s.name).collect::<Vec<_>>(), ["none", "door"]);
        door::main();
    }

    #[test]
    fn a_scheme_is_found_by_its_name() {
        assert_eq!(scheme("ofc").map(|s| s.title), Some("OFC"));
        assert!(scheme("OFC").is_none());
        assert_eq!(format!("{:?}", ofc::INFO), r#"SchemeInfo { name: "ofc", .. }"#);
    }

    /// Implements what it must and nothing else.
    struct Bare(usize);

    impl FlowControl for Bare {
        fn layout(&self, _: PortId) -> QueueLayout {
            QueueLayout::per_priority(&PrioritySchedule::default())
        }

        fn arrive(
            &mut self,
            _: &NodeView<'_>,
            _: &mut Packet,
            _: PortId,
            _: &mut Actions,
        ) -> QueueId {
            QueueId(0)
        }

        fn depart(&mut self, _: &NodeView<'_>, _: &mut Packet, _: PortQueue, _: &mut Actions) {
            self.0 += 1;
        }

        fn control(&mut self, _: &NodeView<'_>, _: PortId, _: &ControlMessage, _: &mut Actions) {}

        fn link(&mut self, _: &NodeView<'_>, _: PortId, _: LinkState, _: &mut Actions) {}

        fn audit(&self, _: &NodeView<'_>, _: Network) -> Result<(), Violation> {
            Ok(())
        }

        fn state_size(&self) -> StateSize {
            StateSize::default()
        }
    }

    impl Hints for Bare {}

    #[test]
    fn what_a_scheme_leaves_out_stays_out_of_its_way() {
        let mut b = harness::Bench::around(1, "75KB", "45KB", |_| Bare(0));
        let p = b.packet(PortId(0), 1000).0;
        let at = PortQueue { port: PortId(0), queue: QueueId(0) };
        let books = b.view().books.clone();
        let (v, mut a) = (NodeView { now: weir_core::Time::ZERO, books: &books }, Actions::new());
        let s = b.scheme_mut();
        assert!(!s.has_fixed_state());
        assert!(s.pipelined().is_err(), "its books were made for shared memory");
        assert_eq!(s.interest(&books.mmu, PortId(0), p.priority), Interest::Every);
        assert_eq!(s.serve(&v, at, &p, &mut a), Verdict::Send);
        assert!(s.waits().is_none(), "heads wait for nothing, a neighbour for its own packets");
        for (kind, from) in [(PacketKind::Data, None), (PacketKind::Mark, Some(at))] {
            s.discard(&v, &mut Packet { kind, ..p }, from, &mut a);
            assert_eq!(s.0, 0, "neither a packet that was never stored nor a mark departs");
        }
        s.discard(&v, &mut p.clone(), Some(at), &mut a);
        assert_eq!(s.0, 1, "a packet that is thrown away departs");
        s.delivered(&v, &p, &mut a);
        assert!(a.is_empty());
    }

    #[test]
    fn who_promises_losslessness_bounds_an_ingress_and_a_backstop_does() {
        for info in SCHEMES.iter() {
            let bound =
                |options: &[(&str, &str)]| (info.ingress_bound)(&harness::given(info, options));
            assert_eq!(bound(&[]) != IngressBound::Memory, info.lossless, "{}", info.name);
            if info.params.iter().any(|p| p.name == "backstop") {
                assert_eq!(bound(&[("backstop", "pfc")]), IngressBound::Pauses, "{}", info.name);
            }
            if info.name == "gfc" {
                assert_eq!(bound(&[]), IngressBound::Slows);
                assert_eq!(bound(&[("mode", "ofc")]), IngressBound::Pauses);
            }
        }
    }

    /// A switch skips the hooks for priorities of which a scheme never hears. Had it called them,
    /// the same queue would have taken the packets and nothing would have been asked for.
    #[test]
    fn packets_of_which_a_scheme_never_hears_it_neither_steers_nor_counts() {
        let never = |bench: &harness::Bench, priority| {
            let interest = bench.scheme().interest(&bench.view().books.mmu, PortId(0), priority);
            if let Interest::Never(queue) = interest { Some(queue) } else { None }
        };
        for info in SCHEMES.iter() {
            let mut bench = harness::Bench::switch(info, &Values::new(), 2);
            let before = bench.scheme().state_size();
            for priority in Priority::ALL {
                let Some(queue) = never(&bench, priority) else { continue };
                // 100 KB are above every pause threshold of this bench
                for _ in 0..100 {
                    let packet = bench.packet(PortId(0), 1000).priority(priority);
                    assert_eq!(bench.arrive(packet, PortId(1)), queue, "{} {priority}", info.name);
                }
                for _ in 0..100 {
                    bench.depart(PortId(1), queue);
                }
            }
            assert!(bench.sent().is_empty() && bench.timers().is_empty(), "{}", info.name);
            assert_eq!(bench.scheme().state_size(), before, "{}", info.name);
            // only priority 3 is lossless here; the shortcut is taken for every other one
            for priority in Priority::ALL {
                let shortcut = never(&bench, priority).is_some();
                let expected = priority != harness::PRIORITY || info.name == "none";
                assert_eq!(shortcut, expected, "{} {priority}", info.name);
            }
        }
    }
}
