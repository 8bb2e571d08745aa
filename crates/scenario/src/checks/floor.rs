//! Schemes that slow a neighbour down but never stop it, where buffers wait for each other.

use crate::experiment::{Experiment, Variant};
use crate::text::{Diagnostic, Diagnostics};
use weir_core::{Bytes, Rate};
use weir_fc::{IngressBound, gfc};
use weir_net::analysis::{BufferGraph, CyclicDependency, rises_then_falls};
use weir_sim::config::{IngressLimit, Stop, ThresholdConfig};

/// The most hosts of a network in which circles are looked for.
const MOST_HOSTS: usize = 4096;

/// Whether buffers can wait for each other in a circle.
#[derive(Clone, Debug)]
pub enum Circle {
    /// They cannot.
    None,
    /// They can: this is one circle.
    Found(CyclicDependency),
    /// The network is too large to look for one.
    NotLookedFor,
}

/// A circle of buffers that the routes and paths of an experiment make.
pub fn circle(e: &Experiment) -> Circle {
    if e.topology.hosts().len() > MOST_HOSTS {
        return Circle::NotLookedFor;
    }
    if e.paths.is_empty() && rises_then_falls(&e.topology, e.routes()) {
        return Circle::None;
    }
    let mut graph = BufferGraph::new(&e.topology);
    let priority = crate::experiment::default_priority(&e.scenario);
    for path in &e.paths {
        if let Ok(path) = weir_net::validate_path(&e.topology, &path.nodes) {
            graph.add_path(&path, priority);
        }
    }
    graph.add_routes(e.routes(), priority);
    graph.cycles().into_iter().next().map_or(Circle::None, Circle::Found)
}

/// A rate that is never zero fills any buffer in the end, if nothing leaves it.
///
/// In a circle of buffers, an egress whose rate is down to the floor r may be fed by several
/// ingresses whose rates are down to it, too: more comes than goes, for as long as that lasts.
/// The room above B_m, two frames, takes at least (two frames) / r to fill. Without a circle the
/// rate of some egress is not limited, and those before it rise again in turn.
pub fn floor(e: &Experiment, variant: Variant, out: &mut Diagnostics) {
    let config = e.config(variant);
    let (info, values) = (config.scheme.info, &config.scheme.values);
    let limited = match config.switch.thresholds {
        ThresholdConfig::Pool => false,
        ThresholdConfig::Static { limit, .. } => limit != IngressLimit::Unlimited,
        ThresholdConfig::PerSpeed { .. } | ThresholdConfig::Dynamic { .. } => true,
    };
    if (info.ingress_bound)(values) != IngressBound::Slows || !limited {
        return;
    }
    let (Circle::Found(circle), Some(least)) = (circle(e), values.rate(&gfc::MIN_RATE)) else {
        return;
    };
    let room = two_frames(e);
    let fills_in = least.max(Rate::from_bps(1)).time_for(room);
    if matches!(config.stop, Stop::At(end) if end < fills_in) {
        return;
    }
    let title =
        format!("{} cannot guarantee losslessness with a cyclic buffer dependency", info.title);
    let warning = Diagnostic::warning(title).help(format!(
        "the cycle is {}: an ingress in it can receive {least} while no packet leaves, and so use \
         up {room} above b-m within {fills_in} or more",
        circle.describe(&e.topology),
    ));
    let help =
        "end the run before that, or write `thresholds = { xoff = .., limit = \"unlimited\" }`";
    out.push(warning.help(help));
}

fn two_frames(e: &Experiment) -> Bytes {
    let frame = e.scenario.nic.config.max_frame();
    frame + frame
}
