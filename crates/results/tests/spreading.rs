//! How far congestion spreads under OFC in a whole network, and whom it takes with it.
//!
//! ```text
//!   g, u, v0, v1 ─ S0 ═══ S1 ═══ S2 ═══ S3 ─┬─ hot   (g, b0, b1, b2)
//!                         │      ║│         └─ r0 (v0), r2 (v2)
//!                  v2, r1 (v1)   ║└─ hot2 (u or w, c0, c1, c2)
//!                                S4 ─ w
//! ```
//!
//! Hosts have 40 Gb/s and trunks 200 Gb/s, so that the only congested ports are those to `hot` and
//! to `hot2`. Of what passes these trunks only g (and u or w) is guilty of it.

use weir_core::Time;
use weir_results::comparison::Comparison;
use weir_results::findings::PauseTree;
use weir_results::run::{Meter, run_all};
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_sim::outcome::{FlowRecord, PauseScope};

/// Between the lower threshold and `xoff` there is room for what is in flight at 200 Gb/s and for
/// what the innocent have in the buffer: the urgent state must not occur.
const CHAIN: &str = r#"
name = "chain"

[topology]
kind = "explicit"
switches = ["S0", "S1", "S2", "S3", "S4"]
hosts = [
    "g", "u", "v0", "v1", "v2", "w", "r0", "r1", "r2",
    "hot", "b0", "b1", "b2", "hot2", "c0", "c1", "c2",
]
links = [
    "S0 S1 200Gbps", "S1 S2 200Gbps", "S2 S3 200Gbps", "S4 S2 200Gbps",
    "g S0", "u S0", "v0 S0", "v1 S0", "v2 S1", "r1 S1", "w S4",
    "r0 S3", "r2 S3", "hot S3", "b0 S3", "b1 S3", "b2 S3",
    "hot2 S2", "c0 S2", "c1 S2", "c2 S2",
]
rate = "40Gbps"
delay = "20ns"

[switch]
thresholds = { xoff = "150KB", xon = "45KB" }

[flow-control.ofc]
xoff-congested = "68KB"
"#;

/// Who sends how much to whom.
type Flows = &'static [(&'static str, &'static str, &'static str)];

const VICTIMS: Flows = &[("v0", "r0", "3MB"), ("v1", "r1", "3MB"), ("v2", "r2", "3MB")];
/// The bursts take 480 us to leave by `hot`.
const FIRST: Flows =
    &[("g", "hot", "2MB"), ("b0", "hot", "800KB"), ("b1", "hot", "800KB"), ("b2", "hot", "800KB")];
/// These take 60 us.
const BURSTS: Flows = &[("c0", "hot2", "100KB"), ("c1", "hot2", "100KB"), ("c2", "hot2", "100KB")];
const BY_THE_CHAIN: Flows = &[("u", "hot2", "2MB")];
const BY_ITS_OWN_TRUNK: Flows = &[("w", "hot2", "2MB")];

