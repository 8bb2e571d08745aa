//! An example of a new congestion control, run through the simulator: *Brake* halves its rate
//! when the round-trip time is above twice that of the empty network, and adds a packet's worth
//! otherwise.

use weir_cc::{Ack, CcKind, CcParams, CongestionControl, Needs, OwnCc, Pacing, Path, Timers};
use weir_core::{Bytes, NodeId, PortId, Priority, Rate, Time};
use weir_net::build::star;
use weir_sim::{Config, Outcome};
use weir_traffic::{Fabric, FlowSpec, Traffic, pattern::List};

#[derive(Debug)]
pub(crate) struct Brake {
    rate: u64,
    line_rate: u64,
    /// One packet per round-trip time, in bit/s.
    step: u64,
    target: Time,
    /// The rate changes once per round: when this byte is acknowledged.
    round_ends: u64,
}

impl Brake {
    pub(crate) fn new(path: &Path) -> Self {
        let line_rate = path.line_rate.as_bps();
        Self {
            rate: line_rate,
            line_rate,
            step: path.mtu.get() * 8 * 1_000_000_000_000 / path.base_rtt.as_ps().max(1),
            target: path.base_rtt + path.base_rtt,
            round_ends: 0,
        }
    }
}

impl CongestionControl for Brake {
    fn needs() -> Needs {
        Needs::RTT
    }

    fn on_ack(&mut self, ack: &Ack<'_>, _: &mut Timers) -> Pacing {
        if ack.seq <= self.round_ends {
            return Pacing::Same;
        }
        self.round_ends = ack.snd_nxt;
        self.rate = if ack.rtt > self.target {
            (self.rate / 2).max(self.line_rate / 1000)
        } else {
            (self.rate + self.step).min(self.line_rate)
        };
        Pacing::NextPacket
    }

    fn rate(&self) -> Rate {
        Rate::from_bps(self.rate)
    }

    fn window(&self) -> Option<Bytes> {
        None
    }
}

/// Eight hosts send 1 MB each to a ninth through one switch, under PFC.
pub(crate) fn incast(cc: CcParams) -> Outcome {
    let params = star::Params { hosts: 9, ..star::Params::default() };
    let topology = star::build(&params).expect("a star of nine hosts");
    let rate = topology.rate(NodeId(0), PortId(0));
    let flow = |src| FlowSpec {
        priority: Priority::ALL[3],
        ..FlowSpec::new(NodeId(src), NodeId(8), Bytes::new(1_000_000))
    };
    let mut traffic = Traffic::new(Fabric::uniform(topology.hosts(), rate).expect("hosts"));
    traffic.class("incast").expect("a new class");
    traffic.add(List { flows: (0..8).map(flow).collect() }).expect("valid flows");
    let mut config = Config::new(weir_fc::scheme("pfc").expect("PFC is a scheme"));
    config.cc = cc;
    weir_sim::run(&topology, &traffic, &config, &mut ()).expect("a valid run")
}

pub(crate) fn main() {
    let brake = CcParams::Own(OwnCc::new("brake", Brake::new));
    for cc in [brake, CcParams::new(CcKind::None)] {
        let name = cc.name();
        let out = incast(cc);
        let pauses: u64 = out.ports.iter().flat_map(|p| p.pauses_sent).sum();
        println!("{name}: {} flows completed, {pauses} pauses", out.totals.completed);
    }
}
