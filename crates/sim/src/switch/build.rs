//! How a switch is made.

use super::balancer::Balancer;
use super::host_pauses::HostPauses;
use super::marker::Marker;
use super::pipelined::Processor;
use super::port::Port;
use super::scheduler::Schedulers;
use super::scheme::Hooks;
use super::standing::Standing;
use super::{Switch, SwitchTimer, Way};
use crate::chain::Store;
use crate::config::{EcnAt, EcnConfig, SwitchConfig};
use crate::control::Responses;
use crate::faults::Faults;
use crate::link::{Inbox, WireNumbers};
use crate::probe::length::LengthProbe;
use crate::probe::{Hears, ProbeSetup, Probes};
use crate::shared::{Schedule, Shared};
use crate::tally::Tally;
use crate::timers::Timers;
use crate::tree::Tournament;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use weir_core::rng::Stream;
use weir_core::{NodeId, PortId, Priority, Time};
use weir_fc::{
    Books, FlowControl, Mmu, MmuConfig, ParamError, PortBook, PortSetup, QueueBook, Role,
};

impl Switch {
    pub(crate) fn new(
        id: NodeId,
        shared: &Shared<'_>,
        wires: &WireNumbers,
    ) -> Result<Self, ParamError> {
        let (config, setup) = (shared.config, shared.port_setup(id));
        let (seed, shortcuts) = (config.seed, config.shortcuts);
        let pipeline = config.switch.pipeline.as_ref();
        let mmu = shared.mmu(Role::Switch, &setup);
        let mut fc = Self::scheme(id, shared, &setup, &mmu)?;
        let ports = Self::ports(id, &*fc, shared, wires);
        let processor =
            pipeline.map(|p| Processor::new(p, &mut *fc, ports.len(), shortcuts)).transpose()?;
        let mmu = Self::memory(mmu, ports.len(), &config.switch);
        let scheme = Self::hooks(fc, &mmu, &ports, shared);
        let latency = config.switch.latency;
        let tx_clocks = usize::from(latency != Time::ZERO || pipeline.is_some());
        let balancer = Balancer::new(config.balance, &config.switch.schedule, seed, id);
        let marks_on_entry = config.switch.ecn_at == EcnAt::Enqueue;
        let probes = Self::probes(id, &*scheme.fc, shared);
        let mut switch = Self {
            id,
            way: Way::Plain,
            scheme,
            clocks: Tournament::new(tx_clocks + ports.len()),
            tx_clocks,
            inbox: Inbox::new(ports.len()),
            books: Self::books(id, &ports, mmu, setup),
            ports,
            stored: Store::default(),
            pipeline: VecDeque::new(),
            processor: processor.map(Box::new),
            shortcuts,
            timers: Timers::new(),
            schedule: Schedule::new(shared.admin(id)),
            epoch: 0,
            latency,
            responding: Responses::new(SwitchTimer::Response),
            pinned: FxHashMap::default(),
            balancer: balancer.map(Box::new),
            acts_on_entry: marks_on_entry || probes.hear(Hears::QUEUED),
            marks_on_entry,
            marker: Marker::new(Stream::new(seed, "ecn", u64::from(id.0)), config),
            bit_errors: Stream::new(seed, "bit-errors", u64::from(id.0)),
            faults: Faults::new(id, shared),
            watchdog: config.switch.watchdog,
            waits: FxHashMap::default(),
            standing: Standing::default(),
            host_pauses: HostPauses::default(),
            buffer: LengthProbe::default(),
            counted_from: Time::ZERO,
            busy: false,
            tally: Tally::default(),
            probes,
        };
        switch.way = switch.choose_way(shared);
        for port in 0..switch.ports.len() {
            switch.scheme.refresh(&mut switch.books, PortId::from_index(port));
        }
        Ok(switch)
    }

    /// The scheme, which must support the paths of flows.
    fn scheme(
        id: NodeId,
        shared: &Shared<'_>,
        setup: &[PortSetup],
        mmu: &MmuConfig,
    ) -> Result<Box<dyn FlowControl>, ParamError> {
        let scheme = &shared.config.scheme;
        if !shared.config.balance.keeps_order() {
            scheme.info.many_paths.map_err(|why| {
                ParamError(format!("it does not support flows that take several paths: {why}"))
            })?;
        }
        let node = shared.node_setup(id, Role::Switch, setup, mmu);
        (scheme.info.build)(&scheme.values, &node)
    }

