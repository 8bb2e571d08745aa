//! Scenarios that spread packets over paths, and hosts that schedule by priority: what is read,
//! what is refused, what is warned about.

use weir_core::{Bytes, Time};
use weir_fc::PrioritySchedule;
use weir_results::describe;
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_sim::config::{Balance, Config, EcnAt, NicDiscipline};

fn scenario(more: &str) -> String {
    format!(
        "[topology]\nkind = \"k-ary\"\nrate = \"10Gbps\"\n\
         [[traffic]]\nkind = \"poisson\"\nsize = \"10KB\"\nload = \"30%\"\nflows = 20\n{more}"
    )
}

fn read(more: &str) -> Experiment {
    match Experiment::read("my.toml", &scenario(more), Files::default(), &[]) {
        Ok(e) => e,
        Err(problems) => panic!("{problems}"),
    }
}

fn config(more: &str) -> Config {
    let e = read(more);
    e.config(e.own_variant())
}

fn error(more: &str) -> String {
    match Experiment::read("my.toml", &scenario(more), Files::default(), &[]) {
        Ok(_) => panic!("no error: {more}"),
        Err(problems) => problems.to_string(),
    }
}

fn warnings(e: &Experiment) -> String {
    e.warnings.plain(&e.scenario.sources)
}

#[test]
fn every_balance_reaches_the_run() {
    let kb = Bytes::from_kb;
    let of = |text: &str| config(&format!("[routing]\n{text}")).balance;
    assert_eq!(config("").balance, Balance::Flow);
    assert_eq!(of("balance = \"flow\""), Balance::Flow);
    assert_eq!(of("balance = \"random\""), Balance::Random);
    assert_eq!(of("balance = \"round-robin\""), Balance::RoundRobin);
    let alb = Balance::Adaptive { low: kb(16), high: kb(32) };
    assert_eq!(of("balance = \"adaptive\""), alb);
    let alb = Balance::Adaptive { low: kb(3), high: kb(64) };
    assert_eq!(of("balance = \"adaptive\"\ndrain-low = \"3KB\"\ndrain-high = \"64KB\""), alb);
    assert_eq!(of("balance = \"flowlet\""), Balance::Flowlet { gap: Time::from_us(100) });
    let gap = Time::from_us(7);
    assert_eq!(of("balance = \"flowlet\"\nflowlet-gap = \"7us\""), Balance::Flowlet { gap });
}

/// A link of a fat tree that is down from the start for good is as if it were `failed`: no path of
/// the checks leads over it, and `weir topo` shows it. One that recovers belongs to the network.
#[test]
fn a_link_that_never_is_up_is_shown_as_failed() {
    let failure =
        |more: &str| format!("[[failure]]\nlink = [\"agg0\", \"tor0\"]\ndown = \"0s\"\n{more}");
    let e = read(&failure(""));
    let fact = |e: &Experiment, name: &str| {
        describe::topology_facts(e).into_iter().find(|(n, _)| n == name).map(|(_, value)| value)
    };
    assert_eq!(fact(&e, "failed from the start").as_deref(), Some("tor0-agg0"));
    assert!(describe::drawing(&e).contains("dashed red: failed link"));
    // k = 4: 16 links between ToR and aggregation switches
    assert!(fact(&e, "links tor-agg").is_some_and(|links| links.starts_with("15 of ")));
    let [tor, agg, host, far] = ["tor0", "agg0", "h0", "h15"].map(|n| e.topology.find(n).unwrap());
    let link = e.topology.links_between(tor, agg).unwrap()[0];
    let over = |e: &Experiment, hash: u64| {
        let path = e.routes().path(&e.topology, host, far, hash).expect("a path");
        path.iter().any(|&(node, port)| e.topology.port(node, port).link == link)
    };
    assert!((0..100).all(|hash| !over(&e, hash)));
    let e = read(&failure("up = \"5us\""));
    assert_eq!(fact(&e, "failed from the start"), None);
    assert!((0..100).any(|hash| over(&e, hash)));
    // a host that never has a link cannot take part
    let found = error("[[failure]]\nlink = [\"h0\", \"tor0\"]\ndown = \"0s\"");
    assert!(found.contains("there is no path"), "{found}");
}

