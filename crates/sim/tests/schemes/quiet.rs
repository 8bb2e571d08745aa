//! What a scheme says it need not hear of makes no difference to it.

use crate::common::{config, flow, run, set, star};
use weir_core::{Bytes, ControlMessage, LinkId, Packet, PortId, Priority, QueueId, Time};
use weir_fc::{
    Actions, FlowControl, Hints, LinkState, Network, NodeView, PortQueue, QueueLayout, SchemeInfo,
    StateSize, TimerKey, Violation, Waits, gfc, pfc,
};
use weir_net::build::{self, leaf_spine};
use weir_sim::Outcome;
use weir_sim::config::{Config, IngressLimit, LinkFailure, Scheme, ThresholdConfig};
use weir_sim::outcome::{DropReason, PauseEvent};
use weir_traffic::FlowSpec;

/// Another scheme that hears of every packet.
struct AllEars(Box<dyn FlowControl>);

impl FlowControl for AllEars {
    fn layout(&self, port: PortId) -> QueueLayout {
        self.0.layout(port)
    }

    fn arrive(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        egress: PortId,
        a: &mut Actions,
    ) -> QueueId {
        self.0.arrive(v, p, egress, a)
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions) {
        self.0.depart(v, p, from, a);
    }

    fn control(&mut self, v: &NodeView<'_>, port: PortId, m: &ControlMessage, a: &mut Actions) {
        self.0.control(v, port, m, a);
    }

    fn timer(&mut self, v: &NodeView<'_>, key: TimerKey, a: &mut Actions) {
        self.0.timer(v, key, a);
    }

    fn link(&mut self, v: &NodeView<'_>, port: PortId, link: LinkState, a: &mut Actions) {
        self.0.link(v, port, link, a);
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        self.0.audit(v, network)
    }

    fn state_size(&self) -> StateSize {
        self.0.state_size()
    }

    fn waits(&self) -> Option<&dyn Waits> {
        self.0.waits()
    }
}

impl Hints for AllEars {}

static PFC: SchemeInfo = SchemeInfo {
    build: |values, setup| Ok(Box::new(AllEars((pfc::INFO.build)(values, setup)?))),
    ..pfc::INFO
};
static GFC: SchemeInfo = SchemeInfo {
    build: |values, setup| Ok(Box::new(AllEars((gfc::INFO.build)(values, setup)?))),
    ..gfc::INFO
};

/// Two incasts that share senders and start apart, with flows the other way and some on their own.
fn flows() -> Vec<FlowSpec> {
    let mut flows: Vec<FlowSpec> =
        (0..6).map(|i| flow(i, 6, 200_000 + 35_000 * u64::from(i))).collect();
    flows
        .extend((3..6).map(|i| FlowSpec { start: "20us".parse().unwrap(), ..flow(i, 7, 400_000) }));
    flows.extend([flow(6, 0, 30_000), flow(7, 2, 1500), flow(2, 1, 250_000)]);
    flows
}

fn outcome(mut cfg: Config, info: &'static SchemeInfo) -> Outcome {
    cfg.scheme = Scheme { info, values: cfg.scheme.values };
    run(&star(8, "1us"), &flows(), &cfg)
}

fn compare(cfg: &Config, told: &'static SchemeInfo) -> Outcome {
    let quiet = outcome(cfg.clone(), cfg.scheme.info);
    assert_eq!(outcome(cfg.clone(), told).digest, quiet.digest);
    quiet
}

#[test]
fn pfc_does_the_same_whether_it_hears_of_packets_or_not() {
    let mut cfg = config("pfc");
    assert!(compare(&cfg, &PFC).totals.control_frames > 0, "there is something to be heard");
    cfg.switch.buffer = Bytes::new(2_000_000);
    cfg.switch.thresholds = dynamic();
    assert!(compare(&cfg, &PFC).totals.control_frames > 0);
}

/// Priorities take turns by weight, and one of them is held by the switch behind: packets of the
/// others pass what is held, and have had their turn then.
#[test]
fn packets_that_pass_a_held_priority_take_their_turn() {
    let params =
        leaf_spine::Params { spines: 1, leaves: 2, hosts_per_leaf: 6, ..Default::default() };
    let topology = build::leaf_spine::build(&params).unwrap();
    let mut flows: Vec<FlowSpec> = (0..11).map(|i| flow(i, 11, 150_000)).collect();
    for i in 0..60 {
        let priority = Priority::ALL[i as usize % 3];
        let start = Time::from_ns(u64::from(i) * 700);
        let spec = flow(i % 6, 6 + i % 5, 1000 + 900 * u64::from(i % 7));
        flows.push(FlowSpec { start, priority, ..spec });
    }
    let mut cfg = config("pfc");
    cfg.switch.schedule.weights = [1, 2, 1, 3, 1, 1, 1, 2];
    cfg.switch.schedule.quantum = Bytes::new(700);
    let outcome = |info: &'static SchemeInfo| {
        let scheme = Scheme { info, values: cfg.scheme.values.clone() };
        run(&topology, &flows, &Config { scheme, ..cfg.clone() })
    };
    let quiet = outcome(cfg.scheme.info);
    assert!(quiet.ports.iter().any(|p| p.holds[3] > 0), "a switch is held");
    assert_eq!(outcome(&PFC).digest, quiet.digest);
}

/// The link of a paused ingress fails and returns, which voids the pause, while the ingress still
/// holds more than XON: from then on PFC wants to hear of XOFF again.
#[test]
fn pfc_hears_of_an_ingress_again_when_its_link_returns() {
    let mut cfg = config("pfc");
    let [down, up] = [30, 31].map(Time::from_us);
    cfg.failures = vec![LinkFailure { link: LinkId(3), down, up: Some(up) }];
    cfg.nic.timeout = Some(Time::from_us(200));
    let out = compare(&cfg, &PFC);
    assert!(out.drops.iter().all(|d| d.reason != DropReason::HeadroomExceeded), "{:?}", out.drops);
    let paused_then = |e: &PauseEvent| e.pause && e.port == PortId(3) && e.at > up;
    assert!(out.pauses.iter().any(paused_then), "it is paused again");
}

#[test]
fn gfc_does_the_same_whether_it_hears_of_packets_or_not() {
    for feedback in ["buffer", "conceptual"] {
        let mut cfg = config("gfc");
        set(&mut cfg, "mode", "paper");
        set(&mut cfg, "feedback", feedback);
        let (xoff, xon) = (Bytes::new(250_000), Bytes::new(240_000));
        let limit = IngressLimit::Unlimited;
        cfg.switch.thresholds = ThresholdConfig::Static { xoff, xon, limit };
        assert!(compare(&cfg, &GFC).totals.control_frames > 0, "{feedback}");
    }
}

fn dynamic() -> ThresholdConfig {
    ThresholdConfig::Dynamic {
        shift: 5,
        reserve: Bytes::new(1000),
        resume_offset: Bytes::new(3000),
        headroom: None,
    }
}

/// Without a scheme nobody hears of anything, but a buffer that is divided dynamically keeps its
/// own books of every packet.
#[test]
fn a_dynamic_buffer_keeps_its_books_when_nobody_listens() {
    let mut cfg = config("none");
    cfg.switch.buffer = Bytes::new(2_000_000);
    cfg.switch.thresholds = dynamic();
    cfg.nic.timeout = Some("500us".parse().unwrap());
    let out = run(&star(8, "1us"), &flows(), &cfg);
    assert_eq!(out.totals.completed, flows().len() as u64);
}
