//! What is said about a scenario before it is run: headroom, memory, and flows that never start.

use weir_results::describe;
use weir_results::run::run_alone;
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_sim::outcome::Finish;

fn read(text: &str) -> Experiment {
    Experiment::read("x.toml", text, Files::default(), &[])
        .unwrap_or_else(|problems| panic!("{problems}"))
}

fn refused(text: &str) -> String {
    match Experiment::read("x.toml", text, Files::default(), &[]) {
        Ok(_) => panic!("accepted: {text}"),
        Err(problems) => problems.to_string(),
    }
}

fn warnings(e: &Experiment) -> String {
    e.warnings.plain(&e.scenario.sources)
}

fn advice(e: &Experiment) -> String {
    e.advice(e.own_variant()).plain(&e.scenario.sources)
}

fn setting(e: &Experiment, name: &str) -> String {
    let all = describe::settings(e, &e.config(e.own_variant()));
    all.into_iter().find(|(known, _)| known == name).expect("a setting").1
}

const FLOW: &str = "[[traffic]]\nkind = \"flow\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"30KB\"\n";

/// A star at 400 Gb/s with frames of 4 KB, and more in `[topology]` and below it.
fn star(topology: &str, rest: &str) -> String {
    format!(
        "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"400Gbps\"\n{topology}\n{FLOW}[nic]\n\
         payload = \"4KB\"\nheader = \"62B\"\n{rest}\n"
    )
}

#[test]
fn headroom_includes_the_cable_and_the_response_that_the_standard_allows() {
    // 50 B/ns: 2 x 500 ns of cable, 905 quanta of 64 B, two frames of 4082 B on the wire, a PAUSE
    let e = read(&star("length = \"100m\"", "[link]\nresponse = \"802.1Qbb\""));
    assert_eq!(50_000 + 57_920 + 2 * 4082 + 84, 116_168);
    assert_eq!(setting(&e, "headroom needed"), "116.168 KB (link h0-sw0)");
    assert_eq!(setting(&e, "control response"), "1.1584 us (802.1Qbb)");
    assert_eq!(advice(&e), "");
}

#[test]
fn a_response_of_zero_is_warned_about_with_what_the_standard_allows() {
    let found = advice(&read(&star("length = \"100m\"", "")));
    for part in ["`response` in `[link]` is 0", "1.1584 us at 400 Gb/s", "116.168 KB instead of"] {
        assert!(found.contains(part), "{part}: {found}");
    }
    assert!(found.contains("`latency` in `[switch]`"), "{found}");
    // a scheme that does not pause needs no headroom
    let none = star("", "[flow-control]\nscheme = \"none\"");
    assert_eq!(advice(&read(&none)), "");
}

#[test]
fn a_length_stands_for_a_delay_in_every_topology() {
    for info in weir_net::build::TOPOLOGIES.iter() {
        for p in info.params.iter().filter(|p| p.name.ends_with("delay")) {
            let length = p.name.replace("delay", "length");
            let text = |line: &str| format!("[topology]\nkind = \"{}\"\n{line}\n{FLOW}", info.name);
            let delays = |line: &str| -> Vec<_> {
                read(&text(line)).topology.links().iter().map(|l| l.delay).collect()
            };
            // 100 m at 5 ns
            let same = delays(&format!("{} = \"500ns\"", p.name));
            assert_eq!(delays(&format!("{length} = \"100m\"")), same, "{} {length}", info.name);
            let slow = delays(&format!("{length} = \"100m\"\nper-metre = \"10ns\""));
            assert_eq!(slow, delays(&format!("{} = \"1us\"", p.name)));
            let both = format!("{length} = \"100m\"\n{} = \"1us\"", p.name);
            assert!(refused(&text(&both)).contains("not both"), "{} {length}", info.name);
        }
    }
}

#[test]
fn a_length_of_the_command_line_replaces_a_delay_of_the_file_and_vice_versa() {
    for (file, set, ns) in [
        ("delay = \"1us\"", "topology.length=20m", 100),
        ("length = \"20m\"", "topology.delay=1us", 1000),
    ] {
        let e = Experiment::read("x.toml", &star(file, ""), Files::default(), &[set.to_owned()])
            .unwrap_or_else(|p| panic!("{p}"));
        assert_eq!(e.topology.links()[0].delay, weir_core::Time::from_ns(ns), "{file} {set}");
    }
}

