//! The OFC paper's Fig. 1: F0 and F1 share the way Sa - Sb - Sc; at Sc F1 meets six bursts at P_d,
//! F0 leaves by P_b, which is free.

use crate::common::{config, flow, run, set};
use weir_core::{Bytes, NodeId, Time};
use weir_net::Topology;
use weir_net::build::{self, ofc_chain};
use weir_sim::Outcome;
use weir_sim::config::{IngressLimit, ThresholdConfig};
use weir_sim::outcome::{DropReason, FlowRecord, PauseEvent, PauseScope};
use weir_traffic::FlowSpec;

fn topology() -> Topology {
    build::ofc_chain::build(&ofc_chain::Params::default()).expect("builds")
}

fn flows() -> Vec<FlowSpec> {
    let mut flows = vec![flow(0, 8, 4_200_000), flow(1, 9, 4_200_000)];
    flows.extend((2..8).map(|h| flow(h, 9, 150_000)));
    flows
}

fn fig1(scheme: &str, options: &[(&str, &str)]) -> Outcome {
    let mut cfg = config(scheme);
    options.iter().for_each(|(name, value)| set(&mut cfg, name, value));
    let out = run(&topology(), &flows(), &cfg);
    assert_eq!((out.totals.dropped, out.totals.completed), (0, 8), "{scheme}");
    out
}

/// How long a flow was held at the egress of `node`.
fn held_at(f: &FlowRecord, node: NodeId) -> Time {
    f.held().iter().filter(|h| h.node == node).map(|h| h.time).sum()
}

fn fct(out: &Outcome, flow: usize) -> Time {
    out.flows[flow].fct().expect("completed")
}

/// Under OFC the root's pauses never hold F0: not once at Sb, whose next hop is the root's switch.
///
/// One pause does name F0, of Sb to Sa, and nobody holds Sb's egress then. While F1 was paused, Sb
/// gave its 68 KB of F1 away in short drains and took F0 in for it at the same rate. When F1 is let
/// go for good, 68 KB of F0 are left, more than the lower threshold at ingress and egress of a port
/// that is not paused: by Algorithm 1 that is congestion of its own. F0 is held until
/// they have shrunk to 45 KB. At the line's 5 B/ns that takes, with what is in flight,
/// (68 000 + 1518 + 3360 - 45 000) / 5 = 5.6 us, and at most 0.35 us for the RESUME to arrive.
#[test]
fn ofc_spares_the_victim_all_but_one_pause_and_pfc_does_not() {
    let topology = topology();
    let [sa, sb] = ["Sa", "Sb"].map(|name| topology.find(name).expect("a switch"));
    for options in [&[][..], &[("flow-key", "pair")]] {
        let out = fig1("ofc", options);
        let urgent = |p: &&PauseEvent| p.scope == PauseScope::Priority;
        assert_eq!(out.pauses.iter().find(urgent), None, "no urgent state");
        let f0 = &out.flows[0];
        assert_eq!(held_at(f0, sb), Time::ZERO);
        assert!(held_at(f0, sa) <= Time::from_ps(5_950_000), "{}", held_at(f0, sa));
        let own = |p: &&PauseEvent| p.node == sb && p.pause && !p.cause_held;
        assert_eq!(out.pauses.iter().filter(own).count(), 1);
        assert!(held_at(&out.flows[1], sb) > Time::from_us(50), "F1 is paused by the root");
    }
    let out = fig1("pfc", &[]);
    for switch in [sa, sb] {
        assert!(held_at(&out.flows[0], switch) > Time::from_us(100));
    }
}

/// That one pause belongs to OFC: every reading of its listings under which all flows get through
/// has it.
#[test]
fn no_reading_of_ofc_spares_the_victim_its_one_pause() {
    let sa = topology().find("Sa").expect("a switch");
    let readings = [
        ("rotation", "modulo"),
        ("during-drain", "at-once"),
        ("origin-test", "receipt"),
        ("scope", "port"),
        ("urgent-wildcard", "false"),
    ];
    for reading in readings {
        let held = held_at(&fig1("ofc", &[reading]).flows[0], sa);
        assert!(held > Time::from_us(4), "{reading:?}: {held}");
    }
}

