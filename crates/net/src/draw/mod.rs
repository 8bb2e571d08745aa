//! Pictures of topologies: layered, self-contained SVG that follows the reader's light or dark
//! setting and prints in dark on white.
//!
//! Fabrics of layers are drawn in rows with the core on top, tori as grids and other graphs as
//! circles. Hosts are named while they are few, and dots below their switch when they are many.
//! Fabrics of thousands of switches are drawn by pods.

mod layout;
mod scene;
mod svg;

use crate::topology::Topology;
use weir_core::{NodeId, PortId};

/// A port to point at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: PortId,
    /// What to write there: "P_d: original congestion".
    pub label: String,
}

/// What to put into a picture besides the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The heading; nothing if empty.
    pub title: String,
    /// Congested ports.
    pub marks: Vec<Mark>,
    /// Egress ports that wait for each other in a circle, drawn as arrows over their links.
    pub cycle: Vec<(NodeId, PortId)>,
}

/// Draws the network. Marks and arrows at ports that do not exist are left out.
///
/// ```
/// use weir_net::{build::star, draw};
/// let topo = star::build(&star::Params::default())?;
/// let svg = draw::svg(&topo, &draw::Options { title: "A star".into(), ..Default::default() });
/// assert!(svg.starts_with("<svg") && svg.contains("A star"));
/// # Ok::<(), weir_net::TopologyError>(())
/// ```
pub fn svg(topo: &Topology, options: &Options) -> String {
    let scene = scene::Scene::new(topo, &options.marks, &options.cycle);
    let layout = layout::Layout::new(&scene);
    svg::write(topo, &scene, &layout, &options.title)
}

/// Where each node would be drawn if none of them were folded together, in pixels from the top
/// left: for pictures that other programs make.
pub fn places(topo: &Topology) -> Vec<(f64, f64)> {
    let (scene, shown) = scene::Scene::bare(topo);
    let layout = layout::Layout::new(&scene);
    let place = |shown: &scene::Shown| match shown.host {
        Some(host) => layout.host(shown.item, host),
        None => (layout.boxes[shown.item].x, layout.boxes[shown.item].y),
    };
    shown.iter().map(place).collect()
}

#[cfg(test)]
mod tests;
