//! Hosts around one switch.
//!
//! ```text
//!   h0 --+
//!   h1 --sw0
//!   h2 --+
//! ```

use super::params::{check_count, check_rate};
use crate::limits::check_size;
use crate::{Layer, Topology, TopologyBuilder, TopologyError};
use weir_core::{Rate, Time};

topology! {
    name: "star",
    doc: "Hosts around one switch: the smallest network with an incast.",
    /// Number of hosts.
    hosts: u32 = "9",
    /// Speed of every link.
    rate: Rate = "100Gbps",
    /// Propagation delay of every link.
    delay: Time = "1us",
}

/// Builds it. Hosts are `h0`, `h1`, ...; the switch is `sw0`, its port `i` leads to host `i`.
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    check_count("hosts", p.hosts, 1..=65_535)?;
    check_rate("rate", p.rate)?;
    check_size(u128::from(p.hosts) + 1, u128::from(p.hosts))?;
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(p.hosts);
    let switch = b.add_switch("sw0", Layer::Tor, 0);
    for host in hosts {
        b.connect(host, switch, p.rate, p.delay);
    }
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, neighbours};
    use crate::limits::{MAX_RATE, MIN_RATE};

    #[test]
    fn each_host_has_one_link_to_the_switch() {
        let topo = build(&Params { hosts: 5, ..Params::default() }).unwrap();
        assert_eq!((topo.hosts().len(), topo.links().len()), (5, 5));
        assert_eq!(neighbours(&topo, "sw0"), ["h0", "h1", "h2", "h3", "h4"]);
        assert_eq!(hops(&topo, &Routes::ecmp(&topo, &[]), "h0", "h4"), Some(2));
    }

    #[test]
    fn the_slowest_and_the_fastest_link_are_links() {
        for rate in [MIN_RATE, MAX_RATE] {
            assert!(build(&Params { rate, ..Params::default() }).is_ok(), "{rate}");
        }
    }
}