/// One run of a scheme on these flows.
fn on_the_chain(scheme: &str, flows: &[Flows], check: impl FnOnce(&Experiment, &Comparison<'_>)) {
    let mut text = CHAIN.to_owned();
    for (from, to, size) in flows.iter().copied().flatten() {
        text += &format!(
            "[[traffic]]\nclass = \"{from}\"\nkind = \"flow\"\nfrom = \"{from}\"\nto = \
             \"{to}\"\nsize = \"{size}\"\n"
        );
    }
    let e =
        Experiment::read("chain", &text, Files::default(), &[]).unwrap_or_else(|p| panic!("{p}"));
    let variants = [e.variant(Some(scheme), None, 1).expect("a known scheme")];
    let runs = run_all(&e, &variants, 1, &Meter::new(1));
    let runs = runs.into_iter().map(|r| r.expect("not interrupted").expect("a valid run"));
    let c = Comparison::new(&e, runs.collect());
    let outcome = &c.runs().next().expect("one run").outcome;
    let urgent = outcome.pauses.iter().filter(|p| p.scope == PauseScope::Priority).count();
    assert_eq!((outcome.totals.dropped, outcome.pauses_left_out), (0, 0));
    assert!(scheme == "pfc" || urgent == 0, "{urgent} pauses of everything");
    check(&e, &c);
}

/// The flow from the host called `src`.
fn flow<'a>(e: &Experiment, c: &'a Comparison<'_>, src: &str) -> &'a FlowRecord {
    let flows = &c.runs().next().expect("one run").outcome.flows;
    flows.iter().find(|f| e.topology.name(f.src()) == src).expect("a flow of this host")
}

fn fct(scheme: &str, flows: &[Flows], src: &str) -> Time {
    let mut time = Time::ZERO;
    on_the_chain(scheme, flows, |e, c| time = flow(e, c, src).fct().expect("done"));
    time
}

/// Root, depth and victims of each pause tree.
fn trees(e: &Experiment, c: &Comparison<'_>) -> Vec<(String, usize, Vec<String>)> {
    let trees = c.runs().next().expect("one run").pause_trees(e);
    let each = |t: &PauseTree| {
        let root = t.root.expect("a known cause").name(&e.topology);
        let victims = t.victims.iter().map(|v| e.topology.name(v.src).to_owned()).collect();
        (root, t.depth(), victims)
    };
    let mut all: Vec<_> = trees.iter().map(each).collect();
    all.sort();
    all
}

/// The root names g. Every switch above passes that name on and no other: g is held at each hop up
/// to its own card, the others not for a picosecond anywhere. PFC takes them all along.
#[test]
fn upstream_switches_pause_only_what_the_root_names() {
    on_the_chain("ofc", &[FIRST, VICTIMS], |e, c| {
        let guilty = flow(e, c, "g");
        let at: Vec<&str> = guilty
            .held()
            .iter()
            .filter(|h| h.time > Time::from_us(100))
            .map(|h| e.topology.name(h.node))
            .collect();
        assert_eq!(at, ["g", "S0", "S1", "S2"]);
        for src in ["v0", "v1", "v2"] {
            assert_eq!(flow(e, c, src).held_total(), Time::ZERO, "{src}");
        }
        assert_eq!(trees(e, c), [("S3 to hot".to_owned(), 4, vec![])]);
    });
    on_the_chain("pfc", &[FIRST, VICTIMS], |e, c| {
        for src in ["v0", "v1", "v2"] {
            assert!(flow(e, c, src).held_total() > Time::from_us(400), "{src}");
        }
        let all = trees(e, c);
        let (_, depth, victims) = all.iter().find(|t| t.0 == "S3 to hot").expect("a tree");
        assert_eq!((*depth, victims.len()), (4, 3));
    });
}

/// Two trees that meet in one switch: neither holds the other's flows, and both go on as if they
/// were alone.
#[test]
fn two_trees_in_one_switch_stay_apart() {
    let both = [FIRST, BURSTS, BY_ITS_OWN_TRUNK, VICTIMS];
    on_the_chain("ofc", &both, |e, c| {
        // w is held at S4 and at its own card
        let roots = [("S2 to hot2".to_owned(), 2, vec![]), ("S3 to hot".to_owned(), 4, vec![])];
        assert_eq!(trees(e, c), roots);
        for src in ["v0", "v1", "v2"] {
            assert_eq!(flow(e, c, src).held_total(), Time::ZERO, "{src}");
        }
        assert_eq!(flow(e, c, "g").fct(), Some(fct("ofc", &[FIRST, VICTIMS], "g")));
        let alone = fct("ofc", &[BURSTS, BY_ITS_OWN_TRUNK], "w");
        assert_eq!(flow(e, c, "w").fct(), Some(alone));
    });
}

/// Two trees that share trunks: still none of the innocent is held, and g ends as if alone. But an
/// ingress sends one RESUME for all it has paused, when it has drained as a whole (Algorithm 1,
/// lines 16 to 20): u, whose congestion is soon over, waits for g's bytes to leave S2. That costs
/// it less than a quarter of its time; under PFC it takes twice as long as alone.
#[test]
fn trees_that_share_an_ingress_share_its_resume() {
    let alone = fct("ofc", &[BURSTS, BY_THE_CHAIN], "u");
    let both = [FIRST, BURSTS, BY_THE_CHAIN, VICTIMS];
    on_the_chain("ofc", &both, |e, c| {
        let roots: Vec<String> = trees(e, c).into_iter().map(|t| t.0).collect();
        assert_eq!(roots, ["S2 to hot2", "S3 to hot"]);
        for src in ["v0", "v1", "v2"] {
            assert_eq!(flow(e, c, src).held_total(), Time::ZERO, "{src}");
        }
        assert_eq!(flow(e, c, "g").fct(), Some(fct("ofc", &[FIRST, VICTIMS], "g")));
        let u = flow(e, c, "u").fct().expect("done");
        assert!(u > alone + Time::from_us(20) && u * 4 < alone * 5, "{u}, alone {alone}");
    });
    assert!(fct("pfc", &both, "u") > alone * 2);
}
