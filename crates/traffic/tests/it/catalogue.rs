//! Patterns by name, from parameters as text.

use crate::common::{Numbered, fabric};
use proptest::prelude::*;
use weir_traffic::params::{Fallback, Kind};
use weir_traffic::{FlowSpec, Params, Traffic, TrafficError, catalogue};

/// The least that each pattern must be given.
fn least(name: &str) -> Params {
    let p = Params::new();
    let pairs = || Params::new().with("senders", "h1..h4").with("receivers", "h0");
    match name {
        "flow" => p.with("src", "h0").with("dst", "h1").with("size", "64KB"),
        "list" => p.with("file", "flows.csv"),
        "burst" => pairs().with("size", "64KB"),
        "long-lived" => pairs(),
        "constant" => pairs().with("rate", "20Gbps"),
        "poisson" => p.with("size", "websearch").with("load", 0.5),
        "incast" => p.with("size", "64KB").with("load", 0.05).with("degree", 4),
        "on-off" => p.with("on", "10us").with("off", "10us"),
        "permutation" | "all-to-all" => p.with("size", "64KB"),
        "rounds" => p.with("rack_a", "h0..h16").with("rack_b", "h16..h32").with("degree", 4),
        "split" => p
            .with_list("senders", ["h16..h24", "h0..h8", "h8..h16", "h24..h32"])
            .with_list("receivers", ["h0..h8", "h16..h24", "h24..h32", "h8..h16"])
            .with("flows", 240),
        other => panic!("`{other}` is not covered by the tests"),
    }
}

fn add(name: &str, params: &Params) -> Result<Traffic, TrafficError> {
    let mut plan = Traffic::new(fabric(32));
    plan.add_named(name, params, &Numbered(32))?;
    plan.set_until(weir_core::Time::from_ms(1));
    Ok(plan)
}

fn flows(name: &str, params: &Params) -> Vec<FlowSpec> {
    add(name, params).unwrap().all_flows(1).unwrap()
}

/// In debug builds this also shows that each pattern reads every parameter it documents.
#[test]
fn every_pattern_is_made_from_the_least_it_needs() {
    for entry in catalogue::entries() {
        assert!(!flows(entry.name, &least(entry.name)).is_empty(), "{}", entry.name);
    }
}

#[test]
fn what_a_pattern_needs_is_asked_for_by_name() {
    for entry in catalogue::entries() {
        for param in entry.params().filter(|p| p.fallback == Fallback::Required) {
            let error = add(entry.name, &least(entry.name).without(param.name)).unwrap_err();
            assert!(matches!(error, TrafficError::Missing { .. }), "{}: {error}", param.name);
            assert_eq!(error.parameter(), Some(param.name));
        }
    }
}

#[test]
fn a_given_default_changes_nothing() {
    for entry in catalogue::entries() {
        let expected = flows(entry.name, &least(entry.name));
        for param in entry.params() {
            if let Fallback::Is(value) = param.fallback
                && !["scale", "sigma"].contains(&param.name)
            {
                let params = least(entry.name).with(param.name, value);
                assert_eq!(flows(entry.name, &params), expected, "{} {}", entry.name, param.name);
            }
        }
    }
}

#[test]
fn documentation_is_complete_and_names_do_not_repeat() {
    for entry in catalogue::entries() {
        let mut names: Vec<&str> = entry.params().map(|p| p.name).collect();
        assert!(!entry.doc.is_empty() && entry.params().all(|p| !p.doc.is_empty()));
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{}", entry.name);
    }
}

