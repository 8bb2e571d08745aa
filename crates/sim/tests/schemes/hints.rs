//! No result depends on a scheme's hints: with shortcuts off nobody asks for them, and the outcome
//! is the one with hints and shortcuts.

use super::invariants::MODES;
use crate::common::fabrics::{mesh, network};
use crate::common::{config, run};
use std::cell::Cell;
use std::ops::Range;
use weir_core::{Bytes, ControlMessage, Packet, PortId, Priority, QueueId, Rate, Time};
use weir_fc::harness::Bench;
use weir_fc::{
    Actions, FlowControl, Hints, Interest, LinkState, Mmu, Network, NodeSetup, NodeView,
    ParamError, Pipelined, PortQueue, QueueLayout, SchemeInfo, StateSize, TimerKey, Values,
    Verdict, Violation, Waits, none,
};
use weir_sim::config::{EngineConfig, PipelineConfig, Scheme, Stop};
use weir_sim::{Config, Outcome};
use weir_traffic::FlowSpec;

/// A scheme that gives no hints, and must not be asked for any.
struct Unasked(Box<dyn FlowControl>);

impl FlowControl for Unasked {
    fn layout(&self, port: PortId) -> QueueLayout {
        self.0.layout(port)
    }

    fn arrive(&mut self, v: &NodeView<'_>, p: &mut Packet, o: PortId, a: &mut Actions) -> QueueId {
        self.0.arrive(v, p, o, a)
    }

    fn serve(&mut self, v: &NodeView<'_>, q: PortQueue, p: &Packet, a: &mut Actions) -> Verdict {
        self.0.serve(v, q, p, a)
    }

    fn depart(&mut self, v: &NodeView<'_>, p: &mut Packet, from: PortQueue, a: &mut Actions) {
        self.0.depart(v, p, from, a);
    }

    fn discard(
        &mut self,
        v: &NodeView<'_>,
        p: &mut Packet,
        from: Option<PortQueue>,
        a: &mut Actions,
    ) {
        self.0.discard(v, p, from, a);
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

    fn flow_starts(&mut self, v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        self.0.flow_starts(v, slot, p, a);
    }

    fn flow_ends(&mut self, v: &NodeView<'_>, slot: PortQueue, p: &Packet, a: &mut Actions) {
        self.0.flow_ends(v, slot, p, a);
    }

    fn delivered(&mut self, v: &NodeView<'_>, p: &Packet, a: &mut Actions) {
        self.0.delivered(v, p, a);
    }

    fn audit(&self, v: &NodeView<'_>, network: Network) -> Result<(), Violation> {
        self.0.audit(v, network)
    }

    fn state_size(&self) -> StateSize {
        self.0.state_size()
    }

    fn pipelined(&mut self) -> Result<&mut dyn Pipelined, &'static str> {
        self.0.pipelined()
    }

    fn waits(&self) -> Option<&dyn Waits> {
        self.0.waits()
    }
}

const ASKED: &str = "with shortcuts off a scheme is not asked for hints";

impl Hints for Unasked {
    fn interest(&self, _: &Mmu, _: PortId, _: Priority) -> Interest {
        panic!("interest: {ASKED}")
    }

    fn pass(&mut self, _: &NodeView<'_>, _: &mut Packet, _: PortId) -> Option<QueueId> {
        panic!("pass: {ASKED}")
    }

    fn quiet_range(&self, _: &Mmu, _: PortId, _: Priority) -> Range<Bytes> {
        panic!("quiet_range: {ASKED}")
    }

    fn has_fixed_state(&self) -> bool {
        panic!("has_fixed_state: {ASKED}")
    }
}

thread_local! {
    /// Which scheme [`unasked`] makes.
    static INNER: Cell<&'static SchemeInfo> = const { Cell::new(&none::INFO) };
}

fn unasked(values: &Values, setup: &NodeSetup<'_>) -> Result<Box<dyn FlowControl>, ParamError> {
    Ok(Box::new(Unasked((INNER.get().build)(values, setup)?)))
}

fn outcome(topology: &weir_net::Topology, flows: &[FlowSpec], cfg: &Config) -> Outcome {
    let mut out = run(topology, flows, cfg);
    // what is spared may be an event
    out.totals.events = 0;
    out
}

#[test]
fn schemes_are_the_same_without_their_hints() {
    let topology = network(1, Rate::from_gbps(40), Time::from_ns(200));
    let flows = mesh(&topology, 50, 60_000, 150, 3);
    for pipeline in [None, Some(PipelineConfig::default())] {
        for (name, _) in MODES {
            let mut cfg = config(name);
            cfg.engine = EngineConfig::Sequential;
            cfg.stop = Stop::At(Time::from_ms(2));
            cfg.nic.timeout = Some(Time::from_us(500));
            cfg.switch.pipeline = pipeline;
            let info = cfg.scheme.info;
            INNER.set(info);
            let mut built = Bench::nic(info, &Values::new());
            if pipeline.is_some() && built.scheme_mut().pipelined().is_err() {
                continue;
            }
            let hinted = outcome(&topology, &flows, &cfg);
            let scheme = Scheme {
                info: Box::leak(Box::new(SchemeInfo { build: unasked, ..*info })),
                values: cfg.scheme.values.clone(),
            };
            let plain = Config { scheme, shortcuts: false, ..cfg };
            let plain = outcome(&topology, &flows, &plain);
            assert_eq!(plain.digest, hinted.digest, "{name}, pipeline: {}", pipeline.is_some());
            assert!(plain == hinted, "{name}, pipeline: {}", pipeline.is_some());
        }
    }
}
