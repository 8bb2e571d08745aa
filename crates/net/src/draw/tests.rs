use super::layout::{Layout, Rect};
use super::scene::Scene;
use super::*;
use crate::build::{TOPOLOGIES, dumbbell, explicit, find, k_ary, leaf_spine, ofc_chain};

/// The default of every topology, and some that are wide, tall or odd.
fn gallery() -> Vec<(String, Topology)> {
    let odd = [
        ("star", vec![("hosts", "200")]),
        ("dumbbell", vec![("left", "100"), ("trunks", "3")]),
        ("ring", vec![("switches", "40"), ("hosts-per-switch", "20")]),
        ("torus", vec![("x", "5"), ("y", "4"), ("z", "3"), ("hosts-per-switch", "9")]),
        ("leaf-spine", vec![("spines", "30"), ("leaves", "3"), ("hosts-per-leaf", "100")]),
        ("fat-tree", vec![("pods", "1"), ("cores", "40")]),
        ("k-ary", vec![("k", "16")]),
        ("k-ary", vec![("k", "32")]),
    ];
    let defaults = TOPOLOGIES.iter().map(|info| (info.name, Vec::new()));
    defaults
        .chain(odd)
        .map(|(name, args)| {
            (format!("{name} {args:?}"), (find(name).unwrap().build)(&args).unwrap())
        })
        .collect()
}

fn overlap(a: Rect, b: Rect) -> bool {
    (a.x - b.x).abs() < (a.w + b.w) / 2.0 - 0.01 && (a.y - b.y).abs() < (a.h + b.h) / 2.0 - 0.01
}

#[test]
fn nothing_overlaps_and_everything_is_in_the_picture() {
    for (name, topo) in gallery() {
        let scene = Scene::new(&topo, &[], &[]);
        let layout = Layout::new(&scene);
        let blocks = layout.hosts.iter().zip(&layout.blocks).filter(|(h, _)| h.h > 0.0);
        let mut all: Vec<Rect> = blocks
            .map(|(h, &(x, y))| Rect { x, y: y + h.h / 2.0, w: h.w, h: h.h })
            .chain(layout.boxes.iter().copied())
            .collect();
        for r in &all {
            let across = r.x - r.w / 2.0 >= 0.0 && r.x + r.w / 2.0 <= layout.width;
            let down = r.y - r.h / 2.0 >= 0.0 && r.y + r.h / 2.0 <= layout.height;
            assert!(across && down, "{name}: {}, {} lies outside", r.x, r.y);
        }
        // sorted from left to right, a box can only overlap those that begin before it ends
        all.sort_by(|a, b| (a.x - a.w / 2.0).total_cmp(&(b.x - b.w / 2.0)));
        for (i, &a) in all.iter().enumerate() {
            let near = all[i + 1..].iter().take_while(|b| b.x - b.w / 2.0 < a.x + a.w / 2.0);
            for &b in near {
                assert!(!overlap(a, b), "{name}: {}, {} and {}, {}", a.x, a.y, b.x, b.y);
            }
        }
    }
}

/// Tags of a well-formed document close in the order in which they were opened.
fn is_well_formed(svg: &str) -> bool {
    let mut open = Vec::new();
    for piece in svg.split('<').skip(1) {
        let Some((tag, text)) = piece.split_once('>') else { return false };
        if text.contains('>') && !text.contains("{") {
            return false;
        }
        let quotes = tag.matches('"').count();
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        match (tag.starts_with('/'), tag.ends_with('/')) {
            (true, _) if open.pop() != Some(name) => return false,
            (false, false) => open.push(name),
            _ => {}
        }
        if quotes % 2 != 0 {
            return false;
        }
    }
    open.is_empty()
}

#[test]
fn every_picture_is_well_formed_and_names_every_switch() {
    for (name, topo) in gallery() {
        let svg = svg(&topo, &Options { title: name.clone(), ..Options::default() });
        assert!(is_well_formed(&svg), "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        if topo.switches().count() <= 1000 {
            for switch in topo.switches() {
                assert!(svg.contains(&format!(">{}</text>", topo.name(switch))), "{name}");
            }
        }
    }
}

#[test]
fn many_thousand_switches_are_drawn_by_pods() {
    let topo = k_ary::build(&k_ary::Params { k: 64, ..Default::default() }).unwrap();
    let svg = svg(&topo, &Options::default());
    assert!(svg.len() < 1_000_000, "{} bytes", svg.len());
    assert_eq!(svg.matches(">32 tor</text>").count(), 64);
    assert_eq!(svg.matches(">32 core</text>").count(), 32);
    assert!(svg.contains("65536 hosts, 5120 switches (2048 ToR, 2048 agg, 1024 core)"));
}

