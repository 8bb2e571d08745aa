//! The check on networks whose answer is known by hand.

use weir_core::{LinkId, NodeId, PortId};
use weir_lint::failures::{Fabric, Method};
use weir_lint::{Dependencies, Rerouting, Tables, fib, routes_of};
use weir_net::Topology;
use weir_net::build::{k_ary, leaf_spine, ring, torus};

const ALL: usize = 1_000_000;

fn fabric(topo: &Topology, how: Rerouting) -> Fabric<'_> {
    Fabric { topo, how, down: &[], paths: &[] }
}

/// How many sets of each size lead to a cycle, and of how many.
fn cyclic(fabric: &Fabric<'_>, failures: usize) -> Vec<(u128, u128)> {
    let levels = fabric.levels(failures, ALL);
    let count = |level: &weir_lint::failures::Level| {
        assert_ne!(level.method, Method::Sample);
        (level.stands_for(fabric.cyclic(&level.sets).into_iter()), level.total)
    };
    levels.iter().map(count).collect()
}

fn link(topo: &Topology, a: &str, b: &str) -> LinkId {
    let [a, b] = [a, b].map(|name| topo.node_by_name(name).expect("a node"));
    topo.links_between(a, b).expect("a link")[0]
}

fn e4() -> Topology {
    let failed = [("spine0", "leaf0"), ("spine1", "leaf2")];
    let failed = failed.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
    leaf_spine::build(&leaf_spine::Params { failed, ..Default::default() }).expect("a fabric")
}

#[test]
fn a_ring_can_deadlock_in_both_directions_until_a_link_fails() {
    let topo = ring::build(&ring::Params::default()).expect("a ring");
    let ecmp = fabric(&topo, Rerouting::Shortest);
    let cycles = ecmp.cycles(&[]);
    assert_eq!(cycles.iter().map(|c| c.hops.len()).collect::<Vec<_>>(), [4, 4]);
    let mut around: Vec<String> = cycles.iter().map(|c| c.describe(&topo)).collect();
    around.sort();
    assert_eq!(around, ["sw0 -> sw1 -> sw2 -> sw3 -> sw0", "sw0 -> sw3 -> sw2 -> sw1 -> sw0"]);
    // without a link a ring is a line
    assert_eq!(cyclic(&ecmp, 1), [(0, 4)]);
    assert!(fabric(&topo, Rerouting::UpDown).cycles(&[]).is_empty());
}

#[test]
fn each_step_of_a_cycle_names_a_flow_that_makes_it() {
    let topo = ring::build(&ring::Params::default()).expect("a ring");
    let tables = Tables::routed(&topo, Rerouting::Shortest, &[]);
    for cycle in fabric(&topo, Rerouting::Shortest).cycles(&[]) {
        let steps = routes_of(&topo, &tables, &[], &cycle);
        assert_eq!(steps.len(), 4);
        for (i, flows) in steps.iter().enumerate() {
            // two links on: the only flows of a ring of four that use two links
            let (a, b) = (cycle.hops[i].from, cycle.hops[(i + 1) % 4].from);
            assert_eq!(flows[0].nodes.len(), 5);
            assert!(flows[0].nodes.windows(2).any(|w| w == [a, b]));
        }
    }
}

/// OFC's deadlock experiment: leaf2 reaches leaf0 only by bouncing at leaf1 or leaf3.
#[test]
fn two_failed_links_make_the_cycle_of_ofcs_deadlock_experiment() {
    let topo = e4();
    let cycles = fabric(&topo, Rerouting::Shortest).cycles(&[]);
    let names: Vec<String> = cycles.iter().map(|c| c.describe(&topo)).collect();
    let rotations = ["spine0 -> leaf1 -> spine1 -> leaf3", "leaf1 -> spine1 -> leaf3 -> spine0"];
    assert!(cycles.iter().all(|c| c.hops.len() == 4), "{names:?}");
    assert!(names.iter().any(|n| rotations.iter().any(|r| n.contains(r))), "{names:?}");
    assert!(fabric(&topo, Rerouting::UpDown).cycles(&[]).is_empty());
}

/// Without paths of their own, f1 and f2 of the experiment bounce by shortest paths; with the
/// static paths of its scenario alone the same cycle appears.
#[test]
fn static_paths_count() {
    let topo = e4();
    let ports = |names: &[&str]| -> Vec<(NodeId, PortId)> {
        let nodes: Vec<NodeId> =
            names.iter().map(|n| topo.node_by_name(n).expect("a node")).collect();
        weir_net::validate_path(&topo, &nodes).expect("a path")
    };
    let paths = [
        ports(&["h16", "leaf2", "spine0", "leaf1", "spine1", "leaf0", "h0"]),
        ports(&["h0", "leaf0", "spine1", "leaf3", "spine0", "leaf2", "h16"]),
        ports(&["h8", "leaf1", "spine1", "leaf3", "h24"]),
        ports(&["h24", "leaf3", "spine0", "leaf1", "h8"]),
    ];
    let cycles = |paths: &[Vec<(NodeId, PortId)>]| {
        let mut graph = Dependencies::new(&topo);
        paths.iter().for_each(|p| graph.add_path(p));
        graph.cycles().len()
    };
    assert_eq!(cycles(&paths), 1);
    // each of the four is needed
    for left_out in 0..4 {
        let mut rest = paths.to_vec();
        rest.remove(left_out);
        assert_eq!(cycles(&rest), 0);
    }
    // up-down routes do not help where static paths close the cycle, unless one of them is cut
    let how = Rerouting::UpDown;
    let with_paths = Fabric { topo: &topo, how, down: &[], paths: &paths };
    assert_eq!(with_paths.cycles(&[]).len(), 1);
    assert_eq!(with_paths.cycles(&[link(&topo, "leaf1", "spine1")]).len(), 0);
}