#[test]
fn settings_of_another_balance_are_refused() {
    let found = error("[routing]\ndrain-low = \"1KB\"");
    assert!(found.contains("`drain-low` needs `balance = \"adaptive\"`"), "{found}");
    assert!(found.contains("my.toml:10"), "{found}");
    let found = error("[routing]\nbalance = \"random\"\nflowlet-gap = \"1us\"");
    assert!(found.contains("needs `balance = \"flowlet\"`"), "{found}");
    assert!(found.contains("the balance is `random`"), "{found}");
    let found = error("[routing]\nbalance = \"adaptive\"\ndrain-low = \"40KB\"");
    assert!(found.contains("40 KB is above drain-high (32 KB)"), "{found}");
    let found = error("[routing]\nbalance = \"flowlet\"\nflowlet-gap = \"0us\"");
    assert!(found.contains("`flowlet-gap` is zero"), "{found}");
    let found = error("[routing]\nbalance = \"adaptiv\"");
    assert!(found.contains("adaptive"), "{found}");
}

/// Whoever throws away what comes too early is warned about, and gets a timeout: the last packets
/// of a flow may be thrown away, and nothing behind them would reveal it.
#[test]
fn go_back_n_on_several_paths_is_warned_about_and_gets_a_timeout() {
    let spray = "[routing]\nbalance = \"random\"\n";
    let e = read(spray);
    assert!(warnings(&e).contains("go-back-N treats reordered packets as lost"));
    assert_eq!(e.config(e.own_variant()).nic.timeout, Some(Time::from_ms(10)));
    let tolerant = read(&format!("{spray}[nic]\nreliability = \"selective-repeat\""));
    assert_eq!(warnings(&tolerant), "");
    assert_eq!(tolerant.config(tolerant.own_variant()).nic.timeout, None);
    let patient = config("[nic]\nreliability = \"selective-repeat\"\nreorder = 50\n");
    assert_eq!(patient.nic.reorder, 50);
    let found = error("[nic]\nreorder = 50\n");
    assert!(found.contains("`reorder` needs selective repeat"), "{found}");
    // flowlets rarely reorder: no warning, but a timeout
    let flowlets = read("[routing]\nbalance = \"flowlet\"");
    assert_eq!(warnings(&flowlets), "");
    assert!(flowlets.config(flowlets.own_variant()).nic.timeout.is_some());
    assert_eq!(config("").nic.timeout, None);
}

#[test]
fn schemes_that_do_not_fit_are_refused_when_the_scenario_is_read() {
    for (scheme, several, pipelined) in [
        ("pfc", true, true),
        ("ofc", true, false),
        ("bfc", true, false),
        ("ideal", false, false),
        ("flowsail", false, false),
        ("ffc", false, false),
    ] {
        let given = format!("[flow-control]\nscheme = \"{scheme}\"\n");
        for (fits, settings, title, reason) in [
            (
                several,
                "[routing]\nbalance = \"adaptive\"\n[nic]\nreliability = \"selective-repeat\"\n",
                "does not support flows with several paths",
                "the RESUME of one would lift the PAUSE of the other",
            ),
            (
                pipelined,
                "[switch]\nmodel = \"pipelined\"\n",
                "does not support pipelined switches",
                "ingress FIFOs in front of the packet processor",
            ),
        ] {
            let text = format!("{given}{settings}");
            if fits {
                read(&text);
                continue;
            }
            let found = error(&text);
            for part in [title, reason, "my.toml:10:10", "pfc, capfc"] {
                assert!(found.contains(part), "{scheme}: {found}");
            }
        }
    }
}

#[test]
fn a_nic_takes_the_weights_of_a_switch() {
    let of = |text: &str| config(&format!("[nic]\n{text}")).nic.discipline;
    let strict = PrioritySchedule::default();
    assert_eq!(of("queues = \"by-priority\""), NicDiscipline::ByPriority(strict));
    let weights = [0, 0, 0, 1, 2, 0, 0, 0];
    let quantum = Bytes::from_kb(3);
    assert_eq!(
        of("queues = \"by-priority\"\nweights = [0, 0, 0, 1, 2, 0, 0, 0]\nquantum = \"3KB\""),
        NicDiscipline::ByPriority(PrioritySchedule { weights, quantum })
    );
    for queues in ["per-flow", "fifo"] {
        let found = error(&format!("[nic]\nqueues = \"{queues}\"\nweights = [0, 0]"));
        assert!(found.contains("`weights` needs `queues = \"by-priority\"`"), "{found}");
        assert!(found.contains("`weights` has 2 entries"), "{found}");
    }
    let found = error("[nic]\nqueues = \"by-priority\"\nquantum = \"0B\"");
    assert!(found.contains("`quantum` is zero"), "{found}");
}

