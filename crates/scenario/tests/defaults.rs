//! What a scenario means that says little: thresholds, marking, priorities.

use weir_cc::CcKind;
use weir_core::{Bytes, PortId, Rate};
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_scenario::experiment::Variant;
use weir_sim::config::ThresholdConfig;
use weir_sim::thresholds::SwitchThresholds;

fn read(text: &str) -> Result<Experiment, String> {
    Experiment::read("x.toml", text, Files::default(), &[]).map_err(|p| p.to_string())
}

fn warnings(text: &str) -> String {
    let e = read(text).unwrap_or_else(|why| panic!("{why}"));
    e.warnings.plain(&e.scenario.sources)
}

fn variant(cc: CcKind) -> Variant {
    Variant { scheme: weir_fc::scheme("pfc").unwrap(), cc, seed: 1 }
}

const TRAFFIC: &str = "[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\n";

/// On every topology there is, and with several speeds, every queue is marked before an ingress
/// that has filled it pauses.
#[test]
fn marking_comes_before_pausing_on_every_topology() {
    let mixed = ["leaf-spine\"\nspine-rate = \"400Gbps", "fat-tree\"\nagg-rate = \"400Gbps"];
    let kinds = weir_net::build::TOPOLOGIES.iter().map(|t| t.name).chain(mixed);
    let dynamic = "[switch]\nbuffer = \"32MB\"\nthresholds = { alpha = \"1/8\" }\n";
    for kind in kinds {
        for switch in ["", dynamic] {
            let text = format!("[topology]\nkind = \"{kind}\"\n{switch}{TRAFFIC}");
            let Ok(e) = read(&text) else { panic!("{kind} does not build") };
            for &cc in CcKind::ALL.iter().filter(|cc| cc.needs().marks) {
                let config = e.config(variant(cc));
                let thresholds = SwitchThresholds::new(&e.topology, &config);
                for node in e.topology.switches() {
                    let pause = thresholds.pause(node).expect("these pause");
                    let rates = e.topology.ports(node).iter().map(|p| e.topology.link(p.link).rate);
                    for (ecn, rate) in thresholds.marking(node).into_iter().zip(rates) {
                        let ecn = ecn.expect("this marks");
                        assert!(ecn.kmin <= ecn.kmax, "{kind}: {ecn:?}");
                        assert!(ecn.kmax.get() <= pause.get() / 2, "{kind}: {ecn:?}, {pause}");
                        if let ThresholdConfig::Static { xoff, .. } = thresholds.at(rate) {
                            assert!(pause <= xoff, "{kind}: {pause}, {xoff} at {rate}");
                        }
                    }
                }
            }
        }
    }
}

/// 75 KB per 40 Gb/s of the port, whatever else the switch has: 18.75 KB at 10, 187.5 KB at 100;
/// ten frames at 1 Gb/s.
#[test]
fn default_pause_thresholds_follow_the_speed_of_ports() {
    for (rate, spine, slow, fast) in [
        ("10Gbps", "10Gbps", 18_750, 18_750),
        ("40Gbps", "40Gbps", 75_000, 75_000),
        ("100Gbps", "400Gbps", 187_500, 750_000),
        ("1Gbps", "1Gbps", 15_180, 15_180),
    ] {
        let text = format!(
            "[topology]\nkind = \"leaf-spine\"\nrate = \"{rate}\"\nspine-rate = \
             \"{spine}\"\n{TRAFFIC}"
        );
        let e = read(&text).unwrap();
        let config = e.config(variant(CcKind::None));
        let thresholds = SwitchThresholds::new(&e.topology, &config);
        let leaf = e.topology.node_by_name("leaf0").unwrap();
        for (port, end) in e.topology.ports(leaf).iter().enumerate() {
            let speed = e.topology.rate(leaf, PortId::from_index(port));
            let expected = if e.topology.is_host(end.peer) { slow } else { fast };
            let ThresholdConfig::Static { xoff, xon, .. } = thresholds.at(speed) else {
                panic!("not static");
            };
            assert_eq!((xoff, xon.get()), (Bytes::new(expected), expected * 3 / 5), "{speed}");
        }
        assert_eq!(thresholds.pause(leaf), Some(Bytes::new(slow)), "the smallest of its ports");
    }
}

