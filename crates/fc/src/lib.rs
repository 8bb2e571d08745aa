//! Per-hop flow control as state machines that never see a clock, a socket or an event queue.
//!
//! A scheme is one object per node, switch or NIC. The node calls its hooks when something
//! happens, and the scheme returns actions. The node owns the buffers, the scheme decides:
//!
//! ```text
//!            packet in                                   packet out
//!   wire ──► admit ──► arrive ──► [queues] ──► serve ──► depart ──► wire
//!                        │                                  │
//!              control frames upstream            RESUMEs upstream, tags
//!                        ▼                                  ▼
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
//! One file: the state machine, its parameter table and its [`SchemeInfo`]; then one line in
//! [`SCHEMES`]. [`none`] is the smallest example, [`pfc`] the first real one.

// The guide's scheme names this crate as users do, also as a module of it.
extern crate self as weir_fc;

pub mod actions;
pub mod bfc;
pub mod capfc;
pub mod explore;
pub mod ffc;
pub mod flowsail;
pub mod gfc;
pub mod gpfc;
pub mod harness;
pub mod ideal;
pub mod layout;
pub mod mmu;
pub mod none;
pub mod ofc;
pub mod order;
pub mod params;
mod perflow;
pub mod pfc;
pub mod ppfc;
mod threshold;
pub mod view;

/// The guide's scheme, added as the guide says.
#[cfg(test)]
#[path = "../examples/own_scheme.rs"]
mod door;

pub use actions::{Action, Actions, Target, TimerKey};
pub use layout::{Group, OnDemand, PrioritySchedule, QueueLayout, QueueSpec};
pub use mmu::{
    EgressLimit, Mmu, MmuConfig, PortThresholds, Refusal, SharedLimits, StageLimits, Thresholds,
    share_of,
};
pub use params::{Fallback, Kind, Param, ParamError, Value, Values};
pub use view::{Books, NodeView, PortBook, PortSetup, QueueBook, Role};

use std::ops::Range;
use weir_core::{Bytes, ControlMessage, NodeId, Packet, PortId, Priority, PrioritySet, QueueId};

/// All schemes there are, in the order they are listed and compared.
pub const SCHEMES: &[&SchemeInfo] = &[
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
];

/// The scheme called `name`.
pub fn scheme(name: &str) -> Option<&'static SchemeInfo> {
    SCHEMES.iter().copied().find(|s| s.name == name)
}

/// A queue of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortQueue {
    /// The egress port.
    pub port: PortId,
    /// Its queue.
    pub queue: QueueId,
}

/// A scheme's word on a packet that the buffer would take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// Store it.
    Accept,
    /// Drop it.
    Drop,
    /// Keep it where it is and stop the packet processor (pipelined switch only).
    Stall,
}

/// What a pipelined switch does with a packet of a lossless priority whose egress queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnFull {
    /// Drop the packet.
    Drop,
    /// Stop the packet processor, for all ports and priorities, until there is room.
    Stop,
}

/// What to do with the head of the queue that is next to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Transmit it. (A mark cannot be sent: it is swallowed.)
    Send,
    /// Put it at the tail of another queue of the same port, and choose again.
    Move(QueueId),
    /// Remove it; only for marks.
    Swallow,
    /// Leave it and hold this queue; the scheme opens it again, or requests a `retry`.
    Wait,
}

/// For which packets of an ingress (port, priority) a scheme must be called. Other packets need no
/// calls, which saves time; results do not depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Every packet.
    Every,
    /// No packet: `arrive` would always name this queue, and `arrive`, `serve` and `depart` would
    /// never change state or request an action.
    Never(QueueId),
    /// Only packets that arrive or depart while the bytes of the ingress are outside this range,
    /// counted with the packet on arrival, and with it and without it on departure. Inside the
    /// range `arrive` would name this queue, and neither hook would change state or request an
    /// action. `depart` may be called for a packet without `arrive`, and the other way round.
    /// Only for schemes that do not inspect heads.
    Outside(QueueId, Range<Bytes>),
}

impl Interest {
    /// The queue of packets for which the scheme is not called.
    pub fn unheard(&self) -> Option<QueueId> {
        match self {
            Self::Every => None,
            Self::Never(queue) | Self::Outside(queue, _) => Some(*queue),
        }
    }
}

