use super::*;
use crate::build::explicit;

const NONE: Defaults = Defaults { rate: None, length: None };

const CSV: &str = "\u{feff}Device_A,Port_A,Device_B,Port_B,Speed,Length\n\
    # rack 1\n\
    leaf0,Ethernet0,h0,eth0,100G,3m\n\
    \"leaf0\",Ethernet4,h1,eth0,100000,3 m\n\
    leaf0,Ethernet8,spine0,Ethernet0,400GbE,40\n\
    h2,eth0,leaf1,Ethernet0,100Gbps,3m\n\
    leaf1,Ethernet8,spine0,Ethernet4,400,0.04km\n";

const DOT: &str = "/* a fabric */ graph fabric {\n node [shape=box];\n rankdir = LR;\n\
    leaf0 [type=leaf]; leaf1 [type=leaf]; spine0 [type=\"spine\"]; // switches\n\
    leaf0:p0 -- h0 [speed=100G, length=3m]\n leaf0 -- h1 [speed=100G length=3m];\n\
    leaf0 -- spine0 -- leaf1 [speed=\"400G\", length=\"40m\"]\n\
    leaf1 -- h2 [speed=100G, length=3m];\n h0 [type=host] h1 [type=host] h2 [type=host]\n}\n";

const GRAPHML: &str = "<?xml version=\"1.0\"?>\n<graphml><!-- x -->\n\
    <key id=\"d0\" for=\"edge\" attr.name=\"speed\"/><key id=\"d1\" attr.name=\"length\"/>\n\
    <graph edgedefault=\"undirected\">\n<node id=\"n0\"><data key=\"label\">leaf0</data></node>\n\
    <node id=\"leaf1\"/><node id=\"spine0\"/><node id='h0'/><node id='h1'/><node id='h2'/>\n\
    <edge source=\"n0\" target=\"h0\">\n<data key=\"d0\">100G</data>\
    <data key=\"d1\">3m</data></edge>\n\
    <edge source=\"n0\" target=\"h1\">\n<data key=\"d0\">100G</data>\
    <data key=\"d1\">3m</data></edge>\n\
    <edge source=\"n0\" target=\"spine0\">\n<data key=\"d0\">400G</data>\
    <data key=\"d1\">40m</data></edge>\n<edge source=\"leaf1\" target=\"spine0\">\
    <data key=\"d0\">400G</data><data key=\"d1\">40m</data></edge>\n\
    <edge source=\"leaf1\" target=\"h2\"><data key=\"d0\">100G</data>\
    <data key=\"d1\">3m</data></edge>\n</graph></graphml>\n";

/// Links as sorted texts: ends, Gb/s, delay in ns (5 ns per metre).
fn links(graph: &Params) -> Vec<String> {
    let mut found: Vec<String> = graph
        .links
        .iter()
        .map(|l| {
            let mut ends = [l.a.as_str(), l.b.as_str()];
            ends.sort_unstable();
            let (rate, ns) = (l.rate.as_bps() as f64 / 1e9, l.delay.as_ps() / 1000);
            format!("{}-{} {rate} {ns}", ends[0], ends[1])
        })
        .collect();
    found.sort();
    found
}

#[test]
fn the_same_network_is_read_from_each_format() {
    let expected = [
        "h0-leaf0 100 15",
        "h1-leaf0 100 15",
        "h2-leaf1 100 15",
        "leaf0-spine0 400 200",
        "leaf1-spine0 400 200",
    ];
    for (name, text) in [("a.csv", CSV), ("a.dot", DOT), ("a.graphml", GRAPHML), ("a", GRAPHML)] {
        let format = Format::guess(name, text);
        let cabling = read(text, format, NONE).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(links(&cabling.graph), expected, "{name}");
        let topo = explicit::build(&cabling.graph).expect("a network");
        assert_eq!(topo.hosts().len(), 3, "{name}");
        let leaf = topo.node_by_name("leaf1").expect("a switch");
        assert_eq!(topo.node(leaf).layer, Layer::Tor, "{name}");
    }
}

