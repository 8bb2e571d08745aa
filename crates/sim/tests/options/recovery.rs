//! Links that fail and recover under an incast: no lossless priority may lose a packet for lack of
//! memory, whatever the ingress behind the link stores when the link is up again.

use crate::common::{config, flow, set};
use crate::draw::{Case, one_in, one_of};
use weir_core::rng::Stream;
use weir_core::{Bytes, LinkId, Rate, Response, Time};
use weir_fc::IngressBound;
use weir_net::build::{self, k_ary};
use weir_sim::config::{IngressLimit, LinkFailure, Stop, ThresholdConfig};
use weir_sim::{Config, Outcome};

/// Every scheme that bounds an ingress by stopping the neighbour: by default, or in the mode in
/// which it does.
fn bounded(s: &mut Stream) -> Config {
    let backstop: Option<(&str, &str)> = Some(("backstop", "pfc"));
    let (name, mode) = one_of(
        s,
        &[
            ("pfc", None),
            ("pfc", Some(("timer", "sticky"))),
            ("capfc", None),
            ("gpfc", None),
            ("ppfc", None),
            ("ppfc", Some(("mode", "paper"))),
            ("ofc", None),
            ("ofc", Some(("flow-key", "pair"))),
            ("gfc", Some(("mode", "ofc"))),
            ("bfc", backstop),
            ("ideal", backstop),
            ("flowsail", backstop),
            ("ffc", backstop),
        ],
    );
    let mut cfg = config(name);
    mode.iter().for_each(|(param, value)| set(&mut cfg, param, value));
    let scheme = &cfg.scheme;
    assert_eq!((scheme.info.ingress_bound)(&scheme.values), IngressBound::Pauses, "{name}");
    cfg
}

/// A fat tree in which several hosts send to a few, with the headroom that its links need and no
/// byte more, and links on the way that fail for a short time.
pub(crate) fn case(number: u64) -> Case {
    let mut s = Stream::new(number, "recovery", 0);
    let mut cfg = bounded(&mut s);
    let scheme = cfg.scheme.info.name;
    let rate = Rate::from_gbps(one_of(&mut s, &[10, 40, 100, 400]));
    let delay = Time::from_ns(s.between(1, 1500));
    let shape = k_ary::Params { rate, delay, ..k_ary::Params::default() };
    let topology = build::k_ary::build(&shape).expect("builds");
    cfg.seed = number;
    memory(&mut s, &mut cfg);
    cfg.nic.timeout = Some(Time::from_us(300));
    cfg.convergence = one_of(&mut s, &[Time::ZERO, Time::from_us(5), Time::from_us(100)]);
    cfg.failures = failures(&mut s, topology.links().len() as u64);
    cfg.stop = Stop::At(Time::from_ms(20));
    let hosts: Vec<u32> = topology.hosts().iter().map(|h| h.0).collect();
    let sinks = s.between(1, 3);
    let flows = (0..s.between(4, 24))
        .map(|_| {
            let src = s.between(sinks, hosts.len() as u64 - 1) as usize;
            let dst = s.below(sinks) as usize;
            let start = Time::from_ns(s.between(0, 20_000));
            let size = s.between(20_000, 400_000);
            weir_traffic::FlowSpec { start, ..flow(hosts[src], hosts[dst], size) }
        })
        .collect();
    let what = format!(
        "case {number}: {scheme}, {rate}, {delay}, {:?}, latency {}, {:?}, convergence {}, {:?}",
        cfg.switch.thresholds, cfg.switch.latency, cfg.link.response, cfg.convergence, cfg.failures
    );
    Case { topology, circular: false, flows, config: cfg, what }
}

fn memory(s: &mut Stream, cfg: &mut Config) {
    let xoff = s.between(10_000, 80_000);
    cfg.switch.thresholds = ThresholdConfig::Static {
        xoff: Bytes::new(xoff),
        xon: Bytes::new(xoff * s.between(10, 85) / 100),
        limit: IngressLimit::Lossless,
    };
    // what the limits of all ingresses add up to, and more
    cfg.switch.buffer = Bytes::new(64_000_000);
    cfg.switch.latency = one_of(s, &[Time::ZERO, Time::from_ns(500)]);
    cfg.link.response = match s.below(3) {
        0 => Response::Standard,
        1 => Time::from_ns(700).into(),
        _ => Time::ZERO.into(),
    };
}

/// Most outages are shorter than a queue behind a pause takes to drain.
fn failures(s: &mut Stream, links: u64) -> Vec<LinkFailure> {
    (0..s.between(1, 12))
        .map(|_| {
            let down = Time::from_ns(s.between(0, 120_000));
            let longest = one_of(s, &[300, 3_000, 50_000]);
            let up = down + Time::from_ns(s.between(1, longest));
            let up = (!one_in(s, 20)).then_some(up);
            LinkFailure { link: LinkId(s.below(links) as u32), down, up }
        })
        .collect()
}

/// Packets of lossless priorities that found no room.
pub(crate) fn lost(case: &Case, out: &Outcome) -> u64 {
    let lossless = case.config.switch.lossless;
    let broken = out.drops.iter().filter(|d| d.reason.breaks_losslessness());
    broken.filter(|d| lossless.contains(d.priority)).map(|d| d.packets).sum()
}