/// In a fat-tree for k = 4, a ToR that has lost its link to one plane and a ToR of another pod that
/// has lost its link to the other reach each other only by going down and up again.
#[test]
fn a_fat_tree_has_cycles_only_after_two_failures_and_only_on_shortest_paths() {
    let topo = k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).expect("a fat-tree");
    let ecmp = fabric(&topo, Rerouting::Shortest);
    assert!(ecmp.cycles(&[]).is_empty());
    let found = cyclic(&ecmp, 2);
    // 32 links between switches, 496 pairs of them
    assert_eq!(found[0], (0, 32));
    assert_eq!(found[1].1, 496);
    // a link ToR-agg of each of two pods, in different planes: 6 pairs of pods x 2 x 2 ToRs x 2
    // orders = 48; or of two ToRs of one pod, in different planes: 4 pods x 2 = 8
    assert_eq!(found[1].0, 56);
    let pair = [link(&topo, "tor0", "agg0"), link(&topo, "tor2", "agg3")];
    assert!(!ecmp.cycles(&pair).is_empty());
    assert_eq!(cyclic(&fabric(&topo, Rerouting::UpDown), 2), [(0, 32), (0, 496)]);
}

#[test]
fn a_leaf_spine_bounces_into_a_cycle_after_two_failures() {
    let topo = leaf_spine::build(&leaf_spine::Params::default()).expect("a leaf-spine");
    let bounce = fabric(&topo, Rerouting::Bounce);
    assert!(bounce.cycles(&[]).is_empty());
    let found = cyclic(&bounce, 2);
    assert_eq!(found[0], (0, 8));
    // spine0 without leaf A, spine1 without leaf B: A and B differ (4 x 3 pairs of links of 28)
    assert_eq!(found[1], (12, 28));
    let pair = [link(&topo, "spine0", "leaf0"), link(&topo, "spine1", "leaf2")];
    let cycle = &bounce.cycles(&pair)[0];
    assert_eq!(cycle.hops.len(), 4);
    assert_eq!(cyclic(&fabric(&topo, Rerouting::UpDown), 2), [(0, 8), (0, 28)]);
}

#[test]
fn a_torus_can_deadlock_unless_it_is_routed_up_and_down() {
    let topo = torus::build(&torus::Params::default()).expect("a torus");
    let ecmp = fabric(&topo, Rerouting::Shortest);
    assert!(!ecmp.cycles(&[]).is_empty());
    assert_eq!(cyclic(&ecmp, 1), [(32, 32)]);
    assert_eq!(cyclic(&fabric(&topo, Rerouting::UpDown), 1), [(0, 32)]);
}

/// One set of each kind stands for all: both ways of counting agree.
#[test]
fn sets_that_stand_for_others_give_the_counts_of_all_sets() {
    let trees = k_ary::build(&k_ary::Params { k: 4, ..Default::default() }).expect("a fat-tree");
    let ring = ring::build(&ring::Params { switches: 7, ..Default::default() }).expect("a ring");
    let down = [link(&trees, "tor0", "agg0")];
    for (topo, down) in [(&trees, &[][..]), (&trees, &down), (&ring, &[])] {
        let fabric = Fabric { topo, how: Rerouting::Shortest, down, paths: &[] };
        let plain = fabric.levels(2, ALL);
        let kinds = fabric.levels_by_kind(2);
        for (plain, kinds) in plain.iter().zip(&kinds) {
            assert_eq!((plain.method, kinds.method), (Method::All, Method::Symmetry));
            assert!(kinds.sets.len() < plain.sets.len());
            assert_eq!(kinds.stands_for(kinds.sets.iter()), plain.total);
            let count =
                |l: &weir_lint::failures::Level| l.stands_for(fabric.cyclic(&l.sets).into_iter());
            assert_eq!(count(plain), count(kinds), "{} links", plain.size);
        }
    }
}

#[test]
fn too_many_sets_are_sampled_and_said_to_be() {
    let topo = torus::build(&torus::Params { x: 7, y: 6, ..Default::default() }).expect("a torus");
    let ecmp = fabric(&topo, Rerouting::Shortest);
    // 84 links: 95 284 triples
    let levels = ecmp.levels(3, 100);
    let last = &levels[2];
    assert_eq!((last.method, last.total, last.sets.len()), (Method::Sample, 95_284, 100));
    assert_eq!(levels, ecmp.levels(3, 100), "always the same sample");
}