#[test]
fn a_wrong_length_is_named() {
    for (line, says) in [
        ("length = \"100\"", "mm, cm, m, km"),
        ("length = 100", "mm, cm, m, km"),
        ("length = \"1ms\"", "unknown unit `ms`"),
        ("length = \"1000000km\"", "at most 1 s"),
        ("length = \"1m\"\nper-metre = \"1ns\"", "3.335 ns to 1 us"),
        ("lenght = \"1m\"", "did you mean `length`?"),
    ] {
        let found = refused(&star(line, ""));
        assert!(found.contains(says), "{line}: {found}");
    }
    let unused = warnings(&read(&star("per-metre = \"4.9ns\"", "")));
    assert!(unused.contains("`per-metre` has no effect"), "{unused}");
}

/// Two switches with two links between them; `topology` is added to the section.
fn explicit(topology: &str) -> String {
    format!(
        "[topology]\nkind = \"explicit\"\nhosts = [\"h0\", \"h1\"]\nswitches = [\"s\", \"t\"]\n\
         rate = \"100Gbps\"\nlinks = [\"h0 s\", \"h1 t\", \"s t 100Gbps 2.5m\", \"s t\"]\n\
         {topology}\n{FLOW}"
    )
}

#[test]
fn links_of_an_explicit_graph_have_lengths_and_may_have_failed() {
    let delays = |topology: &str| -> Vec<u64> {
        let e = read(&explicit(topology));
        e.topology.links().iter().map(|l| l.delay.as_ps()).collect()
    };
    assert_eq!(delays("length = \"10m\""), [50_000, 50_000, 12_500, 50_000]);
    assert_eq!(delays("delay = \"1us\"\nper-metre = \"4ns\"")[2], 10_000);
    // of two links between s and t, the first is gone from the start
    assert_eq!(delays("length = \"10m\"\nfailed = [\"t s\"]"), [50_000; 3]);
    let e = read(&explicit("length = \"10m\"\nfailed = [\"t s\"]"));
    let facts = describe::topology_facts(&e);
    assert!(facts.contains(&("failed from the start".into(), "t-s".into())), "{facts:?}");
    for (topology, says) in [
        ("length = \"1m\"\ndelay = \"1us\"", "not both"),
        ("length = \"1m\"\nfailed = [\"s\"]", "does not name a link"),
        ("length = \"1m\"\nfailed = [\"s h1\"]", "no link s-h1"),
        ("length = \"1m\"\nfailed = [\"s t\", \"s t\", \"s t\"]", "have failed already"),
    ] {
        let found = refused(&explicit(topology));
        assert!(found.contains(says), "{topology}: {found}");
    }
}

/// No route ever uses a link that has failed from the start: nothing is lost before routes
/// converge, which takes 100 us by default.
#[test]
fn a_link_that_has_failed_from_the_start_loses_nothing() {
    let e = read(&explicit("length = \"10m\"\nfailed = [\"s t\"]"));
    let run = run_alone(&e, e.own_variant(), &false.into()).expect("it runs");
    assert_eq!((run.outcome.totals.dropped, run.unfinished()), (0, (0, 1)));
}

const POOL: &str = "[topology]\nkind = \"star\"\nhosts = 5\nrate = \"100Gbps\"\ndelay = \"1us\"\n\
    [switch]\nmodel = \"pipelined\"\n[switch.pipeline]\nrate = 10000000\ndelay = \"1us\"\n\
    on-full = \"stop\"\n[switch.shared-pool]\n[[traffic]]\nkind = \"burst\"\nfrom = \"h1..h4\"\n\
    to = \"h0\"\nsize = \"500KB\"\n";

#[test]
fn an_ingress_that_is_full_before_it_pauses_is_warned_about() {
    // 8 KB and 80 KB of the pool; xoff is 75 KB per 40 Gb/s
    let found = warnings(&read(POOL));
    for part in ["full before it pauses", "may hold 88 KB", "pauses at 187.5 KB"] {
        assert!(found.contains(part), "{part}: {found}");
    }
    let big = POOL.replace(
        "[switch.shared-pool]\n",
        "[switch.shared-pool]\ntotal = \"2MB\"\n\
        queue = \"300KB\"\nport = \"300KB\"\n",
    );
    assert_eq!(warnings(&read(&big)), "");
    // with the advised threshold nothing is lost
    let xoff = found.split("xoff = \"").nth(1).and_then(|t| t.split('"').next()).expect("advice");
    let set = [format!("switch.thresholds.xoff={xoff}")];
    let e =
        Experiment::read("x.toml", POOL, Files::default(), &set).unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(warnings(&e), "");
    let run = run_alone(&e, e.own_variant(), &false.into()).expect("it runs");
    assert_eq!((run.outcome.totals.dropped, run.unfinished()), (0, (0, 4)));
}

