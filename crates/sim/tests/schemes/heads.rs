//! Schemes that look at heads see them in their queues, whether they were queued or not.

use crate::common::{DATA, config, flow, run, star};
use weir_core::{Packet, PacketKind, PortId, QueueId, Time};
use weir_fc::{
    Actions, FlowControl, Hints, NodeView, PortQueue, QueueLayout, SchemeInfo, TimerKey, Values,
    Verdict,
};
use weir_sim::config::Scheme;
use weir_traffic::FlowSpec;

/// Two queues of data that take turns, of which the first takes all that arrives. What is done with
/// a head depends on its size.
struct Heads(QueueLayout);

static HEADS: SchemeInfo = SchemeInfo {
    name: "heads",
    title: "Heads",
    summary: "Looks at heads.",
    build: |_, setup| {
        let mut layout = QueueLayout::per_priority(setup.schedule);
        layout.queues.insert(FIRST.index() + 1, layout.queues[FIRST.index()]);
        layout.groups[FIRST.index()].queues = 2;
        layout.inspects_heads = true;
        Ok(Box::new(Heads(layout)))
    },
    ..weir_fc::none::INFO
};

/// The data's priority, 3, counted down from 7.
const FIRST: QueueId = QueueId(4);
const SECOND: QueueId = QueueId(5);

/// Payloads: what moves to the other queue, waits, goes and says something, leaves a mark behind.
const MOVES: u64 = 1000;
const WAITS: u64 = 1100;
const SPEAKS: u64 = 1200;
const MARKS: u64 = 1300;
const GOES: u64 = 1400;

/// How long heads that wait do.
const WAIT: Time = Time::from_ns(700);

fn payload(p: &Packet) -> u64 {
    u64::from(p.size) - config("none").nic.header.get()
}

fn wake(at: PortId) -> TimerKey {
    TimerKey { kind: 0, port: at, index: 0 }
}

impl FlowControl for Heads {
    fn layout(&self, _port: PortId) -> QueueLayout {
        self.0.clone()
    }

    fn arrive(&mut self, _: &NodeView<'_>, p: &mut Packet, o: PortId, a: &mut Actions) -> QueueId {
        if p.priority != DATA {
            return QueueId(7 - u32::from(p.priority.get()) + u32::from(p.priority < DATA));
        }
        if payload(p) == MARKS {
            a.mark(o, FIRST, 1);
        }
        FIRST
    }

    fn serve(&mut self, v: &NodeView<'_>, at: PortQueue, p: &Packet, a: &mut Actions) -> Verdict {
        let woken = v.now.as_ps() % Time::from_us(10).as_ps() > Time::from_ns(1500).as_ps();
        if p.kind == PacketKind::Mark {
            if woken {
                return Verdict::Swallow;
            }
            a.arm(wake(at.port), v.now + WAIT);
            return Verdict::Wait;
        }
        if p.priority != DATA {
            return Verdict::Send;
        }
        let book = v.queue(at.port, at.queue);
        assert_eq!((book.packets, book.bytes), (1, p.bytes()), "it is in its queue");
        assert_eq!(v.active(at.port), 1, "which counts");
        assert_eq!(v.q_out(at.port, DATA), p.bytes());
        match payload(p) {
            MOVES if at.queue == FIRST => Verdict::Move(SECOND),
            WAITS if !woken => {
                a.arm(wake(at.port), v.now + WAIT);
                Verdict::Wait
            }
            SPEAKS => {
                a.arm(wake(at.port), v.now + WAIT);
                Verdict::Send
            }
            _ => Verdict::Send,
        }
    }

    fn timer(&mut self, _: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        a.retry(key.port);
    }

    idle_hooks!();
}

impl Hints for Heads {}

/// One packet at a time, every 10 us, finds its port idle: at the switch 1 us and its own length
/// after it started, at its receiver as long after that, or after it has waited. The last one comes
/// 200 ns after one that has left a mark behind, which waits: it may not overtake it.
#[test]
fn what_a_scheme_says_of_a_head_that_was_never_queued_is_done() {
    let mut cfg = config("none");
    cfg.scheme = Scheme { info: &HEADS, values: Values::new() };
    let at = |i: u64, size| FlowSpec { start: Time::from_us(10 * i), ..flow(0, 2, size) };
    let late = FlowSpec { start: Time::from_ns(40_200), ..flow(1, 2, GOES) };
    let flows = [at(0, MOVES), at(1, WAITS), at(2, SPEAKS), at(3, GOES), at(4, MARKS), late];
    let out = run(&star(3, "1us"), &flows, &cfg);
    let on_wire = |payload: u64| {
        let bytes = payload + cfg.nic.header.get() + cfg.link.overhead.get();
        Time::from_ps(bytes * 80)
    };
    let plain = |payload| on_wire(payload) * 2 + Time::from_us(2);
    let fct = |i: usize| out.flows[i].fct().unwrap();
    assert_eq!(fct(0), plain(MOVES));
    assert_eq!(fct(1), plain(WAITS) + WAIT);
    assert_eq!(fct(2), plain(SPEAKS));
    assert_eq!(fct(3), plain(GOES));
    assert_eq!(fct(4), plain(MARKS));
    // the mark is looked at when the packet before it has left, and again after the wait
    let looked = Time::from_us(41) + on_wire(MARKS) * 2;
    let sent = looked + WAIT;
    assert_eq!(fct(5), sent + on_wire(GOES) + Time::from_us(1) - late.start);
}