#[test]
fn published_profiles_are_chosen_by_name_and_follow_the_port() {
    let text = format!(
        "[topology]\nkind = \"leaf-spine\"\nspine-rate = \"400Gbps\"\n[switch]\necn = \"dcqcn\"\n\
         [congestion-control]\nalgorithm = \"dcqcn\"\nmin-rate = \"2Gbps\"\nprofile = \
         \"nic\"\n{TRAFFIC}"
    );
    let e = read(&text).unwrap();
    let config = e.config(variant(CcKind::Dcqcn));
    let listed = config.cc.list();
    let value = |name| listed.iter().find(|p| p.name == name).unwrap().value.clone();
    assert_eq!((value("cnp-interval"), value("min-rate")), ("4 us".into(), "2 Gb/s".into()));
    let thresholds = SwitchThresholds::new(&e.topology, &config);
    let leaf = e.topology.node_by_name("leaf0").unwrap();
    let marking = thresholds.marking(leaf);
    for p in (0..e.topology.ports(leaf).len()).map(PortId::from_index) {
        let kmin = marking[p.index()].unwrap().kmin;
        let per_25 = e.topology.rate(leaf, p).as_bps() / Rate::from_gbps(25).as_bps();
        assert_eq!(kmin, Bytes::from_kb(100 * per_25));
    }
    let rdma = text.replace("ecn = \"dcqcn\"", "ecn = \"dcqcn-ns3-rdma\"");
    let ecn = read(&rdma).unwrap().config(variant(CcKind::Dcqcn)).switch.ecn.unwrap();
    assert_eq!((ecn.kmin, ecn.kmax), (Bytes::from_kb(40), Bytes::from_kb(1000)));
    let wrong = text.replace("\"nic\"", "\"nick\"");
    let message = read(&wrong).unwrap_err();
    assert!(message.contains("nick") && message.contains("hpcc-ns3-paper"), "{message}");
}

#[test]
fn a_congestion_control_that_can_get_no_signal_is_found_before_the_run() {
    let base = |switch: &str, cc: &str| {
        format!(
            "[topology]\nkind = \"star\"\nhosts = 3\n[switch]\n{switch}\n\
             [congestion-control]\nalgorithm = \"{cc}\"\n{TRAFFIC}"
        )
    };
    for (text, part) in [
        (base("ecn = \"off\"", "dcqcn"), "no switch marks"),
        (base("ecn = { kmin = \"9MB\", kmax = \"9MB\" }", "dctcp"), "no queue can grow beyond"),
        (base("ecn = \"dcqcn\"", "dcqcn"), "pauses begin before ECN marking"),
        (base("", "dcqcn").replace("hosts = 3", "hosts = 3\nrate = \"1Gbps\""), "slow down"),
        (base("", "hpcc").replace("star\"\nhosts = 3", "torus\"\nx = 24\ny = 1"), "no telemetry"),
    ] {
        let found = warnings(&text);
        assert!(found.contains(part), "{part}: {found}");
    }
    for cc in ["dcqcn", "dcqcn-paper", "dctcp", "hpcc", "timely", "swift"] {
        assert_eq!(warnings(&base("", cc)), "", "{cc}");
    }
}

#[test]
fn a_flow_list_without_priorities_is_lossless_like_any_other_traffic() {
    let text = "[topology]\nkind = \"star\"\nhosts = 3\n[switch]\nlossless = [5]\n[[traffic]]\n\
                kind = \"list\"\nflows = [\"src,dst,size,start\", \"h0,h1,1KB,0s\"]\n";
    let e = read(text).unwrap();
    assert_eq!(e.traffic.all_flows(1).unwrap()[0].priority.get(), 5);
    assert!(e.warnings.is_empty());
}

#[test]
fn traffic_that_flow_control_does_not_protect_is_named() {
    let base = |switch: &str, traffic: &str| {
        format!("[topology]\nkind = \"star\"\nhosts = 3\n[switch]\n{switch}\n{TRAFFIC}{traffic}")
    };
    for (text, part) in [
        (base("lossless = []", ""), "no traffic is lossless: PFC has nothing to protect"),
        (base("", "priority = 0"), "no traffic is lossless"),
        (base("", "priority = 7"), "never paused or dropped"),
        (
            base("", "").replace(
                "kind = \"permutation\"\nsize = \"1KB\"",
                "kind = \"list\"\nflows = [\"src,dst,size,start,priority\", \"h0,h1,1KB,0s,\", \
                 \"h0,h1,1KB,1us,1\"]",
            ),
            "some flows are not lossless: priority 1",
        ),
    ] {
        let found = warnings(&text);
        assert!(found.contains(part), "{part}: {found}");
    }
    let other = "[[traffic]]\nkind = \"permutation\"\nsize = \"1KB\"\nclass = \"bulk\"\n";
    let mixed = warnings(&base("", &format!("{other}priority = 1")));
    assert!(mixed.contains("class `bulk` is not lossless: priority 1"), "{mixed}");
    assert_eq!(warnings(&base("", other)), "");
    let lossy = base("lossless = []", "[flow-control]\nscheme = \"none\"");
    assert_eq!(warnings(&lossy), "");
}

