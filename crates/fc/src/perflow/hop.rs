//! What fits into one hop round trip.

use crate::{Kind, NodeSetup, Param, Values};
use weir_core::{PortId, Ratio, Time};

/// The hop round trip the thresholds are computed from.
pub const HOP_RTT: Param = Param {
    name: "hop-rtt",
    kind: Kind::Time,
    default: "",
    doc: "Hop round trip in the thresholds; default: twice the propagation delay of the upstream link.",
};

/// Hop round trips and bandwidth-delay products of a node: the round trip is that of the
/// link to the **upstream** neighbour, which a pause has to cross; the bandwidth is that of
/// the **egress**, at which the queue drains.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HopBdp {
    rtt: Vec<Time>,
    /// Row: ingress, column: egress.
    bytes: Vec<u64>,
}

impl HopBdp {
    pub(crate) fn new(values: &Values, setup: &NodeSetup<'_>) -> Self {
        let rtt: Vec<Time> = setup
            .ports
            .iter()
            .map(|p| values.time(&HOP_RTT).unwrap_or_else(|| p.hop_rtt()))
            .collect();
        let mut hop = Self { rtt, bytes: Vec::new() };
        let nothing = vec![Time::ZERO; setup.ports.len()];
        hop.fill(setup, &nothing);
        hop
    }

    fn fill(&mut self, setup: &NodeSetup<'_>, extra: &[Time]) {
        let row = |(rtt, extra): (&Time, &Time)| {
            let window = *rtt + *extra;
            setup.ports.iter().map(move |p| p.rate.bytes_in(window).get())
        };
        self.bytes = self.rtt.iter().zip(extra).flat_map(row).collect();
    }

    /// The same with every product multiplied by `factor`.
    pub(crate) fn scaled(mut self, factor: Ratio) -> Self {
        self.bytes.iter_mut().for_each(|b| *b = factor.of(*b));
        self
    }

    /// The same with each port's `extra` added to its round trip before multiplying.
    pub(crate) fn widened(mut self, setup: &NodeSetup<'_>, extra: &[Time]) -> Self {
        self.fill(setup, extra);
        self
    }

    /// The hop round trip over the link at `port`.
    #[inline]
    pub(crate) fn rtt(&self, port: PortId) -> Time {
        self.rtt[port.index()]
    }

    /// Bytes that `egress` sends in a round trip to the neighbour at `ingress`.
    #[inline]
    pub(crate) fn bytes(&self, ingress: PortId, egress: PortId) -> u64 {
        self.bytes[ingress.index() * self.rtt.len() + egress.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortSetup;
    use crate::harness::Bench;
    use weir_core::Rate;

    /// Round trips of 2, 4 and 6 us to the neighbours; 10, 40 and 100 Gb/s are 1250, 5000 and
    /// 12 500 B/us.
    #[test]
    fn the_round_trip_is_the_ingresss_and_the_rate_the_egresss() {
        let ports: Vec<PortSetup> = [(10, 1), (40, 2), (100, 3)]
            .map(|(g, us)| PortSetup { rate: Rate::from_gbps(g), delay: Time::from_us(us) })
            .into();
        Bench::around(3, "75KB", "45KB", |setup| {
            let hop = HopBdp::new(&Values::new(), &NodeSetup { ports: &ports, ..setup.clone() });
            let row = |i| [0, 1, 2].map(|e| hop.bytes(PortId(i), PortId(e)));
            assert_eq!(row(0), [2500, 10_000, 25_000]);
            assert_eq!(row(1), [5000, 20_000, 50_000]);
            assert_eq!(row(2), [7500, 30_000, 75_000]);
            crate::none::NoFlowControl::new(setup.schedule)
        });
    }
}