    fn memory(mmu: MmuConfig, ports: usize, config: &SwitchConfig) -> Mmu {
        let mmu = Mmu::new(mmu, ports)
            .sharing_headroom(config.headroom_pool)
            .bounding_egress(config.egress)
            .in_cells(config.cell);
        match &config.pipeline {
            Some(pipeline) => mmu.in_stages(pipeline.limits),
            None => mmu,
        }
    }

    fn ports(
        id: NodeId,
        fc: &dyn FlowControl,
        shared: &Shared<'_>,
        wires: &WireNumbers,
    ) -> Vec<Port> {
        let mut schedulers = Schedulers::default();
        let marking = shared.thresholds.marking(id).into_iter().enumerate();
        let port = |(p, ecn): (usize, Option<EcnConfig>)| {
            let mut port = Port::new(id, p, fc, shared, wires, &mut schedulers);
            port.ecn = ecn.map(EcnConfig::marking);
            port
        };
        marking.map(port).collect()
    }

    /// The scheme's calls, after it was asked which of them can be left out.
    fn hooks(fc: Box<dyn FlowControl>, mmu: &Mmu, ports: &[Port], shared: &Shared<'_>) -> Hooks {
        // a switch without links has no ingress to ask about
        let asks = shared.config.shortcuts && !ports.is_empty();
        // in a pipelined switch a scheme hears of FIFOs and may have more to say when they change
        let is_pipelined = shared.config.switch.pipeline.is_some();
        let asks = asks && (!is_pipelined || Self::names_quiet_ranges(&*fc, mmu));
        let hooks = Hooks::new(fc, mmu, asks);
        assert!(
            !hooks.hears_in_part() || ports.iter().all(|p| !p.inspects_heads),
            "a scheme that inspects heads hears of all packets of a priority or of none"
        );
        hooks
    }

    fn probes(id: NodeId, fc: &dyn FlowControl, shared: &Shared<'_>) -> Probes {
        let fixed_tables = shared.config.shortcuts && fc.has_fixed_state();
        let setup = ProbeSetup { fixed_tables, ..shared.probe_setup(id, Role::Switch) };
        Probes::new(&setup).with_blame(shared.blame_setup(id, Role::Switch))
    }

    fn books(id: NodeId, ports: &[Port], mmu: Mmu, setup: Vec<PortSetup>) -> Books {
        let queues = |p: &Port| vec![QueueBook::default(); p.scheduler.len()];
        let book = |p: &Port| PortBook { queues: queues(p), ..PortBook::default() };
        let ports = ports.iter().map(book).collect();
        Books { role: Role::Switch, node: id, ports, mmu, setup }
    }

    /// Which path its packets take.
    fn choose_way(&self, shared: &Shared<'_>) -> Way {
        // only the plain path asks the balancer, marks what it queues, and tells probes of packets
        let needs_plain =
            self.balancer.is_some() || self.marks_on_entry || self.probes.hear(Hears::PACKETS);
        let undamaged =
            shared.byte_survival_ln == 0.0 && self.ports.iter().all(|p| p.outages.is_empty());
        if self.processor.is_some() {
            Way::Pipelined
        } else if needs_plain || !self.shortcuts {
            Way::Plain
        } else if !undamaged || self.latency != Time::ZERO {
            Way::Shortcuts
        } else if shared.telemetry.is_some() {
            Way::Reporting
        } else {
            Way::Straight
        }
    }

    /// Whether a scheme has told in which range an ingress FIFO does not matter to it, for every
    /// priority: what it says of its interest in packets then holds for pipelined switches, too.
    fn names_quiet_ranges(fc: &dyn FlowControl, mmu: &Mmu) -> bool {
        Priority::ALL.into_iter().all(|p| !fc.quiet_range(mmu, PortId(0), p).is_empty())
    }
}
