//! What is measured along the way.
//!
//! A **probe** is an object of one node. It says which events it hears ([`Hears`]), is told of them
//! in the canonical order of the node ([`Probe`]), and writes what it found into the [`Outcome`]
//! when the run ends: into records that are there, or as a table of its own, whose
//! [columns](ProbeInfo::columns) have a type, a unit and a meaning. It changes nothing: results are
//! the same with and without it. A probe is one file and one line: in [`PROBES`] if every run has
//! it, in [`ProbeConfig::own`] of the runs that ask for it otherwise.
//!
//! | hears | of what | cost while no probe hears it |
//! |---|---|---|
//! | [`Hears::ARRIVED`] | packets that came in from a wire | nothing |
//! | [`Hears::QUEUED`] | packets that join an egress queue of a switch | nothing |
//! | [`Hears::SENT`] | packets that start on a wire | hosts: two instructions per packet |
//! | [`Hears::CONTROL`] | control frames, with what they say and why | nothing |
//! | [`Hears::DROPPED`] | packets that are lost | always heard |
//! | [`Hears::HELD`] | queues and priorities that are held or opened | two instructions per hold |
//! | [`Hears::PAUSED`] | pauses and resumes that switches and slow hosts send | always heard |
//! | [`Hears::FLOWS`] | what flows of a host wait for, and their ends | hosts: two instructions |
//! | [`Hears::GRID`] | grid points, at which the run as a whole is checked | a test per node |
//! | [`Probe::due`] | instants of the probe's own | a test per instant |
//!
//! Grid points are 10 us apart.
//!
//! Where a probe hears of packets, switches take the plain path
//! ([`shortcuts`](crate::Config::shortcuts) may leave a packet out of its queue).
//!
//! Beside probes there are **meters**, which count in every run: `length` (bytes over time), `port`
//! (holds, wire time, counters), `late` (control frames at the end of a run), `held` (time that
//! flows lost) and `record` (recordings). They stand in the ports themselves, in cache lines that a
//! packet touches anyway, and are called directly.

pub(crate) mod blame;
pub(crate) mod capture;
mod check;
pub(crate) mod drops;
pub(crate) mod held;
mod interface;
pub(crate) mod late;
pub(crate) mod length;
pub(crate) mod pauses;
pub(crate) mod port;
pub(crate) mod record;
pub(crate) mod series;
pub(crate) mod tables;

use crate::extras::{Extras, Said};
use crate::outcome::{DropReason, Measurement, Outcome};
pub use capture::Capture;
use held::HeldFlows;
pub use interface::{
    ControlSeen, FlowSight, FlowWait, Hears, PauseSent, Probe, ProbeConfig, ProbeInfo, ProbeSetup,
    Sight,
};
pub use record::RecordConfig;
use record::{Held, Recorder};
use weir_core::registry::Registry;
use weir_core::{FlowId, Packet, PacketKind, PortId, QueueId, Time};
use weir_fc::{HoldState, PortQueue, Target};

/// The probes of every run.
pub const PROBES: &[ProbeInfo] =
    &[drops::INFO, pauses::INFO, tables::INFO, series::INFO, capture::INFO, blame::INFO];

/// Probes that a program adds to every run of a scenario.
pub static OWN: Registry<ProbeInfo> = Registry::new(&[]);

/// All probes of a run.
fn infos(config: &ProbeConfig) -> impl Iterator<Item = &ProbeInfo> {
    PROBES.iter().chain(&config.own)
}

/// The tables of the probes of a run, without rows.
pub(crate) fn measurements(config: &ProbeConfig) -> Vec<Measurement> {
    let some = infos(config).filter(|info| !info.columns.is_empty());
    some.map(|info| Measurement::new(info.name, info.summary, info.columns)).collect()
}

/// Which way a frame crosses a port.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crosses {
    Inwards,
    Outwards,
}

/// The probes of one node.
#[derive(Default)]
pub(crate) struct Probes {
    /// Called directly: it hears of every packet that waited for a hold.
    pub(crate) held_flows: HeldFlows,
    /// Called directly: it hears of every data packet that arrives at a host.
    pub(crate) recorder: Option<Box<Recorder>>,
    hears: Hears,
    pub(crate) all: ProbeList,
}