#[test]
fn a_congested_port_is_marked_and_named() {
    let topo = ofc_chain::build(&ofc_chain::Params::default()).unwrap();
    let (node, port) = topo.port_alias("P_d").unwrap();
    let plain = svg(&topo, &Options::default());
    assert!(plain.contains(">P_d</text>") && !plain.contains("class=\"m\""));
    let marks = vec![Mark { node, port, label: "P_d".to_owned() }];
    let marked = svg(&topo, &Options { marks, ..Default::default() });
    assert_eq!(marked.matches("class=\"m\"").count(), 1);
    assert_eq!(marked.matches("class=\"lm\"").count(), 1);
    // the alias gives way to the mark
    assert_eq!(marked.matches(">P_d</text>").count(), 1);
    assert!(marked.contains("red dot: congested port"));
    // a switch port; a port or node that does not exist is left out
    let mark = |node, port| Mark { node, port, label: "here".to_owned() };
    let sb = topo.node_by_name("Sb").unwrap();
    let marks = vec![mark(sb, PortId(1)), mark(sb, PortId(9)), mark(NodeId(99), PortId(0))];
    let marked = svg(&topo, &Options { marks, ..Default::default() });
    assert_eq!(marked.matches(">here</text>").count(), 1);
}

#[test]
fn failed_and_parallel_links_show() {
    let failed = vec![("spine0".to_owned(), "leaf0".to_owned())];
    let topo = leaf_spine::build(&leaf_spine::Params { failed, ..Default::default() }).unwrap();
    let picture = svg(&topo, &Options::default());
    assert_eq!(picture.matches("class=\"lx\"").count(), 1);
    assert!(picture.contains("dashed red: failed link"));
    let topo = dumbbell::build(&dumbbell::Params { trunks: 3, ..Default::default() }).unwrap();
    assert!(svg(&topo, &Options::default()).contains(">x3</text>"));
}

/// A page may hold several pictures: their rules must not reach anything else on it, dark is
/// for screens only, and names cannot break out.
#[test]
fn a_picture_keeps_to_itself() {
    let text = "host a<b\nswitch s\nrate 1Gbps\ndelay 1us\nlink a<b s";
    let graph = explicit::read(text).unwrap();
    let topo = explicit::build(&graph).unwrap();
    let svg = svg(&topo, &Options { title: "<script>\"&\u{1}".to_owned(), ..Options::default() });
    assert!(is_well_formed(&svg), "{svg}");
    assert!(svg.contains("a&lt;b") && svg.contains("&lt;script&gt;&quot;&amp; "));
    let style = svg.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let rules = style.lines().filter(|line| line.contains('{') && !line.starts_with('@'));
    for rule in rules {
        let selectors = rule.split('{').next().unwrap().split(',');
        assert!(selectors.into_iter().all(|s| s.starts_with(".weir-topo")), "{rule}");
    }
    assert!(style.contains("@media screen and (prefers-color-scheme:dark)"));
}

#[test]
fn a_circle_of_waiting_ports_is_drawn_as_arrows_once_each() {
    let topo = (find("ring").unwrap().build)(&[]).unwrap();
    let switches: Vec<NodeId> = topo.switches().collect();
    let towards = |a: NodeId, b: NodeId| {
        let port = topo.ports(a).iter().position(|end| end.peer == b).expect("they are neighbours");
        (a, PortId::from_index(port))
    };
    let next = |i: usize| switches[(i + 1) % switches.len()];
    let mut cycle: Vec<_> = (0..switches.len()).map(|i| towards(switches[i], next(i))).collect();
    let draw = |cycle: &[(NodeId, PortId)]| {
        svg(&topo, &Options { cycle: cycle.to_vec(), ..Options::default() })
    };
    let arrows = |svg: &str| svg.matches("class=\"lc\"").count();
    let drawn = draw(&cycle);
    assert_eq!(arrows(&drawn), switches.len());
    assert!(is_well_formed(&drawn) && drawn.contains("each waits for the next"));
    // several queues of one port are one arrow; the way back over a link is another
    cycle.push(cycle[0]);
    cycle.push(towards(switches[1], switches[0]));
    // a port that does not exist is left out, one towards a host is drawn
    cycle.push((switches[0], PortId::from_index(99)));
    cycle.push(towards(switches[0], topo.hosts()[0]));
    assert_eq!(arrows(&draw(&cycle)), switches.len() + 2);
    assert_eq!(arrows(&draw(&[])), 0);
}

#[test]
fn a_long_label_at_a_short_link_covers_no_box() {
    let topo = (find("ring").unwrap().build)(&[]).unwrap();
    let node = topo.switches().last().unwrap();
    let port = topo.ports(node).iter().position(|end| !topo.is_host(end.peer)).unwrap();
    let label = "to the neighbour: longest queue of all".to_owned();
    let mark = Mark { node, port: PortId::from_index(port), label };
    let drawn = svg(&topo, &Options { marks: vec![mark], ..Options::default() });
    let number = |tag: &str, name: &str| -> f64 {
        let (_, rest) = tag.split_once(&format!(" {name}=\"")).expect("an attribute");
        rest.split('"').next().unwrap().parse().expect("a number")
    };
    let text = drawn.split('<').find(|tag| tag.contains("class=\"mt\"")).expect("the label");
    let (x, y, half) = (number(text, "x"), number(text, "y"), 38.0 * 3.2);
    for tag in drawn.split('<').filter(|tag| tag.starts_with("rect class=\"other\"")) {
        let (bx, by) = (number(tag, "x"), number(tag, "y"));
        let (w, h) = (number(tag, "width"), number(tag, "height"));
        let across = x - half < bx + w && bx < x + half;
        let down = y - 7.0 < by + h && by < y + 7.0;
        assert!(!(across && down), "{text} covers {tag}");
    }
}