/// A scheme's own invariant does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{scheme}: {what}")]
pub struct Violation {
    /// Which scheme.
    pub scheme: &'static str,
    /// What is wrong, and where.
    pub what: String,
}

/// What a stopped ingress waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IngressWait {
    /// Packets that came in by it.
    pub own: bool,
    /// The queues of its priority at these egress ports, by whichever ingress they were filled.
    pub egresses: Vec<PortId>,
}

impl Default for IngressWait {
    /// Its own packets.
    fn default() -> Self {
        Self { own: true, egresses: Vec::new() }
    }
}

/// What a scheme keeps in a node, as the papers tabulate it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateSize {
    /// Tables by name, in bytes as of now.
    pub tables: Vec<(&'static str, u64)>,
}

/// A flow control scheme at one node.
///
/// Hooks are called with the counters **after** the reported event, except where
/// noted. What is put into `Actions` is carried out, in order, when the hook returns. All
/// hooks must tolerate duplicate, late and lost frames.
pub trait FlowControl: Send {
    /// The egress queues of `port`. Called once, before anything else.
    fn layout(&self, port: PortId) -> QueueLayout;

    /// Whether [`FlowControl::admit`] is to be called; read once. Most schemes leave admission
    /// to the buffer and need no call per packet.
    fn gates_admission(&self) -> bool {
        false
    }

    /// May `p`, bound for `egress`, be stored? Called before the buffer decides.
    fn admit(&mut self, _v: &NodeView<'_>, _p: &Packet, _egress: PortId) -> Admit {
        Admit::Accept
    }

