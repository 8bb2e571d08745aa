//! What fits into one hop round trip.

use crate::{Fallback, Kind, NodeSetup, Param, ParamError, Role, Values};
use weir_core::{PortId, Ratio, Time};

/// The hop round trip the thresholds are computed from.
pub const HOP_RTT: Param = Param {
    name: "hop-rtt",
    kind: Kind::Time(&[]),
    fallback: Fallback::Absent("derived"),
    doc: "Hop round trip in the thresholds; default: twice the propagation delay and the time of a \
          full frame over the upstream link, the time of a control frame and its response time.",
};

/// A value for each pair of an ingress and an egress port. If all values are the same, there is
/// only one, so that packets of all ports read the same memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pairs<T> {
    values: Vec<T>,
    /// How far apart the values of two neighbouring ingress ports are, and of two egress ports.
    steps: (usize, usize),
}

impl<T: Copy + PartialEq> Pairs<T> {
    /// The values of `ports` ports, in rows by ingress.
    fn new(mut values: Vec<T>, ports: usize) -> Self {
        let same = values.windows(2).all(|pair| pair[0] == pair[1]);
        if same {
            values.truncate(1);
        }
        Self { values, steps: if same { (0, 0) } else { (ports, 1) } }
    }

    #[inline]
    pub(crate) fn get(&self, ingress: PortId, egress: PortId) -> T {
        self.values[ingress.index() * self.steps.0 + egress.index() * self.steps.1]
    }
}

/// Hop round trips and bandwidth-delay products of a node: the round trip is that of the
/// link to the **upstream** neighbour, which a pause has to cross; the bandwidth is that of
/// the **egress**, at which the queue drains.
///
/// The products of a derived round trip are at least one frame: with less, a queue would be too
/// long with its first packet where a slow egress stands behind a fast link.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HopBdp {
    rtt: Vec<Time>,
    bytes: Pairs<u64>,
    /// The least any of them may be.
    least: u64,
    /// The largest of them, whatever the least.
    largest: u64,
}

impl HopBdp {
    pub(crate) fn new(values: &Values, setup: &NodeSetup<'_>) -> Self {
        let given = values.time(&HOP_RTT);
        let rtt: Vec<Time> = (0..setup.ports.len())
            .map(|i| given.unwrap_or_else(|| setup.hop_rtt(PortId::from_index(i))))
            .collect();
        let least = if given.is_some() { 0 } else { setup.max_frame.get() };
        let bytes = Pairs::new(Vec::new(), 0);
        let mut hop = Self { rtt, bytes, least, largest: 0 };
        let nothing = vec![Time::ZERO; setup.ports.len()];
        hop.fill(setup, &nothing);
        hop
    }

    fn fill(&mut self, setup: &NodeSetup<'_>, extra: &[Time]) {
        let row = |(rtt, extra): (&Time, &Time)| {
            let window = *rtt + *extra;
            setup.ports.iter().map(move |p| p.rate.bytes_in(window).get())
        };
        self.bound(self.rtt.iter().zip(extra).flat_map(row).collect());
    }

    /// Takes these products, in rows by ingress.
    fn bound(&mut self, mut bytes: Vec<u64>) {
        self.largest = bytes.iter().copied().max().unwrap_or(0);
        bytes.iter_mut().for_each(|b| *b = (*b).max(self.least));
        self.bytes = Pairs::new(bytes, self.rtt.len());
    }

    /// All pairs of ports, in rows by ingress.
    fn pairs(&self) -> impl Iterator<Item = (PortId, PortId)> + use<> {
        let ports = self.rtt.len();
        (0..ports * ports)
            .map(move |i| (PortId::from_index(i / ports), PortId::from_index(i % ports)))
    }

    /// The same with every product multiplied by `factor`.
    pub(crate) fn scaled(mut self, factor: Ratio) -> Self {
        let scaled = self.pairs().map(|(i, e)| factor.of(self.bytes(i, e))).collect();
        self.bound(scaled);
        self
    }

    /// The same with each port's `extra` added to its round trip before multiplying.
    pub(crate) fn widened(mut self, setup: &NodeSetup<'_>, extra: &[Time]) -> Self {
        self.fill(setup, extra);
        self
    }

    /// These products, each with that of `other` beside it.
    pub(crate) fn beside(&self, other: &Self) -> Pairs<(u64, u64)> {
        let both = self.pairs().map(|(i, e)| (self.bytes(i, e), other.bytes(i, e)));
        Pairs::new(both.collect(), self.rtt.len())
    }

    /// Refuses thresholds, made by the parameters `by`, of which none takes a frame: every queue
    /// would be too long with its first packet.
    pub(crate) fn check(&self, by: &str, setup: &NodeSetup<'_>) -> Result<(), ParamError> {
        if setup.role == Role::Nic || self.largest >= setup.max_frame.get() {
            return Ok(());
        }
        Err(ParamError(format!(
            "the threshold that {by} make is at most {} B at a switch, less than one frame of {} \
             B: every packet would be beyond it",
            self.largest,
            setup.max_frame.get()
        )))
    }

    /// The hop round trip over the link at `port`.
    #[inline]
    pub(crate) fn rtt(&self, port: PortId) -> Time {
        self.rtt[port.index()]
    }

