//! The `weir` command with one of each thing that a program can add: the examples of the guides,
//! a pattern and a topology.

#[path = "../../sim/examples/own_cc.rs"]
#[allow(dead_code, unused_imports, reason = "its main and tests are for itself")]
mod own_cc;
#[path = "../../sim/examples/own_probe.rs"]
#[allow(dead_code, unused_imports, reason = "its main and tests are for itself")]
mod own_probe;
#[path = "../../fc/examples/own_scheme.rs"]
#[allow(dead_code, unused_imports, reason = "its main and tests are for itself")]
mod own_scheme;

use std::process::ExitCode;
use weir::Weir;
use weir::cc::OwnCc;
use weir::core::{Bytes, NodeId, Time};
use weir::net::build::{TopologyInfo, star};
use weir::sim::probe::ProbeInfo;
use weir::traffic::catalogue::PatternInfo;
use weir::traffic::params::{Entry, Fallback, Kind, Param, Reader};
use weir::traffic::pattern::{Context, Pair, Pattern, Streams, marking};
use weir::traffic::{Fabric, TrafficError};

/// Every host sends one flow to the first one.
#[derive(Debug)]
struct Gather {
    size: Bytes,
    marking: marking::Marking,
}

static GATHER: PatternInfo = PatternInfo {
    entry: &Entry {
        name: "gather",
        doc: "Every host sends one flow to the first one.",
        groups: &[
            &[Param {
                name: "size",
                kind: Kind::Size(&[]),
                fallback: Fallback::Required,
                doc: "payload",
            }],
            marking::MARKING,
        ],
    },
    read: |r: &mut Reader<'_>| {
        let (size, marking) = (r.get("size")?, marking::Marking::read(r, "gather")?);
        Ok(Box::new(Gather { size, marking }))
    },
};

impl Pattern for Gather {
    fn check(&self, _: &Fabric) -> Result<(), TrafficError> {
        Ok(())
    }

    fn streams(&self, ctx: &Context<'_>) -> Streams {
        let (first, others) = ctx.fabric.hosts().as_slice().split_first().expect("has hosts");
        let pair = |src: &NodeId| Pair { src: *src, dst: *first, path: None };
        let flow = |src| self.marking.flow(pair(src), self.size, Time::ZERO);
        ctx.bucket(others.iter().map(flow).collect())
    }
}

/// A star of three hosts.
static TINY: TopologyInfo = TopologyInfo {
    name: "tiny",
    doc: "A star of three hosts.",
    params: &[],
    build: |_| star::build(&star::Params { hosts: 3, ..star::Params::default() }),
};

static WAITS: ProbeInfo = own_probe::WAITS;

pub(crate) fn main() -> ExitCode {
    Weir::new()
        .scheme(&own_scheme::INFO)
        .congestion_control(OwnCc::new("brake", own_cc::Brake::new))
        .pattern(&GATHER)
        .topology(&TINY)
        .probe(&WAITS)
        .main()
}