#[test]
fn what_is_set_is_described() {
    let e = read(
        "[routing]\nbalance = \"adaptive\"\n[nic]\nqueues = \"by-priority\"\n\
         reliability = \"selective-repeat\"\n[switch]\n\
         ecn = { kmin = \"20KB\", kmax = \"20KB\", at = \"enqueue\" }",
    );
    let config = e.config(e.own_variant());
    assert_eq!(config.switch.ecn_at, EcnAt::Enqueue);
    let all = describe::settings(&e, &config);
    let of = |name: &str| all.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
    assert!(of("paths are chosen").is_some_and(|v| v.contains("16 KB, else 32 KB")));
    assert_eq!(of("NIC queues"), Some("one per flow, strict priority"));
    assert!(of("ECN marking").is_some_and(|v| v.ends_with("at enqueue")));
    let plain = read("");
    let all = describe::settings(&plain, &plain.config(plain.own_variant()));
    assert!(all.iter().all(|(name, _)| name != "paths are chosen"));
}

/// On 100 Gb/s `dcqcn` marks from 400 KB to 1600 KB: egress queues of 60 KB would never get there.
#[test]
fn automatic_marks_come_below_the_limit_of_an_egress_queue() {
    let text = "[switch]\nmodel = \"pipelined\"\nthresholds = { xoff = \"2MB\", xon = \"1MB\" }\n\
                pipeline = { rate = 1000000000, egress = \"60KB\" }\n\
                [congestion-control]\nalgorithm = \"dcqcn\"\n";
    let fast = scenario(text).replace("10Gbps", "100Gbps");
    let e = Experiment::read("my.toml", &fast, Files::default(), &[]);
    let e = e.unwrap_or_else(|p| panic!("{p}"));
    let config = e.config(e.own_variant());
    let thresholds = weir_sim::thresholds::SwitchThresholds::new(&e.topology, &config);
    for switch in e.topology.switches() {
        for ecn in thresholds.marking(switch).into_iter().flatten() {
            assert_eq!((ecn.kmin, ecn.kmax), (Bytes::new(7_500), Bytes::new(30_000)));
        }
    }
    assert!(!warnings(&e).contains("cannot receive ECN marks"), "{}", warnings(&e));
}

/// The shipped file: three classes with priorities of their own, at the rates of the paper's text.
#[test]
fn capfc_1_has_three_classes() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/capfc-1.toml");
    let load = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        Experiment::load(file, &sets).unwrap_or_else(|p| panic!("{p}"))
    };
    let e = load(&[]);
    assert_eq!((e.topology.hosts().len(), e.topology.switches().count()), (128, 80));
    assert_eq!(e.classes(), ["long", "short", "query"]);
    assert_eq!(warnings(&e), "");
    let rates: Vec<f64> = e.traffic.offered().iter().map(|(_, o)| o.flows_per_second).collect();
    assert_eq!(rates, [5000.0, 5000.0, 4000.0]);
    let bits: f64 = e.traffic.offered().iter().map(|(_, o)| o.bits_per_second).sum();
    // 40 + 2.56 + 0.512 Gb/s
    assert!((bits - 43.072e9).abs() < 1e6, "{bits}");
    // the other readings and scenarios named in the file
    load(&["traffic.0.per-second=2500", "traffic.1.per-second=2500"]);
    load(&["topology.tor-rate=500Mbps", "topology.agg-rate=250Mbps"]);
    load(&["traffic.1.priority=4", "traffic.2.priority=5"]);
    load(&["switch.weights=[0,0,0,1,1,1,0,0]", "nic.weights=[0,0,0,1,1,1,0,0]"]);
    load(&["switch.pipeline.rate=500000", "traffic.1.size=16KB", "traffic.2.size=32KB"]);
    let e = load(&["traffic.0.per-second=5000", "traffic.0.rate-of=host"]);
    assert_eq!(e.traffic.offered()[0].1.flows_per_second, 128.0 * 5000.0);
}
