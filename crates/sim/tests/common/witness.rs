//! A probe that hears everything and counts it.

use weir_core::{NodeId, Packet, PortId, Time};
use weir_fc::{HoldState, PortQueue, Target};
use weir_sim::Outcome;
use weir_sim::outcome::{Column, DropReason};
use weir_sim::probe::{Hears, PauseSent, Probe, ProbeInfo, Sight};

pub(crate) const WITNESS: ProbeInfo = ProbeInfo {
    name: "witness",
    summary: "how often each event was heard",
    columns: COLUMNS,
    hears: Hears::ARRIVED
        .and(Hears::QUEUED)
        .and(Hears::SENT)
        .and(Hears::DROPPED)
        .and(Hears::HELD)
        .and(Hears::PAUSED)
        .and(Hears::GRID),
    build: |setup| Some(Box::new(Witness { node: setup.node, ..Witness::default() })),
    finish: |_, _| {},
};

const COLUMNS: &[Column] = &[
    Column::node("node", "the node"),
    Column::count("arrived", "packets that came in"),
    Column::count("queued", "packets that joined a queue"),
    Column::count("sent", "packets that went out"),
    Column::count("dropped", "packets that were lost"),
    Column::count("held", "holds"),
    Column::count("paused", "pauses sent"),
    Column::count("grid", "grid points"),
    Column::count("samples", "samples"),
];

#[derive(Default)]
struct Witness {
    node: NodeId,
    arrived: u64,
    queued: u64,
    sent: u64,
    dropped: u64,
    held: u64,
    paused: u64,
    grid: u64,
    samples: u64,
}

impl Probe for Witness {
    fn arrived(&mut self, _: Time, _: PortId, _: &Packet) {
        self.arrived += 1;
    }

    fn queued(&mut self, _: Time, _: PortQueue, _: &Packet) {
        self.queued += 1;
    }

    fn sent(&mut self, _: Time, _: PortId, _: &Packet) {
        self.sent += 1;
    }

    fn dropped(&mut self, _: Time, _: DropReason, _: &Packet) {
        self.dropped += 1;
    }

    fn held(&mut self, _: Time, _: PortId, _: Target, state: HoldState) {
        self.held += u64::from(state.is_held());
    }

    fn paused(&mut self, _: Time, pause: &PauseSent<'_>) {
        self.paused += u64::from(pause.pause);
    }

    fn grid(&mut self, _: Time, node: &dyn Sight) {
        let queued = (0..node.ports()).map(PortId::from_index).map(|p| node.queue(p)).sum();
        assert!(node.memory() >= queued, "what is queued is in memory");
        self.grid += 1;
    }

    /// At 0, 1, 3, 7, 15 us and so on.
    fn due(&self) -> Time {
        Time::from_us((1 << self.samples.min(40)) - 1)
    }

    fn sample(&mut self, now: Time, _: &dyn Sight) {
        assert_eq!(now, self.due());
        self.samples += 1;
    }

    fn report(&mut self, _: Time, outcome: &mut Outcome) {
        let row = [
            self.node.into(),
            self.arrived.into(),
            self.queued.into(),
            self.sent.into(),
            self.dropped.into(),
            self.held.into(),
            self.paused.into(),
            self.grid.into(),
            self.samples.into(),
        ];
        outcome.measurement(WITNESS.name).push(&row);
    }
}

/// What all nodes together heard, by the name of a column.
pub(crate) fn heard(outcome: &Outcome, column: &str) -> Option<u64> {
    let table = outcome.measurements.iter().find(|m| m.name == WITNESS.name)?;
    Some(table.numbers(column).sum())
}