    /// Bytes that `egress` sends in a round trip to the neighbour at `ingress`.
    #[inline]
    pub(crate) fn bytes(&self, ingress: PortId, egress: PortId) -> u64 {
        self.bytes.get(ingress, egress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortSetup;
    use crate::harness::Bench;
    use weir_core::Rate;

    /// A switch with these links (Gb/s, us).
    fn at(links: [(u64, u64); 3], response: Time, check: impl FnOnce(&NodeSetup<'_>)) {
        let ports: Vec<PortSetup> =
            links.map(|(g, us)| PortSetup::new(Rate::from_gbps(g), Time::from_us(us))).into();
        Bench::around(3, "75KB", "45KB", |setup| {
            check(&NodeSetup { ports: &ports, response: response.into(), ..setup.clone() });
            crate::none::NoFlowControl::new(setup.schedule)
        });
    }

    fn with_rtt(rtt: &str) -> Values {
        let mut values = Values::new();
        values.set(&HOP_RTT, rtt).unwrap();
        values
    }

    fn rows(hop: &HopBdp) -> [[u64; 3]; 3] {
        [0, 1, 2].map(|i| [0, 1, 2].map(|e| hop.bytes(PortId(i), PortId(e))))
    }

    /// 1538 B and 84 B on the wire take 1230.4 and 67.2 ns at 10 Gb/s, 123.04 and 6.72 ns at 100.
    /// The link of 10 Gb/s and 1 us: 2 * (1000 + 1230.4) + 67.2 + 100 = 4628 ns.
    #[test]
    fn a_round_trip_is_two_cables_two_frames_a_control_frame_and_its_response() {
        at([(10, 1), (40, 2), (100, 3)], Time::from_ns(100), |setup| {
            let hop = HopBdp::new(&Values::new(), setup);
            assert_eq!(hop.rtt(PortId(0)), Time::from_ns(4628));
            assert_eq!(hop.rtt(PortId(2)), Time::from_ps(6_352_800));
        });
    }

    /// 4528, 4632 and 6252.8 ns; 10, 40 and 100 Gb/s are 1.25, 5 and 12.5 B/ns.
    #[test]
    fn the_round_trip_is_the_ingresss_and_the_rate_the_egresss() {
        at([(10, 1), (40, 2), (100, 3)], Time::ZERO, |setup| {
            let hop = HopBdp::new(&Values::new(), setup);
            let rows = rows(&hop);
            assert_eq!(rows[0], [5660, 22_640, 56_600]);
            assert_eq!(rows[1], [5790, 23_160, 57_900]);
            assert_eq!(rows[2], [7816, 31_264, 78_160]);
        });
    }

    #[test]
    fn equal_links_share_one_product_and_others_have_their_own() {
        at([(40, 1); 3], Time::ZERO, |setup| {
            let hop = HopBdp::new(&Values::new(), setup);
            assert_eq!((hop.bytes.values.len(), rows(&hop)), (1, [[13_160; 3]; 3]));
            let twice = hop.clone().scaled(Ratio::new(2, 1).unwrap());
            let both = hop.beside(&twice);
            assert_eq!(both.values, [(13_160, 26_320)]);
            assert_eq!(both.get(PortId(2), PortId(1)), (13_160, 26_320));
        });
        at([(10, 1), (40, 2), (100, 3)], Time::ZERO, |setup| {
            let hop = HopBdp::new(&Values::new(), setup);
            let both = hop.beside(&hop.clone().scaled(Ratio::new(2, 1).unwrap()));
            assert_eq!((hop.bytes.values.len(), both.values.len()), (9, 9));
            assert_eq!(both.get(PortId(1), PortId(2)), (57_900, 115_800));
        });
    }

    /// Without cables 100 Gb/s have a round trip of 252.8 ns, in which 10 Gb/s send 316 B.
    #[test]
    fn a_derived_product_is_at_least_a_frame_and_a_given_one_is_what_it_is() {
        at([(10, 0), (40, 0), (100, 0)], Time::ZERO, |setup| {
            let hop = HopBdp::new(&Values::new(), setup);
            assert_eq!(rows(&hop)[2], [1518, 1518, 3160]);
            assert_eq!(rows(&hop.scaled(Ratio::new(1, 2).unwrap()))[2], [1518, 1518, 1580]);
            let given = HopBdp::new(&with_rtt("100ns"), setup);
            assert_eq!(rows(&given)[2], [125, 500, 1250]);
        });
    }

    #[test]
    fn a_threshold_that_no_frame_fits_into_is_refused() {
        at([(10, 0), (40, 0), (100, 0)], Time::ZERO, |setup| {
            let refused = |setup: &NodeSetup<'_>, rtt| {
                HopBdp::new(&with_rtt(rtt), setup).check("x", setup).err().map(|e| e.0)
            };
            assert_eq!(refused(setup, "122ns"), None, "1525 B at 100 Gb/s");
            let error = refused(setup, "121ns").expect("1512 B");
            assert!(error.contains("1512 B") && error.contains("1518"), "{error}");
            let nic = NodeSetup { role: Role::Nic, ..setup.clone() };
            assert_eq!(refused(&nic, "121ns"), None, "a NIC has no such thresholds");
            let small = HopBdp::new(&Values::new(), setup).scaled(Ratio::new(1, 100).unwrap());
            assert!(small.check("x", setup).is_err(), "however the round trip came about");
        });
    }
}
