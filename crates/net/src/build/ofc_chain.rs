//! The motivating example of the OFC paper (Fig. 1).
//!
//! Two long-lived flows F0 and F1 share the path Sa-Sb-Sc. At Sc, F0 leaves by P_b alone while
//! F1 meets six bursts F2..F7 at P_d. PFC pauses P_a and with it F0, the victim.
//!
//! ```text
//!   h0 (F0) --+                          P_a +-- P_b -- h8 (F0)
//!             Sa ------- Sb ------------- Sc
//!   h1 (F1) --+                  h2..h7 --+ +-- P_d -- h9 (F1..F7)
//!                                (bursts)
//! ```

use super::params::{check_count, check_rate};
use crate::limits::check_size;
use crate::{Layer, Topology, TopologyBuilder, TopologyError};
use weir_core::{Rate, Time};

topology! {
    name: "ofc-chain",
    doc: "Three switches in a line with bursts at the last one: Fig. 1 of the OFC paper. \
          Ports P_a, P_b and P_d of Sc have their names from the paper.",
    /// Burst sources at the last switch.
    bursts: u32 = "6",
    /// Speed of every link.
    rate: Rate = "40Gbps",
    /// Propagation delay of every link.
    delay: Time = "20ns",
}

/// Builds it. With six bursts: `h0`, `h1` send from `Sa`; `h2`..`h7` are the bursts, `h8` (F0)
/// and `h9` (all others) the receivers, on `Sc`.
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    check_count("bursts", p.bursts, 0..=32_768)?;
    check_rate("rate", p.rate)?;
    let hosts = p.bursts + 4;
    check_size(u128::from(hosts) + 3, u128::from(hosts) + 2)?;
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(hosts);
    let sa = b.add_switch("Sa", Layer::Tor, 0);
    let sb = b.add_switch("Sb", Layer::Tor, 1);
    let sc = b.add_switch("Sc", Layer::Tor, 2);
    let links: Vec<_> = hosts
        .iter()
        .enumerate()
        .map(|(i, &host)| b.connect(host, if i < 2 { sa } else { sc }, p.rate, p.delay))
        .collect();
    b.connect(sa, sb, p.rate, p.delay);
    let into_sc = b.connect(sb, sc, p.rate, p.delay);
    b.alias("P_a", sc, into_sc);
    b.alias("P_b", sc, links[hosts.len() - 2]);
    b.alias("P_d", sc, links[hosts.len() - 1]);
    b.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use weir_core::PortId;

    #[test]
    fn it_is_wired_as_in_the_paper() {
        let topo = build(&Params::default()).unwrap();
        let id = |name: &str| topo.node_by_name(name).unwrap();
        let (sa, sb, sc) = (id("Sa"), id("Sb"), id("Sc"));
        // 10 servers: 2 on Sa, 8 on Sc; two links between switches
        assert_eq!((topo.hosts().len(), topo.links().len()), (10, 12));
        assert_eq!([sa, sb, sc].map(|s| topo.ports(s).len()), [3, 2, 9]);
        let peer = |alias: &str| {
            let (node, port) = topo.port_alias(alias).unwrap();
            (node, topo.port(node, port).peer)
        };
        assert_eq!(peer("P_a"), (sc, sb));
        assert_eq!(peer("P_b"), (sc, id("h8")));
        assert_eq!(peer("P_d"), (sc, id("h9")));
        let (node, port) = topo.port_alias("P_d").unwrap();
        assert_eq!(topo.port_name(node, port), "P_d");
        assert_eq!(topo.port_label(node, port), "Sc:P_d");
        assert_eq!(topo.port_label(sa, PortId(2)), "Sa:Sb");
        assert_eq!(topo.port_name(sa, PortId(2)), "to Sb");
        assert_eq!(topo.port_alias("P_e"), None);
    }

    #[test]
    fn the_long_flows_share_the_chain_and_the_bursts_stay_at_the_last_switch() {
        let topo = build(&Params::default()).unwrap();
        let routes = Routes::ecmp(&topo, &[]);
        let visits = |src: &str, dst: &str| -> Vec<&str> {
            let [src, dst] = [src, dst].map(|name| topo.node_by_name(name).unwrap());
            let path = routes.path(&topo, src, dst, 7).unwrap();
            path.into_iter().map(|(node, _)| topo.name(node)).collect()
        };
        assert_eq!(visits("h0", "h8"), ["h0", "Sa", "Sb", "Sc"]);
        assert_eq!(visits("h1", "h9"), ["h1", "Sa", "Sb", "Sc"]);
        assert_eq!(visits("h2", "h9"), ["h2", "Sc"]);
    }
}