/// Probes that are objects. They are taken out of their node while they look at it.
#[derive(Default)]
pub(crate) struct ProbeList(Vec<(ProbeInfo, Box<dyn Probe>)>);

impl Probes {
    /// Those of every run and those that the run asks for.
    pub(crate) fn new(setup: &ProbeSetup<'_>) -> Self {
        let infos = infos(setup.config);
        let all: Vec<_> = infos.filter_map(|i| Some((*i, (i.build)(setup)?))).collect();
        let hears = all.iter().fold(Hears::NOTHING, |set, (info, _)| set.and(info.hears));
        let ProbeSetup { node, ports, switch_ports, .. } = *setup;
        let recorder = |config| Box::new(Recorder::new(node, ports, switch_ports, config));
        Self {
            held_flows: HeldFlows::new(node),
            recorder: setup.config.record.map(recorder),
            hears,
            all: ProbeList(all),
        }
    }

    /// These, and the one for [`ProbeConfig::blame`] if that is asked for.
    pub(crate) fn with_blame(mut self, setup: Option<blame::Setup>) -> Self {
        if let Some(setup) = setup {
            let (info, probe) = blame::probe(setup);
            self.hears = self.hears.and(info.hears);
            self.all.0.push((info, probe));
        }
        self
    }

    /// Whether a probe hears any of these events.
    #[inline(always)]
    pub(crate) fn hear(&self, events: Hears) -> bool {
        self.hears.any(events)
    }

    /// Tells those that hear `event`.
    #[cold]
    fn tell(&mut self, event: Hears, what: impl FnMut(&mut dyn Probe)) {
        self.all.tell(event, what);
    }

    /// A packet came in; what it carries is in `extras`.
    #[inline(always)]
    pub(crate) fn arrived(&mut self, now: Time, port: PortId, packet: &Packet, extras: &Extras) {
        if self.hear(Hears::ARRIVED) {
            self.tell(Hears::ARRIVED, |p| p.arrived(now, port, packet));
            self.control(now, port, Crosses::Inwards, packet, extras);
        }
    }

    #[cold]
    fn control(
        &mut self,
        now: Time,
        port: PortId,
        crosses: Crosses,
        packet: &Packet,
        extras: &Extras,
    ) {
        if self.hear(Hears::CONTROL) && packet.kind == PacketKind::Control {
            let Said { message, reason } = extras.messages.get(packet.extra);
            let sent = crosses == Crosses::Outwards;
            let seen = ControlSeen { port, sent, packet, message, reason };
            self.tell(Hears::CONTROL, |p| p.control(now, &seen));
        }
    }

    #[inline(always)]
    pub(crate) fn queued(&mut self, now: Time, at: PortQueue, packet: &Packet) {
        if self.hear(Hears::QUEUED) {
            self.tell(Hears::QUEUED, |p| p.queued(now, at, packet));
        }
    }

    #[cold]
    pub(crate) fn moved(&mut self, now: Time, from: PortQueue, to: QueueId, packet: &Packet) {
        if self.hear(Hears::QUEUED) {
            self.tell(Hears::QUEUED, |p| p.moved(now, from.port, from.queue, to, packet));
        }
    }

    #[cold]
    pub(crate) fn flow(&mut self, now: Time, sight: &FlowSight) {
        self.tell(Hears::FLOWS, |p| p.flow(now, sight));
    }

    #[inline(always)]
    pub(crate) fn finished(&mut self, now: Time, flow: FlowId) {
        if self.hear(Hears::FLOWS) {
            self.tell(Hears::FLOWS, |p| p.finished(now, flow));
        }
    }

    /// See [`Probe::posted`].
    #[inline(always)]
    pub(crate) fn posted(&mut self, now: Time, flow: FlowId, seq: u32) {
        if self.hear(Hears::FLOWS) {
            self.tell(Hears::FLOWS, |p| p.posted(now, flow, seq));
        }
    }

    /// See [`Probe::acknowledged`].
    #[inline(always)]
    pub(crate) fn acknowledged(&mut self, now: Time, flow: FlowId, seq: u32) {
        if self.hear(Hears::FLOWS) {
            self.tell(Hears::FLOWS, |p| p.acknowledged(now, flow, seq));
        }
    }

