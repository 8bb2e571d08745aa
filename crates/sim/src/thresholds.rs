//! Where switches pause and where they mark, port by port.
//!
//! A configuration says how thresholds follow from the speed of ports, the memory and the scheme
//! ([`ThresholdConfig`]). Here they become numbers, once per run: [`weir_fc::Thresholds`] for the
//! memory of a switch, [`EcnConfig`] for its egress ports. The nodes of a run use these functions,
//! and so do programs that show or check a configuration.

use crate::config::{
    Config, EcnConfig, Hop, IngressLimit, Reliability, ThresholdConfig, dynamic_headroom, headroom,
};
use weir_cc::tcp::EcnMode;
use weir_core::{Bytes, NodeId, Rate, Time};
use weir_fc::{Cell, IngressBound, PortSetup, PortThresholds, Thresholds};
use weir_net::{Link, Topology};

/// The thresholds of a configuration on a network.
#[derive(Clone, Copy, Debug)]
pub struct SwitchThresholds<'a> {
    topology: &'a Topology,
    config: &'a Config,
    /// The speed of the slowest link.
    slowest: Rate,
}

impl<'a> SwitchThresholds<'a> {
    /// The thresholds of `config` on `topology`.
    pub fn new(topology: &'a Topology, config: &'a Config) -> Self {
        let slowest = topology.links().iter().map(|l| l.rate).min().unwrap_or_default();
        Self { topology, config, slowest }
    }