#[test]
fn advice_says_what_a_lossy_class_can_take_of_the_buffer() {
    let text = |buffer: &str, priority: u8| {
        format!(
            "[topology]\nkind = \"star\"\nhosts = 3\nrate = \"40Gbps\"\ndelay = \"100ns\"\n\
             [switch]\nbuffer = \"{buffer}\"\n{FLOW}{FLOW}class = \"bulk\"\npriority = {priority}\n"
        )
    };
    // three ports of xoff 75 000, a frame less one 1517, headroom 1000 + 2 x 1538 + 84
    let promised = 3 * (75_000 + 1517 + 1000 + 2 * 1538 + 84);
    assert_eq!(promised, 242_031);
    let found = warnings(&read(&text("300KB", 0)));
    for part in ["`bulk` takes memory", "need 242.031 KB", "can take 57.969 KB at a time"] {
        assert!(found.contains(part), "{part}: {found}");
    }
    let found = warnings(&read(&text("242031B", 0)));
    assert!(found.contains("a buffer larger than 242.031 KB"), "{found}");
    assert_eq!(warnings(&read(&text("300KB", 3))), "");
    let found = warnings(&read(&text("unlimited", 0)));
    assert!(!found.contains("takes memory"), "{found}");
}

#[test]
fn flows_that_start_after_the_end_are_counted_and_the_run_is_not_drained() {
    let text = |start: &str, until: &str| {
        let run = format!("[run]\nuntil = \"{until}\"\n");
        format!("[topology]\nkind = \"star\"\nhosts = 3\n{FLOW}start = \"{start}\"\n{run}")
    };
    let e = read(&text("2ms", "1ms"));
    let found = warnings(&e);
    assert!(found.contains("1 flow starts after the end of the run (1 ms)"), "{found}");
    assert!(found.contains("the first at 2 ms"), "{found}");
    let run = run_alone(&e, e.own_variant(), &false.into()).expect("it runs");
    assert_eq!(run.outcome.finish, Finish::TimeLimit);
    let e = read(&text("0us", "1ms"));
    assert_eq!(warnings(&e), "");
    let run = run_alone(&e, e.own_variant(), &false.into()).expect("it runs");
    assert_eq!(run.outcome.finish, Finish::Drained);
}

#[test]
fn a_flow_that_starts_beyond_the_clock_is_refused() {
    for start in ["71s", "18446744073709551615ps"] {
        let text = format!("[topology]\nkind = \"star\"\nhosts = 3\n{FLOW}start = \"{start}\"\n");
        assert!(refused(&text).contains("which is too late"), "{start}");
    }
}

#[test]
fn traffic_at_a_steady_rate_may_be_cut_off() {
    let text = |until: &str| {
        format!(
            "[topology]\nkind = \"star\"\nhosts = 3\n[[traffic]]\nkind = \"poisson\"\nload = \
             \"10%\"\nsize = \"1MB\"\nstart = \"1ms\"\n[run]\nuntil = \"{until}\"\n"
        )
    };
    assert_eq!(warnings(&read(&text("10ms"))), "");
    let found = warnings(&read(&text("1us")));
    assert!(found.contains("no flow of class `poisson` starts before the end"), "{found}");
}

#[test]
fn a_small_buffer_without_a_unit_is_refused_with_the_units() {
    for value in ["12", "\"12\""] {
        let found = refused(&star("", &format!("[switch]\nbuffer = {value}")));
        assert!(found.contains("`buffer` is 12, without a unit"), "{found}");
        assert!(found.contains("`\"12KB\"` or `\"12MB\"`"), "{found}");
    }
    read(&star("", "[switch]\nbuffer = 12000000"));
}

#[test]
fn alpha_may_be_above_one() {
    let with = |alpha: &str| {
        let t = format!("[switch]\nbuffer = \"3MB\"\nthresholds = {{ alpha = {alpha} }}");
        star("delay = \"1us\"", &t)
    };
    for (alpha, shown) in [("8", "alpha 8,"), ("1", "alpha 1/1,"), ("\"1/8\"", "alpha 1/8,")] {
        let e = read(&with(alpha));
        let settings = describe::settings(&e, &e.config(e.own_variant()));
        assert!(settings[0].1.contains(shown), "{alpha}: {settings:?}");
    }
    for alpha in ["256", "3", "\"1/512\""] {
        assert!(refused(&with(alpha)).contains("from 1/256 to 128"), "{alpha}");
    }
}