    /// See [`Probe::message`].
    #[inline(always)]
    pub(crate) fn message(&mut self, now: Time, flow: FlowId, seq: u32) {
        if self.hear(Hears::FLOWS) {
            self.tell(Hears::FLOWS, |p| p.message(now, flow, seq));
        }
    }

    #[inline(always)]
    pub(crate) fn sent(&mut self, now: Time, port: usize, packet: &Packet) {
        if self.hear(Hears::SENT) {
            self.tell(Hears::SENT, |p| p.sent(now, PortId::from_index(port), packet));
        }
    }

    /// A control frame is about to go out; what it says is still in `extras`.
    #[inline(always)]
    pub(crate) fn sends(&mut self, now: Time, port: usize, packet: &Packet, extras: &Extras) {
        if self.hear(Hears::SENT) {
            let port = PortId::from_index(port);
            self.tell(Hears::SENT, |p| p.sent(now, port, packet));
            self.control(now, port, Crosses::Outwards, packet, extras);
        }
    }

    #[inline(always)]
    pub(crate) fn held(
        &mut self,
        now: Time,
        port: PortId,
        target: Target,
        what: Held,
        state: HoldState,
    ) {
        self.record_hold(now, port, what, state);
        if self.hear(Hears::HELD) {
            self.tell(Hears::HELD, |p| p.held(now, port, target, state));
        }
    }

    /// Notes a hold for the recording only: one that ends with its flow is not told of.
    #[inline(always)]
    pub(crate) fn record_hold(&mut self, now: Time, port: PortId, what: Held, state: HoldState) {
        if let Some(recorder) = &mut self.recorder {
            recorder.hold(now, port, what, state);
        }
    }

    /// When the present window of the recording ends, if there is one.
    #[inline(always)]
    pub(crate) fn window_end(&self) -> Time {
        self.recorder.as_ref().map_or(Time::NEVER, |r| r.end())
    }

    pub(crate) fn dropped(&mut self, now: Time, reason: DropReason, packet: &Packet) {
        if let Some(recorder) = &mut self.recorder {
            recorder.dropped(now, reason, packet);
        }
        self.tell(Hears::DROPPED, |p| p.dropped(now, reason, packet));
    }

    pub(crate) fn paused(&mut self, now: Time, pause: &PauseSent<'_>) {
        self.tell(Hears::PAUSED, |p| p.paused(now, pause));
    }

    /// When a probe is due next.
    pub(crate) fn due(&self) -> Time {
        self.all.0.iter().map(|(_, p)| p.due()).min().unwrap_or(Time::NEVER)
    }

    pub(crate) fn restart(&mut self, now: Time) {
        self.all.0.iter_mut().for_each(|(_, p)| p.restart(now));
    }

    pub(crate) fn report(&mut self, end: Time, outcome: &mut Outcome) {
        self.held_flows.report(end, outcome);
        if let Some(recorder) = &mut self.recorder {
            recorder.report(outcome);
        }
        self.all.0.iter_mut().for_each(|(_, p)| p.report(end, outcome));
    }
}

impl ProbeList {
    /// Tells those that hear `event`.
    fn tell(&mut self, event: Hears, mut what: impl FnMut(&mut dyn Probe)) {
        for (info, probe) in &mut self.0 {
            if info.hears.any(event) {
                what(&mut **probe);
            }
        }
    }

    pub(crate) fn grid(&mut self, now: Time, node: &dyn Sight) {
        self.tell(Hears::GRID, |p| p.grid(now, node));
    }

    pub(crate) fn sample(&mut self, now: Time, node: &dyn Sight) {
        for (info, probe) in self.0.iter_mut().filter(|(_, p)| p.due() == now) {
            probe.sample(now, node);
            assert!(probe.due() > now, "probe `{}` stays due at {now}", info.name);
        }
    }
}

/// The last step of the probes of a run.
pub(crate) fn finish(outcome: &mut Outcome, config: &ProbeConfig) {
    infos(config).for_each(|info| (info.finish)(outcome, config));
    if let Some(recording) = &mut outcome.recording {
        recording.settle();
    }
}