/// (pattern, parameter, value, what the message must contain)
const BAD: &[(&str, &str, &str, &[&str])] = &[
    ("poisson", "load", "0", &["`load` is 0", "above 0"]),
    ("poisson", "load", "-0.5", &["`load` is -0.5", "above 0"]),
    ("poisson", "load", "NaN", &["`load` is NaN", "above 0"]),
    ("poisson", "load", "inf", &["`load` is inf", "above 0"]),
    ("poisson", "load", "much", &["`load`: `much`", "60%"]),
    ("poisson", "load_ref", "cores", &["`cores`", "did you mean `core`"]),
    ("poisson", "size", "websaerch", &["`size`", "did you mean `websearch`"]),
    ("poisson", "size", "0", &["`size` is 0 B", "at least 1 B"]),
    ("poisson", "size", "unlimited", &["`size`", "flows that end"]),
    ("poisson", "size", "9KB..8KB", &["`size` is 9 KB..8 KB", "ascending"]),
    ("poisson", "size", "12parsec", &["`12parsec`", "KB"]),
    ("poisson", "size", "bad.cdf", &["bad.cdf: line 2", "100 %"]),
    ("poisson", "size", "none.cdf", &["none.cdf", "no such file"]),
    ("poisson", "scale", "0", &["`scale` is 0", "more than 0"]),
    ("poisson", "sigma", "1", &["`sigma` is 1", "log-normal"]),
    ("poisson", "arrival", "poison", &["`poison`", "did you mean `poisson`"]),
    ("poisson", "per_second", "5", &["`load`", "either `load` or `per_second` or `mean_gap`"]),
    ("poisson", "mean_gap", "1us", &["`load`", "given with `mean_gap`"]),
    ("poisson", "rate_of", "host", &["`rate_of`", "needs `per_second`"]),
    ("poisson", "rate_of", "hosts", &["`hosts`", "did you mean `host`"]),
    ("poisson", "receivers", "h3", &["`receivers` is n3", "no other receiver"]),
    ("poisson", "senders", "g7", &["`senders`", "host `g7`", "did you mean `h7`"]),
    ("poisson", "senders", "h7..h7", &["`senders`", "at least one host"]),
    ("poisson", "stop", "0s", &["`stop` is 0 ps", "after the start"]),
    ("poisson", "start", "5", &["`start`: `5`", "ps, ns, us, ms, s"]),
    ("poisson", "flows", "0", &["`flows` is 0", "from 1"]),
    ("poisson", "flows", "-3", &["`flows`: `-3`", "whole number"]),
    ("poisson", "priority", "8", &["`priority`: `8`", "0 to 7"]),
    ("poisson", "high", "maybe", &["`high`: `maybe`", "`always`"]),
    ("incast", "degree", "32", &["`degree` is 32", "from 1 to 31"]),
    ("incast", "degree", "0", &["`degree` is 0", "from 1 to 31"]),
    ("incast", "events", "0", &["`events` is 0", "at least 1"]),
    ("incast", "replacement", "yes", &["`replacement`: `yes`", "`true`"]),
    ("flow", "dst", "h0", &["from n0 to itself"]),
    ("flow", "dst", "h1..h3", &["`h1..h3`", "one host"]),
    ("flow", "size", "0B", &["`size` is 0 B", "at least 1 B"]),
    ("flow", "path", "main", &["static path `main from n0 to n1`"]),
    ("burst", "duration", "5us", &["`duration`", "either `size` or `duration`"]),
    ("burst", "rate", "5Gbps", &["`rate`", "goes with `duration`"]),
    ("burst", "scale", "1/2", &["`scale` is 1/2", "only the sizes of a table"]),
    ("burst", "receivers", "h5..h7", &["`receivers` is a list of 2", "each of the 3 senders"]),
    ("long-lived", "receivers", "h2", &["from n2 to itself"]),
    ("constant", "rate", "0bps", &["`rate` is 0 b/s", "above 0"]),
    ("constant", "while_held", "drop", &["`drop`", "`backlog`, `discard`"]),
    ("on-off", "off", "0s", &["`off` is 0 ps", "above 0"]),
    ("permutation", "shift", "64", &["`shift` is 64", "32 hosts"]),
    ("permutation", "hosts", "h3", &["`hosts` is 1 host", "at least 2"]),
    ("all-to-all", "hosts", "h3", &["`hosts` is 1 host", "at least 2"]),
    ("rounds", "rack_a", "h16..h32", &["`rack_b` is n16", "to one rack"]),
    ("rounds", "degree", "17", &["`rack_b` is a list of 16", "at least 17 hosts"]),
    ("split", "flows", "0", &["`flows` is 0", "from 1"]),
    ("split", "high_types", "5", &["`high_types` is 5", "from 1 to 4"]),
    ("split", "paths", "p1", &["`paths` is a list of 1", "4 types"]),
    ("split", "receivers", "h1", &["`receivers` is a list of 1", "4 types"]),
    ("list", "file", "bad.csv", &["bad.csv: line 2", "`h0` to itself"]),
];