/// k = 16: 2048 links between switches in two kinds, so three tables are made instead of 2049.
#[test]
fn all_single_failures_of_a_large_fat_tree_are_two_kinds() {
    let topo = k_ary::build(&k_ary::Params { k: 16, ..Default::default() }).expect("a fat-tree");
    let ecmp = fabric(&topo, Rerouting::Shortest);
    let levels = ecmp.levels(1, ALL);
    let level = &levels[0];
    assert_eq!((level.method, level.total, level.sets.len()), (Method::Symmetry, 2048, 2));
    assert!(ecmp.cyclic(&level.sets).is_empty());
}

fn dump(topo: &Topology, tables: &Tables) -> Vec<(String, String)> {
    let line = |n: NodeId, d: usize| {
        let ports: Vec<String> = tables.ports(n, d).iter().map(|p| format!("p{}", p.0)).collect();
        let hosts = tables.destinations()[d].hosts.iter();
        let line = |h: &NodeId| format!("{} {}\n", topo.name(*h), ports.join(" "));
        if ports.is_empty() { String::new() } else { hosts.map(line).collect() }
    };
    let file = |n: NodeId| {
        let text: String = (0..tables.destinations().len()).map(|d| line(n, d)).collect();
        (format!("dump/{}.fib", topo.name(n)), text)
    };
    topo.switches().map(file).collect()
}

#[test]
fn dumped_tables_give_the_answer_of_the_routes_they_were_dumped_from() {
    for (topo, how, cycles) in [
        (e4(), Rerouting::Shortest, true),
        (e4(), Rerouting::UpDown, false),
        (ring::build(&ring::Params::default()).expect("a ring"), Rerouting::Shortest, true),
    ] {
        let files = dump(&topo, &Tables::routed(&topo, how, &[]));
        let tables = fib::read(&topo, &files).expect("a dump");
        let mut graph = Dependencies::new(&topo);
        graph.add_tables(&tables);
        assert_eq!(graph.is_cyclic(), cycles);
        assert_eq!(fib::oddities(&topo, &tables, &[]), fib::Oddities::default());
    }
}

#[test]
fn a_dump_with_a_loop_or_a_hole_is_told_of() {
    let topo = leaf_spine::build(&leaf_spine::Params::default()).expect("a leaf-spine");
    let mut files: Vec<(String, String)> = topo
        .switches()
        .map(|n| {
            let leaf = topo.name(n).starts_with("leaf");
            let text = if leaf {
                "default spine0 # up\n"
            } else {
                "leaf0 leaf0\nleaf1 leaf1\n\
                leaf2 leaf2\nleaf3 leaf3\n"
            };
            (topo.name(n).to_owned(), text.to_owned())
        })
        .collect();
    let read = |files: &[(String, String)]| fib::read(&topo, files);
    let good = read(&files).expect("a dump");
    assert_eq!(fib::oddities(&topo, &good, &[]), fib::Oddities::default());
    // spine0 sends packets to leaf3 to leaf2, which sends them up again
    let spine = files.iter().position(|(name, _)| name == "spine0").expect("a file");
    files[spine].1 = "leaf0 leaf0\nleaf1 leaf1\nleaf3 leaf2\n".into();
    let odd = fib::oddities(&topo, &read(&files).expect("a dump"), &[]);
    assert_eq!(odd.loops.len(), 8, "one for each host of leaf3: {odd:?}");
    assert_eq!(odd.loops[0].0, "h24");
    assert_eq!(odd.black_holes.len(), 8);
    assert_eq!(odd.black_holes[0], ("spine0".to_owned(), "h16".to_owned()));
}

#[test]
fn a_dump_that_does_not_fit_is_refused_with_its_line() {
    let topo = ring::build(&ring::Params::default()).expect("a ring");
    let good = dump(&topo, &Tables::routed(&topo, Rerouting::Shortest, &[]));
    for (file, text, says) in [
        ("sw0", "h1\n", "sw0:1: `h1` has no next hop"),
        ("sw0", "\nh1 sw2", "sw0:2: `sw2` is no neighbour of `sw0`"),
        ("sw0", "h1 p7", "`sw0` has no port p7: it has p0 to p2"),
        ("sw0", "h9 sw1", "there is no node `h9`"),
        ("sw0", "h1 sw1\nh1 sw3", "sw0:2: `h1` has a line already"),
        ("sw00", "", "there is no switch `sw00` (did you mean `sw0`?)"),
    ] {
        let mut files = good.clone();
        files[0] = (file.to_owned(), text.to_owned());
        let error = fib::read(&topo, &files).expect_err(text).to_string();
        assert!(error.contains(says), "{error}");
    }
    let error = fib::read(&topo, &good[1..]).expect_err("a file is missing").to_string();
    assert!(error.contains("no table for sw0"), "{error}");
}