    /// Whether the scheme supports pipelined switches, or why not; called once. There `q_in`
    /// counts a packet until the processor has moved it to an egress queue, and `q_out` from then
    /// on; [`ingress_changed`](Self::ingress_changed) reports the former, `arrive` and `depart` the
    /// latter.
    fn fits_pipeline(&self) -> Result<(), &'static str> {
        Err("it does not watch the ingress FIFOs in front of the packet processor")
    }

    /// Whether the scheme supports switches that send packets of one flow by several ports, or
    /// why not; called once, and only where they do.
    fn fits_many_paths(&self) -> Result<(), &'static str> {
        Ok(())
    }

    /// Pipelined switch only: `q_in` of (`ingress`, `priority`) has changed. A packet came in, or
    /// the processor has moved one to an egress queue (`arrive` follows) or dropped it.
    fn ingress_changed(
        &mut self,
        _v: &NodeView<'_>,
        _ingress: PortId,
        _priority: Priority,
        _a: &mut Actions,
    ) {
    }

    /// Pipelined switch only: the range of `q_in` of (`ingress`, `priority`) in which
    /// [`ingress_changed`](Self::ingress_changed) would change and request nothing. A switch calls
    /// this after `ingress_changed`, which it then leaves out while `q_in` stays in the range and
    /// the link at `ingress` neither fails nor recovers. If it is empty for no priority, what
    /// [`interest`](Self::interest) says holds for pipelined switches, too. By default it is empty.
    fn quiet_range(&self, _mmu: &Mmu, _ingress: PortId, _priority: Priority) -> Range<Bytes> {
        Bytes::ZERO..Bytes::ZERO
    }

    /// Pipelined switch only: what to do when an egress queue is full, if the scheme and not the
    /// switch decides that; called once.
    fn on_full(&self) -> Option<OnFull> {
        None
    }

    /// For which packets that arrive by `ingress` with `priority` the scheme must be called. Only
    /// the range of [`Interest::Outside`] may depend on anything but `priority`. A switch calls
    /// this at the start, when the link at `ingress` has failed or recovered, and after every
    /// `depart` of such a packet; the answer is valid until it calls `arrive` for one. A NIC calls
    /// it at the start, and calls `depart` for [`Interest::Every`] only. By default the scheme is
    /// called for every packet.
    fn interest(&self, _mmu: &Mmu, _ingress: PortId, _priority: Priority) -> Interest {
        Interest::Every
    }

    /// `p` was stored: which queue of `egress` takes it? `q_in` and `q_out` count it already,
    /// the queue's own counter does not. `p.ingress` is where it came in; `p.local_tag` is the
    /// scheme's to set. Never called on a NIC.
    fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        egress: PortId,
        a: &mut Actions,
    ) -> QueueId;

    /// `head` is next to be sent. Called only when the layout says `inspects_heads`.
    fn serve(
        &mut self,
        _v: &NodeView<'_>,
        _at: PortQueue,
        _head: &Packet,
        _a: &mut Actions,
    ) -> Verdict {
        Verdict::Send
    }

    /// `p` arrives for an `egress` that is idle: nothing is queued there except order marks,
    /// nothing is held, and `p` would leave at once. Returns the queue that `p` passes through,
    /// with tags and state as after `arrive`, `serve` (if heads are inspected) and `depart`; or
    /// `None` with nothing changed, and then these are called. Allowed only if they would request
    /// no action and the packet would be sent; the books do not count it, but [`Mmu::transit`] is
    /// true for it. A switch may call this for packets of [`Interest::Every`]: most packets find an
    /// idle port, and often leave no state behind.
    fn pass(&mut self, _v: &NodeView<'_>, _p: &mut Packet, _egress: PortId) -> Option<QueueId> {
        None
    }

    /// Prefetches memory that the next packets will need: see [`weir_core::prefetch`].
    fn prefetch(&self) {}

    /// A mark was discarded with its queue: the link failed, or the watchdog
    /// emptied the queue. Packets discarded with it are reported by `depart`.
    fn mark_lost(&mut self, _v: &NodeView<'_>, _at: PortQueue, _mark: &Packet, _a: &mut Actions) {}

    /// `p` starts on the wire and is no longer counted. `p.wire_tag` is the scheme's to set for
    /// the next hop. On a NIC `from.queue` is the flow slot.
    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions);

    /// The message `m` arrived from the neighbour at `port`.
    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions);

    /// The timer `key` fires; it is no longer armed.
    fn timer(&mut self, _v: &NodeView<'_>, _key: TimerKey, _a: &mut Actions) {}

    /// The link at `port` failed or recovered. Both ends clear their state about each other:
    /// holds of the port must be opened, and pauses sent by it are void.
    fn link(&mut self, v: &NodeView<'_>, port: PortId, up: bool, a: &mut Actions);

    /// NIC only: a flow takes a slot. `p` is the header its packets will have.
    fn flow_starts(&mut self, _v: &NodeView<'_>, _slot: PortQueue, _p: &Packet, _a: &mut Actions) {}

    /// NIC only: the slot is released; it may be reused for another flow.
    fn flow_ends(&mut self, _v: &NodeView<'_>, _slot: PortQueue, _p: &Packet, _a: &mut Actions) {}

    /// The queue of the same port that must move before `head` may be sent, if there is one
    /// (schemes whose `serve` returns `Wait`). Called rarely, for the deadlock graph.
    fn head_waits_for(&self, _at: PortQueue, _head: &Packet) -> Option<QueueId> {
        None
    }

    /// What must leave this node before the neighbour at `ingress`, paused at `priority`,
    /// is resumed. Called rarely, for the deadlock graph.
    fn ingress_waits_for(&self, _ingress: PortId, _priority: Priority) -> IngressWait {
        IngressWait::default()
    }

    /// The scheme's own invariants; called when a run ends and in tests. `drained` says that
    /// the network is empty: then nothing may be left paused and tables must be empty.
    fn audit(&self, v: &NodeView<'_>, drained: bool) -> Result<(), Violation>;

    /// The present size of its state.
    fn state_size(&self) -> StateSize;

    /// Whether [`state_size`](Self::state_size) never changes during a run: then it is called once,
    /// at the end.
    fn has_fixed_state(&self) -> bool {
        false
    }

    /// Counters for reports, by name, of events that are not state.
    fn counts(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// What a scheme knows about its node when it is created.
#[derive(Clone, Debug)]
pub struct NodeSetup<'a> {
    /// The node.
    pub node: NodeId,
    /// Switch or NIC.
    pub role: Role,
    /// Its ports.
    pub ports: &'a [PortSetup],
    /// How priorities share a port.
    pub schedule: &'a PrioritySchedule,
    /// Bit `p` set: priority `p` is lossless.
    pub lossless: PrioritySet,
    /// The buffer's thresholds.
    pub thresholds: &'a Thresholds,
    /// The largest data frame.
    pub max_frame: Bytes,
    /// Time between the arrival of a control frame and its effect.
    pub response: weir_core::Response,
    /// The run's seed, for schemes that draw.
    pub seed: u64,
}

impl NodeSetup<'_> {
    /// The time from the packet that is one too many to the first one that is not sent because of
    /// it, in the worst case: both ends have just begun a full frame, and the control frame
    /// crosses the link at `port`, is received and takes effect. What BFC and FlowSail call HRTT.
    pub fn hop_rtt(&self, port: PortId) -> weir_core::Time {
        let link = self.ports[port.index()];
        let control = link.frame_time(Bytes::new(weir_core::control::MIN_FRAME));
        (link.delay + link.frame_time(self.max_frame)) * 2 + control + self.response.at(link.rate)
    }
}

/// A scheme in the catalogue.
pub struct SchemeInfo {
    /// How scenarios call it.
    pub name: &'static str,
    /// How tables call it.
    pub title: &'static str,
    /// The idea in a few sentences.
    pub summary: &'static str,
    /// Where it is defined.
    pub reference: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Whether it promises that lossless priorities lose nothing.
    pub lossless: bool,
    /// What bounds an ingress under it, with these parameters.
    pub ingress_bound: fn(&Values) -> IngressBound,
    /// Makes an instance for one node.
    pub build: Build,
}

/// What keeps the bytes of one lossless ingress (port, priority) within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IngressBound {
    /// The scheme, or PFC behind it, stops the neighbour at the buffer's thresholds. Room for
    /// the packet that crosses the threshold and for the headroom is enough.
    Pauses,
    /// The scheme slows the neighbour down so that threshold and headroom are never used up, but
    /// for packets that have been started: two frames beyond are enough.
    Slows,
    /// The scheme does not pause or slow the neighbour because of the ingress: only the memory
    /// limits it.
    Memory,
}

/// Makes a scheme for one node from its parameters, or says which of them cannot be.
pub type Build = fn(&Values, &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError>;

impl std::fmt::Debug for SchemeInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SchemeInfo").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    struct Bare;

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
        fn depart(&mut self, _: &NodeView<'_>, _: &mut Packet, _: PortQueue, _: &mut Actions) {}
        fn control(&mut self, _: &NodeView<'_>, _: PortId, _: &ControlMessage, _: &mut Actions) {}
        fn link(&mut self, _: &NodeView<'_>, _: PortId, _: bool, _: &mut Actions) {}
        fn audit(&self, _: &NodeView<'_>, _: bool) -> Result<(), Violation> {
            Ok(())
        }
        fn state_size(&self) -> StateSize {
            StateSize::default()
        }
    }

    #[test]
    fn what_a_scheme_leaves_out_stays_out_of_its_way() {
        let mut b = harness::Bench::around(1, "75KB", "45KB", |_| Bare);
        let p = b.packet(PortId(0), 1000).0;
        let at = PortQueue { port: PortId(0), queue: QueueId(0) };
        let books = b.view().books.clone();
        let (v, mut a) = (NodeView { now: weir_core::Time::ZERO, books: &books }, Actions::new());
        let s = b.scheme_mut();
        assert!(!s.gates_admission());
        assert!(!s.has_fixed_state());
        assert_eq!(s.admit(&v, &p, PortId(0)), Admit::Accept);
        assert!(s.fits_pipeline().is_err(), "its books were made for shared memory");
        s.ingress_changed(&v, PortId(0), p.priority, &mut a);
        assert_eq!(s.on_full(), None);
        assert_eq!(s.interest(&books.mmu, PortId(0), p.priority), Interest::Every);
        assert_eq!(s.serve(&v, at, &p, &mut a), Verdict::Send);
        assert_eq!(s.head_waits_for(at, &p), None);
        // a paused neighbour waits for its own packets
        let own = IngressWait { own: true, egresses: Vec::new() };
        assert_eq!(s.ingress_waits_for(PortId(0), p.priority), own);
        assert_eq!(s.counts(), []);
        assert!(a.is_empty());
    }

    #[test]
    fn who_promises_losslessness_bounds_an_ingress_and_a_backstop_does() {
        for info in SCHEMES {
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
        for info in SCHEMES {
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