#[test]
fn bad_values_are_refused_with_parameter_value_and_remedy() {
    for &(pattern, parameter, value, parts) in BAD {
        let message = add(pattern, &least(pattern).with(parameter, value)).unwrap_err().to_string();
        for part in parts {
            assert!(
                message.contains(part),
                "{pattern}.{parameter} = {value}: {message:?} lacks {part:?}"
            );
        }
    }
}

#[test]
fn an_unknown_name_brings_the_nearest_and_all() {
    let message = add("possion", &Params::new()).unwrap_err().to_string();
    assert!(message.contains("did you mean `poisson`?") && message.contains("rounds"), "{message}");
    let params = least("incast").with("degre", 4);
    let message = add("incast", &params).unwrap_err().to_string();
    assert!(message.contains("did you mean `degree`?") && message.contains("spacing"), "{message}");
    let message = add("flow", &least("flow").with_list("src", ["h1", "h2"])).unwrap_err();
    assert!(message.to_string().contains("a list of 2"), "{message}");
}

#[test]
fn an_error_points_at_its_parameter() {
    for &(pattern, parameter, value, _) in BAD {
        let error = add(pattern, &least(pattern).with(parameter, value)).unwrap_err();
        // a flow to oneself has two culprits; some checks compare two parameters
        let elsewhere = matches!(error, TrafficError::ToItself { .. })
            || matches!(
                (pattern, parameter),
                ("poisson", "per_second" | "mean_gap") | ("rounds", _)
            );
        assert!(elsewhere || error.parameter() == Some(parameter), "{parameter}: {error}");
    }
}

#[test]
fn classes_paths_and_files_reach_the_flows() {
    let mut plan = add("flow", &least("flow").with("class", "probe").with("path", "p7")).unwrap();
    assert_eq!(plan.classes(), ["probe"]);
    assert_eq!(plan.all_flows(1).unwrap()[0].path, Some(7));
    plan.add_named("list", &least("list"), &Numbered(32)).unwrap();
    assert_eq!(plan.classes(), ["probe", "listed"]);
    let sizes = flows("poisson", &least("poisson").with("size", "mine.cdf"));
    assert!(sizes.iter().all(|f| f.size.get() <= 1000));
    let params =
        least("split").with_list("paths", ["p0", "p1", "p2", "p3"]).with_list("high_types", [3, 4]);
    let split = add("split", &params).unwrap();
    assert_eq!(split.classes(), ["f1", "f2", "f3", "f4"]);
    for f in split.all_flows(1).unwrap() {
        assert_eq!(f.path, Some(u32::from(f.class.0)));
        assert_eq!(f.high, f.class.0 >= 2);
    }
}

#[test]
fn constant_and_long_lived_sources_carry_their_settings() {
    use weir_core::{Bytes, Rate, Time};
    use weir_traffic::WhileHeld;
    let params = least("constant").with("while_held", "discard").with("stop", "1ms");
    for f in flows("constant", &params) {
        assert_eq!((f.rate, f.stop), (Some(Rate::from_gbps(20)), Some(Time::from_ms(1))));
        assert_eq!((f.while_held, f.size), (WhileHeld::Discard, Bytes::MAX));
    }
    let one_each = least("long-lived").with("receivers", "h5..h8");
    let ends: Vec<_> = flows("long-lived", &one_each).iter().map(|f| (f.src.0, f.dst.0)).collect();
    assert_eq!(ends, [(1, 5), (2, 6), (3, 7)]);
}

