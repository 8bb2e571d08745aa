//! A scheme with a message of its own, made from the guide alone: no edit in the simulator.

use crate::common::{DATA, config, flow, run, star};
use weir_core::control::{OwnMessage, Pause, PauseScope};
use weir_core::{ControlMessage, Packet, PortId, Priority, QueueId, Rate, Reason};
use weir_fc::{
    Actions, FlowControl, Hints, IngressBound, LinkState, Network, NodeSetup, NodeView, PortQueue,
    PrioritySchedule, QueueLayout, SchemeInfo, Senders, StateSize, Violation,
};
use weir_sim::Finish;
use weir_sim::config::{Scheme, ThresholdConfig};

/// Tells the neighbour how much it may send: the share of the line that is left below the limit.
/// Its message has the priority and that share in 1/256 of the line rate.
struct Brake {
    schedule: PrioritySchedule,
    rates: Vec<Rate>,
    /// By ingress: the share told last, in 1/256.
    told: Vec<u64>,
}

const LIMIT: u64 = 60_000;

static BRAKE: SchemeInfo = SchemeInfo {
    name: "brake",
    title: "Brake",
    summary: "Slows the neighbour down as the ingress fills.",
    reference: "this test",
    params: &[],
    lossless: false,
    ingress_bound: |_| IngressBound::Memory,
    many_paths: Ok(()),
    senders: Senders::Switches,
    reports: |_| false,
    build: |_, setup| Ok(Box::new(Brake::new(setup))),
};

impl Brake {
    fn new(setup: &NodeSetup<'_>) -> Self {
        let rates: Vec<Rate> = setup.ports.iter().map(|p| p.rate).collect();
        Self { schedule: *setup.schedule, told: vec![256; rates.len()], rates }
    }

    /// Tells the neighbour at `ingress` its share if it has changed by more than 1/8.
    fn tell(&mut self, v: &NodeView<'_>, p: &Packet, a: &mut Actions) {
        let left = LIMIT.saturating_sub(v.q_in(p.ingress, p.priority).get());
        let share = (256 * left / LIMIT).max(1);
        let told = &mut self.told[p.ingress.index()];
        if share.abs_diff(*told) < 32 {
            return;
        }
        let (priority, scope) = (p.priority, PauseScope::Stage(share as u8));
        let slower = Pause { priority, pause: share < *told, scope, state: false };
        *told = share;
        a.send(
            p.ingress,
            ControlMessage::Own(Box::new(OwnMessage {
                scheme: BRAKE.name,
                words: vec![u64::from(priority.get()), share],
                body: 3,
                pauses: vec![slower],
            })),
            Reason::Words("share changed"),
        );
    }
}

impl FlowControl for Brake {
    fn layout(&self, _: PortId) -> QueueLayout {
        QueueLayout::per_priority(&self.schedule)
    }

    fn arrive(&mut self, v: &NodeView<'_>, p: &mut Packet, _: PortId, a: &mut Actions) -> QueueId {
        if p.priority == DATA {
            self.tell(v, p, a);
        }
        QueueId(self.schedule.queue_of()[p.priority.index()])
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, _: PortQueue, a: &mut Actions) {
        if p.priority == DATA && v.books.role == weir_fc::Role::Switch {
            self.tell(v, p, a);
        }
    }

    fn control(&mut self, _: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        let ControlMessage::Own(own) = m else { return };
        let (true, [priority, share]) = (own.scheme == BRAKE.name, &own.words[..]) else { return };
        let rate = Rate::from_bps(self.rates[port.index()].as_bps() / 256 * share);
        let priority = u8::try_from(*priority).ok().and_then(Priority::new);
        if let Some(priority) = priority {
            a.limit(port, priority, (*share < 256).then_some(rate));
        }
    }

    fn link(&mut self, _: &NodeView<'_>, port: PortId, _link: LinkState, a: &mut Actions) {
        self.told[port.index()] = 256;
        Priority::ALL.into_iter().for_each(|p| a.limit(port, p, None));
    }

    fn audit(&self, _: &NodeView<'_>, _network: Network) -> Result<(), Violation> {
        Ok(())
    }

    fn state_size(&self) -> StateSize {
        StateSize { tables: vec![("shares", self.told.len() as u64)] }
    }
}

impl Hints for Brake {}

/// Eight hosts send to a ninth: the switch slows them down with its own message, so that no ingress
/// goes far beyond the limit, and the log of pauses shows the steps.
#[test]
fn a_scheme_with_its_own_message_runs_in_a_whole_network() {
    let mut cfg = config("none");
    cfg.scheme = Scheme::from(&BRAKE);
    cfg.switch.thresholds = ThresholdConfig::Pool;
    let flows: Vec<_> = (0..8).map(|h| flow(h, 8, 1_000_000)).collect();
    let out = run(&star(9, "1us"), &flows, &cfg);
    assert_eq!((out.finish, out.totals.completed, out.totals.dropped), (Finish::Drained, 8, 0));
    assert!(out.totals.control_frames > 8, "{}", out.totals.control_frames);
    assert!(out.pauses.iter().any(|e| e.pause && matches!(e.scope, PauseScope::Stage(_))));
    // without it seven eighths of 8 MB would wait
    let longest = out.ports.iter().map(|p| p.queue.max.get()).max().expect("ports");
    assert!(longest < 8 * (LIMIT + 30_000), "{longest}");
}