#[test]
fn a_lossless_priority_is_not_that_of_the_acks() {
    let text =
        format!("[topology]\nkind = \"star\"\nhosts = 3\n[nic]\nack-priority = 3\n{TRAFFIC}");
    let message = read(&text).unwrap_err();
    assert!(message.contains("priority 3 cannot be lossless"), "{message}");
    assert!(message.contains("ack-priority = 7"), "{message}");
}

#[test]
fn a_load_above_one_asks_for_percent() {
    let text = "[topology]\nkind = \"star\"\nhosts = 3\n[[traffic]]\nkind = \"poisson\"\n\
                size = \"1KB\"\nload = 30\n[run]\nuntil = \"1us\"\n";
    let message = read(text).unwrap_err();
    assert!(message.contains("`30%`"), "{message}");
    assert!(read(&text.replace("load = 30", "load = \"120%\"")).is_ok());
}

/// 1518 + 20 + 84 B of wait in half a pause: 1622 B are 25.3 quanta of 64 B, so 51 will do.
#[test]
fn a_pause_that_ends_before_its_refresh_is_found() {
    let text = |quanta: u32, timer: &str| {
        format!(
            "[topology]\nkind = \"star\"\nhosts = 3\n[flow-control]\nscheme = \"pfc\"\n\
             pause-quanta = {quanta}\ntimer = \"{timer}\"\n{TRAFFIC}"
        )
    };
    let found = warnings(&text(50, "timed"));
    assert!(found.contains("before its refresh") && found.contains("at least 51"), "{found}");
    assert_eq!(warnings(&text(51, "timed")), "");
    assert_eq!(warnings(&text(1, "sticky")), "");
}

#[test]
fn a_network_whose_routes_would_take_minutes_is_refused() {
    let text = format!("[topology]\nkind = \"k-ary\"\nk = 128\n{TRAFFIC}");
    let message = read(&text).unwrap_err();
    assert!(message.contains("too large: 8192 switches with hosts"), "{message}");
    assert!(message.contains("2000000000"), "{message}");
}

#[test]
fn a_series_that_would_fill_the_memory_is_thinned_out() {
    let text = "[topology]\nkind = \"star\"\nhosts = 64\n[[traffic]]\nkind = \"burst\"\n\
                from = \"h1..h8\"\nto = \"h0\"\nsize = \"10MB\"\n[probe]\nseries = \"1ns\"\n";
    let e = read(text).unwrap();
    let config = e.config(variant(CcKind::None));
    let outcome = weir_sim::run(&e.topology, &e.traffic, &config, &mut ()).unwrap();
    assert!(outcome.series.len() <= 2_000_000, "{}", outcome.series.len());
    assert!(outcome.series_interval > Some(weir_core::Time::from_ns(1)));
}

/// The claim of the table in docs/src/congestion-control.md, at its seed.
#[test]
fn with_defaults_marks_come_and_pauses_are_fewer_on_three_fabrics() {
    for name in ["dumbbell", "ffc-incast", "flowsail-fig15"] {
        let file = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        let e = Experiment::load(&file, &[]).unwrap();
        let scheme = weir_fc::scheme("pfc").unwrap();
        let run = |cc: CcKind| {
            let config = e.config(Variant { scheme, cc, seed: 1 });
            let outcome = weir_sim::run(&e.topology, &e.traffic, &config, &mut ()).unwrap();
            let marks: u64 = outcome.ports.iter().map(|p| p.ecn_marked).sum();
            let pauses: u64 = outcome.ports.iter().flat_map(|p| p.pauses_sent).sum();
            (marks, pauses)
        };
        let (_, without) = run(CcKind::None);
        for cc in ["dcqcn", "dctcp", "hpcc", "timely", "swift"] {
            let cc: CcKind = cc.parse().unwrap();
            let (marks, pauses) = run(cc);
            assert!(pauses < without, "{name}, {}: {pauses} of {without}", cc.name());
            assert_eq!(marks > 0, cc.needs().marks, "{name}, {}", cc.name());
        }
    }
}