#[test]
fn what_is_not_said_is_assumed_and_told() {
    let text = "from,to\ns0,h0\ns0,h1\n";
    let defaults = Defaults { rate: "25Gbps".parse().ok(), length: "10m".parse().ok() };
    let cabling = read(text, Format::Csv, defaults).expect("a list");
    assert_eq!(links(&cabling.graph), ["h0-s0 25 50", "h1-s0 25 50"]);
    let notes = cabling.notes.join("; ");
    assert!(notes.contains("3 nodes have no type") && notes.contains("2 cables have no speed"));
}

#[test]
fn a_list_that_cannot_be_read_is_named_with_its_line() {
    for (format, text, says) in [
        (Format::Csv, "", "line 1: the list is empty"),
        (Format::Csv, "form,to\nx,y\n", "no column `from` (did you mean `form`?)"),
        (Format::Csv, "from,to\nx,\n", "line 2: a cable needs two ends"),
        (Format::Csv, "from,to,speed,length\nx,y,fast,1m", "line 2: the speed"),
        (Format::Csv, "from,to,speed,length\nx,y,1G,far", "line 2: the length"),
        (Format::Csv, "from,to\nx,y\n", "the cable x-y has no speed: give --rate"),
        (Format::Dot, "a -- b", "a DOT file is written"),
        (Format::Dot, "graph {\n a -- }", "line 2: a cable needs two ends"),
        (Format::Dot, "graph { \"a", "a quotation mark is not closed"),
        (Format::Dot, "graph { a -- b [speed=1G", "`[` is not closed"),
        (Format::GraphMl, "<graphml>\n<edge source=\"a\"/>", "line 2: an <edge> needs"),
        (Format::GraphMl, "<graphml><node id=x/>", "needs quotation marks"),
        (Format::GraphMl, "<graphml", "a tag is not closed"),
        (Format::GraphMl, "<graphml></graphml>", "the list has no cables"),
    ] {
        let error = read(text, format, NONE).expect_err(text).to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}

/// Every text that comes of one of the lists by cutting or by changing a character is read or
/// refused, without a panic.
#[test]
fn broken_lists_never_panic() {
    for (format, text) in [(Format::Csv, CSV), (Format::Dot, DOT), (Format::GraphMl, GRAPHML)] {
        let chars: Vec<char> = text.chars().collect();
        for i in 0..chars.len() {
            let cut: String = chars[..i].iter().collect();
            let _ = read(&cut, format, NONE);
            for sign in ['"', '<', '{', ',', '-', 'é', '\n'] {
                let mut changed = chars.clone();
                changed[i] = sign;
                let _ = read(&changed.iter().collect::<String>(), format, NONE);
            }
        }
    }
}

/// Neighbour tables list a cable from each of its ends; the second says what the first does not.
#[test]
fn a_cable_that_is_listed_from_both_ends_counts_once() {
    for head in [
        "device,port,neighbor,neighbor_port,speed,length",
        "local_device,local_port,remote_device,remote_port,speed,length",
        "node1,port1,node2,port2,speed,length",
        "a_node,a_interface,b_node,b_interface,speed,length",
        "from:port,to:port,speed,length",
    ] {
        let text = format!(
            "{head}\ns0,e0,s1,e0,100G,\ns1,e0,s0,e0,,3m\ns0,e1,s1,e1,100G,3m\n\
             s0,e2,h0,eth0,100G,3m\ns1,e2,h1,eth0,100G,3m\n"
        );
        // `s0:e0,s1:e0` says the same
        let text = match head.starts_with("from:") {
            true => text.replace(":port", "").replace(",e", ":e"),
            false => text,
        };
        let cabling = read(&text, Format::Csv, NONE).unwrap_or_else(|e| panic!("{head}: {e}"));
        let expected = ["h0-s0 100 15", "h1-s1 100 15", "s0-s1 100 15", "s0-s1 100 15"];
        assert_eq!(links(&cabling.graph), expected, "{head}");
        assert!(cabling.notes.join(";").contains("1 cables are listed from both ends"), "{head}");
    }
}

#[test]
fn both_directions_are_one_cable_in_directed_graphs_only() {
    let dot = |kind: &str, edge: &str| {
        format!(
            "{kind} {{ edge [speed=100G, length=3m]; s0 {edge} s1; s1 {edge} s0; s0 {edge} h0; \
             s1 {edge} h1 }}"
        )
    };
    for (text, cables, says) in [
        (dot("digraph", "->"), 3, "count once"),
        (dot("graph", "--"), 4, "taken for parallel ones"),
    ] {
        let cabling = read(&text, Format::Dot, NONE).expect("a list");
        assert_eq!(cabling.graph.links.len(), cables, "{text}");
        assert!(cabling.notes.join(";").contains(says), "{:?}", cabling.notes);
    }
}

#[test]
fn a_port_with_two_cables_is_told_of() {
    let text = "a,port_a,b,port_b,speed,length\ns0,e0,h0,e0,1G,1m\ns0,e0,h1,e0,1G,1m\n";
    let cabling = read(text, Format::Csv, NONE).expect("a list");
    let note = "s0 e0 has several cables, in lines 2, 3: all are used";
    assert!(cabling.notes.iter().any(|n| n == note), "{:?}", cabling.notes);
}

/// Defaults hold from where they stand to the end of their block, and groups in braces are
/// several ends.
#[test]
fn defaults_and_groups_of_dot_are_read() {
    let text = "strict graph g {\n node [shape=box, type=leaf]\n edge [speed=100G, length=3m]\n\
                subgraph cluster_a { label=\"rack\"; node [type=host]; h0; h1 }\n\
                { rank=same; l0; l1 }\n spine [type=spine]\n\
                l0:e0:n -- { h0 h1 }; l1 -- h2 [length=5m]; h2 [type=server]\n\
                { l0, l1 } -- spine [speed=400G]\n}\n";
    let cabling = read(text, Format::Dot, NONE).expect("a list");
    let expected =
        ["h0-l0 100 15", "h1-l0 100 15", "h2-l1 100 25", "l0-spine 400 15", "l1-spine 400 15"];
    assert_eq!(links(&cabling.graph), expected);
    let hosts = cabling.graph.nodes.iter().filter(|n| n.kind == NodeKind::Host).count();
    assert_eq!(hosts, 3, "{:?}", cabling.graph.nodes);
}

#[test]
fn defaults_labels_and_ports_of_graphml_are_read() {
    let text = "<graphml><key id=\"d0\" for=\"edge\" attr.name=\"speed\"><default>100G</default>\
                </key><key id=\"d1\" for=\"edge\" attr.name=\"length\"><default>3m</default></key>\
                <graph edgedefault=\"directed\">\
                <node id=\"n0\"><data key=\"g\"><y:NodeLabel x=\"1\">s0</y:NodeLabel></data></node>\
                <node id=\"n1\"><data key=\"label\"><![CDATA[s1]]></data></node>\
                <node id=\"n2\"><data key=\"label\">host</data></node>\
                <node id=\"n3\"><data key=\"label\">host</data></node>\
                <edge source=\"n0\" target=\"n1\" sourceport=\"e0\" targetport=\"e0\"/>\
                <edge source=\"n1\" target=\"n0\" sourceport=\"e0\" targetport=\"e0\">\
                <data key=\"d0\">400G</data></edge>\
                <edge source=\"n0\" target=\"n2\"/><edge source=\"n1\" target=\"n3\">\
                <data key=\"d1\">5m</data></edge></graph></graphml>";
    let cabling = read(text, Format::GraphMl, NONE).expect("a list");
    // nodes with the same label keep their own names
    assert_eq!(links(&cabling.graph), ["n2-s0 100 15", "n3-s1 100 25", "s0-s1 100 15"]);
}

#[test]
fn names_with_blanks_become_valid_ones() {
    let text = "from,to,from_type\n\"leaf 1\",h0,leaf\nleaf_1,h1,leaf\n\"leaf 1\",leaf_1,leaf\n";
    let defaults = Defaults { rate: "25Gbps".parse().ok(), length: "10m".parse().ok() };
    let cabling = read(text, Format::Csv, defaults).expect("a list");
    let expected = ["h0-leaf_1_ 25 50", "h1-leaf_1 25 50", "leaf_1-leaf_1_ 25 50"];
    assert_eq!(links(&cabling.graph), expected);
    let notes = cabling.notes.join("; ");
    assert!(notes.contains("`leaf 1` is called leaf_1_"), "{notes}");
    assert!(explicit::build(&cabling.graph).is_ok());
}