/// Table I's order: OFC's F0 before OFC's F1, both before PFC's, which end together. No other
/// scheme that pauses whole priorities or ports brings F0 in before OFC, and with a queue per flow
/// (ideal flow control) it is 2 to 3 % faster.
#[test]
fn the_schemes_finish_the_victim_in_table_is_order() {
    let (pfc, ofc) = (fig1("pfc", &[]), fig1("ofc", &[]));
    assert!(fct(&ofc, 0) < fct(&ofc, 1) && fct(&ofc, 1) < fct(&pfc, 1));
    let apart = fct(&pfc, 0).max(fct(&pfc, 1)) - fct(&pfc, 0).min(fct(&pfc, 1));
    assert!(apart < Time::from_us(1), "PFC: {apart}");
    let others: [(&str, &[(&str, &str)]); 6] = [
        ("pfc", &[]),
        ("capfc", &[]),
        ("ppfc", &[]),
        ("gfc", &[]),
        ("gfc", &[("mode", "ofc")]),
        ("gpfc", &[]),
    ];
    for (scheme, options) in others {
        let f0 = fct(&fig1(scheme, options), 0);
        assert!(fct(&ofc, 0) + Time::from_us(100) < f0, "{scheme} {options:?}: {f0}");
    }
    let ideal = fct(&fig1("ideal", &[]), 0);
    let f0 = fct(&ofc, 0);
    assert!(ideal * 102 < f0 * 100 && f0 * 100 < ideal * 103, "OFC {f0}, ideal {ideal}");
}

/// Without pauses an ingress may use the memory as it is, whatever `xoff` says to others: memory
/// for what there is at the worst moment is enough, and a byte less is not.
#[test]
fn without_flow_control_only_a_full_memory_drops() {
    let with_memory = |buffer: Bytes| {
        let mut cfg = config("none");
        cfg.switch.buffer = buffer;
        cfg.nic.timeout = Some(Time::from_ms(1));
        let out = run(&topology(), &flows(), &cfg);
        assert_eq!(out.totals.completed, 8);
        out
    };
    let out = with_memory(Bytes::MAX);
    assert_eq!(out.totals.dropped, 0);
    let peak = out.switches.iter().map(|s| s.peak_buffer).max().expect("three switches");
    // F0 and F1, 2800 packets each, come into Sa at the same time and leave by one link: when the
    // last two come in, as many have left as frame times have passed since the first two
    assert_eq!(peak, Bytes::new((2 * 2800 - 2799) * 1518));
    assert_eq!(with_memory(peak).totals.dropped, 0);
    let out = with_memory(peak - Bytes::new(1));
    assert!(out.totals.dropped > 0);
    assert!(out.drops.iter().all(|d| d.reason == DropReason::BufferFull), "{:?}", out.drops);
}

/// A limit that is given in bytes is the scenario's word on the memory, and holds for all.
#[test]
fn a_limit_in_bytes_holds_without_flow_control_too() {
    let mut cfg = config("none");
    let (xoff, xon) = (Bytes::from_kb(75), Bytes::from_kb(45));
    let limit = IngressLimit::Bytes(Bytes::from_kb(100));
    cfg.switch.thresholds = ThresholdConfig::Static { xoff, xon, limit };
    cfg.nic.timeout = Some(Time::from_ms(1));
    let out = run(&topology(), &flows(), &cfg);
    assert!(out.totals.dropped > 0);
    assert!(out.drops.iter().all(|d| d.reason == DropReason::HeadroomExceeded), "{:?}", out.drops);
}

/// Entries of OFC's tables, 24, 8 and 16 B each: the most in one switch, and the sum over the three
/// switches of the most in each.
///
/// Sa and Sb have F0 and F1; Sc has F1 and the six bursts, and F0 while one of its packets is
/// stored, which looks every 10 us need not meet. Sc pauses F1 to F7, Sb and Sa pass the pause of
/// F1 on, and Sb names F0 once (see above), when Sc names nobody: an entry more in Sb's pause table
/// and in Sa's list of congested flows.
#[test]
fn the_tables_hold_what_the_flows_need() {
    let out = fig1("ofc", &[]);
    let largest = |table: usize, entry: u64| {
        let each = out.switches.iter().map(|s| s.tables[table].max / entry);
        (each.clone().max().unwrap_or(0), each.sum::<u64>())
    };
    let names: Vec<&str> = out.switches[0].tables.iter().map(|t| t.name).collect();
    assert_eq!(names, ["flow_in_port_tab", "congested_flow_tab", "pause_frame_tab"]);
    assert_eq!([largest(0, 24), largest(1, 8), largest(2, 16)], [(7, 11), (2, 3), (7, 10)]);
}