    fn links(&self, node: NodeId) -> impl Iterator<Item = &'a Link> {
        let topology = self.topology;
        topology.ports(node).iter().map(move |end| topology.link(end.link))
    }

    fn hop(&self) -> Hop {
        Hop::of(&self.config.switch, &self.config.nic)
    }

    /// The thresholds of a port of this speed.
    pub fn at(&self, port: Rate) -> ThresholdConfig {
        self.config.switch.thresholds.at(port, self.config.nic.max_frame())
    }

    /// The ingress length at which a switch pauses when one of its egress queues is congested and
    /// holds all that the switch stores: the smallest one of its ports. `None` where nothing
    /// pauses.
    ///
    /// Dynamic thresholds shrink while the queue grows: T = alpha (S - q) is reached by q = T at
    /// alpha S / (1 + alpha), S being the shared memory.
    pub fn pause(&self, switch: NodeId) -> Option<Bytes> {
        let fixed = |l: &Link| match self.at(l.rate) {
            ThresholdConfig::Static { xoff, .. } => Some(xoff),
            _ => None,
        };
        let (shift, reserve) = match self.config.switch.thresholds {
            ThresholdConfig::Pool => return None,
            ThresholdConfig::Static { .. } | ThresholdConfig::PerSpeed { .. } => {
                return self.links(switch).filter_map(fixed).min();
            }
            ThresholdConfig::Dynamic { shift, reserve, .. } => (shift, reserve),
        };
        let set_aside = self.promised(switch);
        let shared = self.config.switch.buffer.saturating_sub(set_aside).get();
        let of_port = |l: &Link| {
            let shift = self.alpha_shift(shift, l.rate);
            // alpha / (1 + alpha) is 1 / (1 + 2^shift), or 1 - 1 / (1 + 2^-shift)
            let least = shared / ((1 << shift.unsigned_abs()) + 1);
            let pause = if shift >= 0 { least } else { shared - least };
            Bytes::new(pause).saturating_add(reserve)
        };
        self.links(switch).map(of_port).min()
    }

    /// alpha = 2^-shift doubles with every doubling of a port's rate over the slowest link's, up to
    /// 1 or to the alpha of the slowest.
    pub(crate) fn alpha_shift(&self, base: i8, port: Rate) -> i8 {
        let doublings = (port.as_bps() / self.slowest.as_bps().max(1)).max(1).ilog2();
        base.saturating_sub(i8::try_from(doublings).unwrap_or(i8::MAX)).max(base.min(0))
    }

    /// How the memory of a switch with these ports is divided.
    pub(crate) fn memory(&self, ports: &[PortSetup]) -> Thresholds {
        let fixed = |p: &PortSetup| self.ingress(p.rate, p.delay);
        match self.config.switch.thresholds {
            ThresholdConfig::Pool => Thresholds::Pool,
            ThresholdConfig::Static { .. } | ThresholdConfig::PerSpeed { .. } => {
                Thresholds::Static(ports.iter().filter_map(fixed).collect())
            }
            ThresholdConfig::Dynamic { shift, reserve, resume_offset, headroom } => {
                Thresholds::Dynamic {
                    reserve,
                    resume_offset,
                    headroom: ports
                        .iter()
                        .map(|p| headroom.unwrap_or_else(|| self.dynamic_headroom(p.rate, p.delay)))
                        .collect(),
                    shift: ports.iter().map(|p| self.alpha_shift(shift, p.rate)).collect(),
                }
            }
        }
    }

    /// Bytes that can still arrive by a link after the decision to pause it.
    pub fn headroom(&self, rate: Rate, delay: Time) -> Bytes {
        headroom(rate, delay, &self.hop(), &self.config.link)
    }

    fn dynamic_headroom(&self, rate: Rate, delay: Time) -> Bytes {
        dynamic_headroom(rate, delay, &self.hop(), &self.config.link)
    }

    /// The thresholds of the ingress at an end of a link, where they are fixed.
    pub fn ingress(&self, rate: Rate, delay: Time) -> Option<PortThresholds> {
        let ThresholdConfig::Static { xoff, xon, limit } = self.at(rate) else { return None };
        let limit = match limit {
            IngressLimit::Bytes(given) => given,
            IngressLimit::Unlimited => Bytes::MAX,
            IngressLimit::Lossless => self.lossless_limit(xoff, rate, delay).unwrap_or(Bytes::MAX),
        };
        Some(PortThresholds { xoff, xon, limit })
    }

    /// Most bytes that an ingress with this pause threshold holds if nothing is lost; `None` where
    /// the scheme does not bound them.
    pub fn lossless_limit(&self, xoff: Bytes, rate: Rate, delay: Time) -> Option<Bytes> {
        let scheme = &self.config.scheme;
        match (scheme.info.ingress_bound)(&scheme.values) {
            IngressBound::Memory => None,
            IngressBound::Grants(_) => self.granted(),
            IngressBound::Pauses => Some(self.overshot(xoff, 1, rate, delay)),
            IngressBound::Slows => Some(self.overshot(xoff, 2, rate, delay)),
        }
    }

    /// The same under a scheme that pauses, whatever the scheme of the configuration is.
    pub fn paused_limit(&self, xoff: Bytes, rate: Rate, delay: Time) -> Bytes {
        self.overshot(xoff, 1, rate, delay)
    }

    /// What is stored when the packet that reaches `xoff` is the last of so many whole frames that
    /// began below it, and the headroom is used up.
    fn overshot(&self, xoff: Bytes, frames: u64, rate: Rate, delay: Time) -> Bytes {
        let overshoot = (self.hop().stored() * frames).saturating_sub(Bytes::new(1));
        xoff.saturating_add(overshoot).saturating_add(self.headroom(rate, delay))
    }

    /// The memory of what the scheme grants a neighbour, if it grants.
    fn granted(&self) -> Option<Bytes> {
        let (scheme, hop) = (&self.config.scheme, self.hop());
        let IngressBound::Grants(granted) = (scheme.info.ingress_bound)(&scheme.values) else {
            return None;
        };
        let wasted = |cell: Cell| cell.most(granted, hop.smallest, Bytes::ZERO);
        Some(hop.cell.map_or(granted, wasted))
    }

    /// Most bytes that the ingress at an end of a link can hold; [`Bytes::MAX`] where only the
    /// memory of the switch bounds them.
    pub fn most(&self, link: &Link) -> Bytes {
        let limit = self.ingress(link.rate, link.delay).map_or(Bytes::MAX, |t| t.limit);
        self.granted().map_or(limit, |granted| granted.min(limit))
    }

    /// The memory of a switch that its lossless ingresses are promised: their limits where
    /// thresholds are fixed, reserves and headroom where they are dynamic.
    pub fn promised(&self, switch: NodeId) -> Bytes {
        let c = &self.config.switch;
        let each = self.links(switch).map(|l| match self.at(l.rate) {
            ThresholdConfig::Static { limit: IngressLimit::Bytes(given), .. } => given,
            ThresholdConfig::Static { xoff, .. } => {
                self.lossless_limit(xoff, l.rate, l.delay).unwrap_or_default()
            }
            ThresholdConfig::Dynamic { reserve, headroom, .. } => {
                let auto = || self.dynamic_headroom(l.rate, l.delay);
                let own = if c.headroom_pool.is_some() { Some(Bytes::ZERO) } else { headroom };
                own.unwrap_or_else(auto).saturating_add(reserve)
            }
            ThresholdConfig::Pool | ThresholdConfig::PerSpeed { .. } => Bytes::ZERO,
        });
        let lossless = c.lossless.len() as u64;
        let each = each.map(|bytes| bytes.get().saturating_mul(lossless));
        Bytes::new(each.fold(c.headroom_pool.unwrap_or_default().get(), u64::saturating_add))
    }

    /// How the egress ports of a switch mark; `None` for not at all.
    ///
    /// Thresholds that follow the speed of ports are those of the port's. Where marking is to
    /// come before pausing, `kmax` is at most half of the pause threshold, half of the memory, and
    /// half of what an egress queue of a pipelined switch may hold; `kmin` is lowered in
    /// proportion: when any single ingress has filled the queue up to its pause threshold, every
    /// packet has been marked for a while.
    pub fn marking(&self, switch: NodeId) -> Vec<Option<EcnConfig>> {
        let scale = self.config.switch.ecn_scale;
        let ecn = self.config.switch.ecn.filter(|_| self.is_ecn_capable());
        let (Some(ecn), ports) = (ecn, self.links(switch)) else {
            return vec![None; self.topology.ports(switch).len()];
        };
        let pause = if scale.before_pause { self.pause(switch) } else { None };
        let bounds = [pause, self.config.switch.longest_egress()].into_iter().flatten();
        let most = bounds.fold(self.config.switch.buffer, Bytes::min).get() / 2;
        let of_port = |l: &Link| {
            let mut found = ecn;
            if let Some(per) = scale.per {
                found.kmin = share(ecn.kmin, l.rate.as_bps(), per.as_bps());
                found.kmax = share(ecn.kmax, l.rate.as_bps(), per.as_bps());
            }
            if scale.before_pause && found.kmax.get() > most {
                found.kmin = share(found.kmin, most, found.kmax.get());
                found.kmax = Bytes::new(most);
            }
            Some(found)
        };
        ports.map(of_port).collect()
    }

    /// Whether switches may mark data at all: TCP's is not ECN-capable where its ECN is off.
    fn is_ecn_capable(&self) -> bool {
        self.config.nic.reliability != Reliability::Tcp || self.config.tcp.ecn != EcnMode::Off
    }
}

/// `bytes * of / per`.
fn share(bytes: Bytes, of: u64, per: u64) -> Bytes {
    let product = u128::from(bytes.get()) * u128::from(of) / u128::from(per.max(1));
    Bytes::new(u64::try_from(product).unwrap_or(u64::MAX))
}