/// Values of the right kind, most of them at the edges.
fn edges(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Size(_) => &["1", "64KB", "unlimited", "18446744073709551614B", "0"],
        Kind::Sizes => {
            &["1", "64KB", "unlimited", "1B..18446744073709551614B", "datamining", "mine.cdf"]
        }
        Kind::Time(_) => &["0s", "1ps", "10us", "18446744s"],
        Kind::Times => &["0us..30us", "1ps", "0s..18446744s"],
        Kind::Rate => &["1bps", "100Gbps", "18446744Tbps", "0bps"],
        Kind::Number => &["1", "1e-6", "1e12", "NaN", "-1"],
        Kind::Fraction => &["1", "0.5", "1e-6", "1/10", "99%", "1e9", "4294967295"],
        Kind::Bool => &["true", "false"],
        Kind::Choice(words) => words,
        Kind::Host => &["h0", "h31"],
        Kind::Hosts | Kind::Groups => &["h0", "h0..h2", "h0..h32", "h30..h32", "h5..h5"],
        Kind::Path | Kind::Paths => &["p0", "p9"],
        Kind::PRIORITY => &["0", "7"],
        Kind::Whole { .. } | Kind::Wholes { .. } => {
            &["0", "1", "2", "3", "31", "99", "4294967295", "1000000"]
        }
        Kind::Text => &["never", "always", "1KB"],
        Kind::File => &["flows.csv"],
        Kind::Rows => &["src,dst,size,start", "h0,h1,1KB,0s", "src,dst,size,start\nh0,h1,1KB,0s"],
        other => panic!("no pattern takes {}", other.describe()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_parameters_make_a_pattern_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5),
        wild in prop::option::weighted(0.2, "\\PC{0,12}"),
    ) {
        let entries: Vec<_> = catalogue::entries().collect();
        let entry = which.get(&entries);
        let params: Vec<_> = entry.params().collect();
        let mut given = least(entry.name);
        for (i, (param, value)) in changes.iter().enumerate() {
            let param = param.get(&params);
            let edge = *value.get(edges(param.kind));
            let value = wild.as_deref().filter(|_| i == 0).unwrap_or(edge);
            given = given.with(param.name, value);
        }
        if let Ok(plan) = add(entry.name, &given) {
            for mut host in plan.sources(1) {
                prop_assert!(host.by_ref().take(5).all(|f| f.src != f.dst && f.size.get() > 0));
            }
        }
    }
}

/// Hosts 0 to 31, of which eight send to four: the readings of a rate.
#[test]
fn a_rate_is_of_the_network_or_of_each_host() {
    let rate = |pattern: &str, given: &[(&str, &str)]| {
        let mut params = Params::new().with("size", "1KB").with("senders", "h0..h8");
        params = params.with("receivers", "h8..h12");
        if pattern == "incast" {
            params = params.with("degree", 2);
        }
        let params = given.iter().fold(params, |p, (name, value)| p.with(name, *value));
        let plan = add(pattern, &params).unwrap();
        plan.offered()[0].1.flows_per_second
    };
    let each = ("rate_of", "host");
    for (given, network) in [(("per_second", "5000"), 5000.0), (("mean_gap", "5ms"), 200.0)] {
        assert_eq!(rate("poisson", &[given]), network);
        assert_eq!(rate("poisson", &[given, each]), 8.0 * network, "eight senders");
        // two flows an event; each of the four receivers asks
        assert_eq!(rate("incast", &[given]), 2.0 * network);
        assert_eq!(rate("incast", &[given, each]), 4.0 * 2.0 * network);
    }
    let both = Params::new().with("size", "1KB").with("per_second", 5).with("mean_gap", "1ms");
    let error = add("poisson", &both).unwrap_err().to_string();
    assert!(error.contains("either `per_second` or `mean_gap`"), "{error}");
    let zero = Params::new().with("size", "1KB").with("mean_gap", "0s");
    assert!(add("poisson", &zero).unwrap_err().to_string().contains("`mean_gap` is 0s"));
}
