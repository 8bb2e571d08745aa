//! Switches on a grid whose edges are joined, in one, two or three dimensions.
//!
//! ```text
//!   sw0 - sw1 - sw2 -+      and back to sw0
//!    |     |     |
//!   sw3 - sw4 - sw5 -+
//! ```
//!
//! A side of two switches is joined by one link, not two; a side of one by none.

use super::params::{check_count, check_rate};
use crate::limits::check_size;
use crate::{Layer, Topology, TopologyBuilder, TopologyError};
use weir_core::{NodeId, Rate, Time};

topology! {
    name: "torus",
    doc: "Switches on a torus of up to three dimensions, each with hosts.",
    /// Switches along the first side.
    x: u32 = "4",
    /// Switches along the second side.
    y: u32 = "4",
    /// Switches along the third side.
    z: u32 = "1",
    /// Hosts on each switch.
    hosts_per_switch: u32 = "1",
    /// Speed of every link.
    rate: Rate = "100Gbps",
    /// Propagation delay of every link.
    delay: Time = "1us",
    /// Links that have failed from the start, like `sw0-sw1`.
    failed: Vec<(String, String)> = "",
}

/// Builds it. The switch at (x, y, z) is number x + X (y + Y z).
pub fn build(p: &Params) -> Result<Topology, TopologyError> {
    let sides = [p.x, p.y, p.z];
    for (name, side) in ["x", "y", "z"].into_iter().zip(sides) {
        check_count(name, side, 1..=u32::MAX)?;
    }
    check_count("hosts-per-switch", p.hosts_per_switch, 1..=60_000)?;
    check_rate("rate", p.rate)?;
    let switches: u128 = sides.map(u128::from).iter().product();
    let hosts = switches * u128::from(p.hosts_per_switch);
    check_size(hosts + switches, hosts + 3 * switches)?;
    let mut b = TopologyBuilder::new();
    let hosts = b.add_hosts(hosts as u32);
    let switches: Vec<NodeId> = (0..switches as u32)
        .map(|i| b.add_switch(format!("sw{i}"), Layer::Other, i / p.x))
        .collect();
    for (i, &host) in hosts.iter().enumerate() {
        b.connect(host, switches[i / p.hosts_per_switch as usize], p.rate, p.delay);
    }
    for (i, &switch) in switches.iter().enumerate() {
        let at = position(i as u32, sides);
        for axis in 0..3 {
            if let Some(next) = neighbour(at, axis, sides) {
                b.connect(switch, switches[next as usize], p.rate, p.delay);
            }
        }
        let [x, y, z] = at.map(|c| c as i32);
        b.place(switch, x + z * (p.x as i32 + 1), y);
    }
    b.finish()?.without_links(&p.failed)
}

fn position(i: u32, [x, y, _]: [u32; 3]) -> [u32; 3] {
    [i % x, i / x % y, i / x / y]
}

/// The switch one step up along an axis, if there is a link of its own to it.
fn neighbour(mut at: [u32; 3], axis: usize, sides: [u32; 3]) -> Option<u32> {
    let side = sides[axis];
    let wraps = at[axis] + 1 == side;
    if side == 1 || (side == 2 && wraps) {
        return None;
    }
    at[axis] = if wraps { 0 } else { at[axis] + 1 };
    Some(at[0] + sides[0] * (at[1] + sides[1] * at[2]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Routes;
    use crate::build::testing::{hops, neighbours, with_degree};

    #[test]
    fn each_side_closes_on_itself() {
        let p = Params { x: 4, y: 3, hosts_per_switch: 2, ..Params::default() };
        let topo = build(&p).unwrap();
        // a link per switch and dimension
        assert_eq!((topo.hosts().len(), topo.links().len()), (24, 24 + 2 * 12));
        assert_eq!(with_degree(&topo, "sw", 2 + 4), 12);
        let mut around: Vec<_> = neighbours(&topo, "sw0")[2..].to_vec();
        around.sort_unstable();
        assert_eq!(around, ["sw1", "sw3", "sw4", "sw8"]);
        let routes = Routes::ecmp(&topo, &[]);
        // sw6 is at (2, 1): two steps and one; sw11 at (3, 2): one back each way
        assert_eq!(hops(&topo, &routes, "h0", "h12"), Some(2 + 3));
        assert_eq!(hops(&topo, &routes, "h0", "h22"), Some(2 + 2));
    }

    #[test]
    fn short_sides_have_no_double_links() {
        let cube = build(&Params { x: 2, y: 2, z: 2, ..Params::default() }).unwrap();
        // a cube: 8 corners, 12 edges
        assert_eq!((with_degree(&cube, "sw", 1 + 3), cube.links().len()), (8, 8 + 12));
        let line = build(&Params { x: 3, y: 1, z: 1, ..Params::default() }).unwrap();
        assert_eq!(line.links().len(), 3 + 3);
    }
}