/// The checks of a congestion control are those of the run, not only those of the file.
#[test]
fn a_congestion_control_chosen_for_a_run_is_checked_like_that_of_the_file() {
    let text = |switch: &str| {
        format!("[topology]\nkind = \"star\"\nhosts = 3\n[switch]\n{switch}\n{TRAFFIC}")
    };
    let titles = |e: &Experiment, cc: &str| -> Vec<String> {
        let variant = e.variant(None, Some(cc), 1).unwrap();
        e.warnings_about(variant).iter().map(|w| w.title.clone()).collect()
    };
    let off = read(&text("ecn = \"off\"")).unwrap();
    assert_eq!(titles(&off, "dcqcn"), ["`dcqcn` cannot receive ECN marks: no switch marks"]);
    assert_eq!(titles(&off, "hpcc"), [""; 0]);
    assert_eq!(titles(&read(&text("")).unwrap(), "dcqcn"), [""; 0]);
    let long = text("").replace("star\"\nhosts = 3", "torus\"\nx = 24\ny = 1");
    let found = titles(&read(&long).unwrap(), "hpcc");
    assert_eq!(found, ["`hpcc` receives no telemetry on paths with more than 8 switches"]);
}

/// Rates that are never zero fill every buffer in the end where buffers wait for each other: GFC on
/// the built-in ring loses packets after 48 s. In a tree some egress always drains.
#[test]
fn a_rate_floor_in_a_circle_of_buffers_is_named() {
    let said = |file: &str, sets: &[&str]| -> Vec<String> {
        let file = format!("{}/../../scenarios/{file}.toml", env!("CARGO_MANIFEST_DIR"));
        let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        let e = Experiment::load(&file, &sets).unwrap_or_else(|p| panic!("{p}"));
        let warnings = e.warnings_about(e.variant(Some("gfc"), None, 1).unwrap());
        warnings.iter().map(|w| format!("{} {}", w.title, w.help.join(" "))).collect()
    };
    assert_eq!(said("ring-deadlock", &[]), [""; 0], "it ends after 3 ms, before that can happen");
    let found = said("ring-deadlock", &["run.until=drained"]).join(" ");
    assert!(found.contains("GFC cannot guarantee losslessness"), "{found}");
    // 2 x 1518 B at 8 kb/s
    assert!(found.contains("8 kb/s") && found.contains("3.036 s"), "{found}");
    assert_eq!(
        said("ring-deadlock", &["flow-control.gfc.mode=ofc", "run.until=drained"]),
        [""; 0],
        "it stops"
    );
    let unlimited = "switch.thresholds={xoff=\"75KB\",xon=\"45KB\",limit=\"unlimited\"}";
    assert_eq!(said("ring-deadlock", &[unlimited, "run.until=drained"]), [""; 0]);
    assert_eq!(said("incast", &[]), [""; 0], "no circle");
}

/// 20 000 named paths and as many flows that use them: 0.4 s where names are looked up in a map,
/// and 400 million comparisons of names where each is looked for in a list.
#[test]
fn twenty_thousand_paths_are_read_and_found() {
    let mut text = String::from(
        "[topology]\nkind = \"leaf-spine\"\nleaves = 50\nspines = 40\nhosts-per-leaf = 1\n",
    );
    for i in 0..20_000 {
        let (from, spine, to) = (i % 50, i / 50 % 40, (i + 1) % 50);
        text += &format!(
            "[[traffic]]\nkind = \"flow\"\nfrom = \"h{from}\"\nto = \"h{to}\"\nsize = \"1KB\"\n\
             path = \"p{i}\"\n[[path]]\nname = \"p{i}\"\n\
             nodes = [\"leaf{from}\", \"spine{spine}\", \"leaf{to}\"]\n"
        );
    }
    let e = read(&text).unwrap();
    assert_eq!(e.paths.len(), 20_000);
    let flows = e.traffic.all_flows(1).unwrap();
    let spine = |f: &weir_traffic::FlowSpec| {
        let path = &e.paths[f.path.expect("each has one") as usize];
        e.topology.name(path.nodes[2]).to_owned()
    };
    // the flows of h7 are those numbered 7, 57, 107, ...; spines follow each other
    let of_h7: Vec<String> = flows.iter().filter(|f| f.src.0 == 7).map(spine).collect();
    let all = (0..400).map(|k| format!("spine{}", k % 40));
    assert!(all.eq(of_h7));
}
