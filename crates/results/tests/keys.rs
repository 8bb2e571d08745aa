//! Every key that is documented is read, and every default that is documented is accepted.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use weir_scenario::Experiment;
use weir_scenario::Files;
use weir_scenario::keys::{self, Key, Kind, SECTIONS};

const REST: &str = "[topology]\nkind = \"star\"\n[[traffic]]\nkind = \"flow\"\nfrom = \"h0\"\nto = \
     \"h1\"\nsize = \"1KB\"\n";

/// Sections with fixed keys that the scenario above does not have.
fn fixed() -> impl Iterator<Item = &'static keys::Section> {
    SECTIONS.iter().filter(|s| !matches!(s.name, "topology" | "traffic"))
}

/// What else the section needs so that only the key in question can be wrong.
fn company(section: &str, key: &str) -> String {
    let needed: &[(&str, &str)] = match section {
        "switch" if matches!(key, "pipeline" | "shared-pool") => &[("model", "\"pipelined\"")],
        "nic" if matches!(key, "weights" | "quantum") => &[("queues", "\"by-priority\"")],
        "nic" if key == "reorder" => &[("reliability", "\"selective-repeat\"")],
        "routing" if key.starts_with("drain-") => &[("balance", "\"adaptive\"")],
        "routing" if key == "flowlet-gap" => &[("balance", "\"flowlet\"")],
        "path" => &[("name", "\"p\""), ("nodes", "[\"h0\", \"sw0\", \"h1\"]")],
        "variant" => &[("label", "\"a\"")],
        "failure" => &[("link", "[\"h0\", \"sw0\"]"), ("down", "\"1us\"")],
        "reference" => &[
            ("scheme", "\"pfc\""),
            ("metric", "\"fct-max\""),
            ("value", "\"1ms\""),
            ("source", "\"a table\""),
        ],
        "job" if OF_CHAKRA.contains(&key) => &[("trace", "\"chakra\"")],
        "job" if key.starts_with("simai-") => &[("trace", "\"simai.txt\""), ("ranks", "8")],
        "job" if OF_MODELS.contains(&key) => &[("model", "\"llama3-70b\"")],
        "job" => &[("collective", "\"all-reduce\""), ("size", "\"20KB\"")],
        "slow-receiver" => &[("hosts", "\"h0\"")],
        "fault" if key == "share" => &[("link", "\"all\"")],
        "fault" => &[("link", "\"all\""), ("nth", "1")],
        _ => &[],
    };
    let others = needed.iter().filter(|(name, _)| *name != key);
    others.map(|(name, value)| format!("{name} = {value}\n")).collect()
}

/// A directory with a trace of each format that has keys of its own; tests run at the same time, so
/// it is written once.
static TRACES: LazyLock<PathBuf> = LazyLock::new(|| {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("keys");
    std::fs::create_dir_all(&directory).expect("a directory");
    let node = "{\"workload_graph\": [{\"Id\": 4, \"NodeType\": 7, \"comm_type\": 0, \
                \"comm_size\": 64}]}";
    let rows = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 8\n1\n\
                a -1 1 ALLREDUCE 64 1 NONE 0 1 ALLGATHER 64 1\n";
    for (file, text) in [("chakra.0.json", node), ("chakra.1.json", node), ("simai.txt", rows)] {
        std::fs::write(directory.join(file), text).expect("a file");
    }
    directory
});

fn problems(text: &str) -> String {
    match Experiment::read("x.toml", text, Files::of(Some(TRACES.clone())), &[]) {
        Ok(_) => String::new(),
        Err(problems) => problems.to_string(),
    }
}

/// Keys of `[[job]]` that go with a Chakra trace.
const OF_CHAKRA: [&str; 3] = ["dependencies", "communication", "comm-groups"];

/// Keys of `[[job]]` that go with a model.
const OF_MODELS: [&str; 23] = [
    "layers",
    "hidden",
    "ffn",
    "heads",
    "kv-heads",
    "vocab",
    "seq",
    "experts",
    "top-k",
    "architecture",
    "tp",
    "pp",
    "dp",
    "ep",
    "order",
    "micro-batch",
    "global-batch",
    "zero",
    "sequence-parallel",
    "dtype",
    "gradient",
    "peak",
    "efficiency",
];

/// A value that no key takes.
const NONSENSE: &str = "[{ nonsense = 1979-05-27 }]";

fn check_key(section: &str, header: &str, key: &Key) {
    let company = company(section, key.name);
    let text = format!("{REST}{header}\n{company}{} = {NONSENSE}\n", key.name);
    let found = problems(&text);
    assert!(found.contains(NONSENSE), "`{}` of {header} is not read: {found}", key.name);
    if !key.default().is_empty() {
        let value = match key.kind {
            Kind::Wholes { .. } | Kind::Whole { .. } | Kind::Bool | Kind::Below(_) => {
                key.default().to_owned()
            }
            _ => format!("{:?}", key.default()),
        };
        let text = format!("{REST}{header}\n{company}{} = {value}\n", key.name);
        assert_eq!(problems(&text), "", "the default of `{}` of {header}", key.name);
    }
    if let Kind::Table(inner, words) = key.kind {
        for word in words {
            let text = format!("{REST}{header}\n{company}{} = \"{word}\"\n", key.name);
            assert_eq!(problems(&text), "", "`{word}` for `{}`", key.name);
        }
        for k in inner {
            let text = format!("{REST}{header}\n{company}{}.{} = {NONSENSE}\n", key.name, k.name);
            let found = problems(&text);
            assert!(found.contains(NONSENSE), "`{}.{}` is not read: {found}", key.name, k.name);
        }
    }
    if let Kind::Choice(words) = key.kind {
        for word in words {
            let text = format!("{REST}{header}\n{company}{} = \"{word}\"\n", key.name);
            // what else a metric needs is its own business
            let found = problems(&text);
            assert!(!found.contains("is not a value"), "`{word}` for `{}`: {found}", key.name);
        }
    }
}

/// The simulator's own default is the documented one.
#[test]
fn the_pause_log_has_one_default() {
    let e = Experiment::read("x.toml", REST, Files::default(), &[]).expect("a scenario");
    let native = weir_sim::config::ProbeConfig::default();
    assert_eq!(e.scenario.probe.pause_events, native.pause_events);
}

#[test]
fn every_documented_key_is_read_and_every_default_accepted() {
    let mut keys_seen = 0;
    for section in fixed() {
        for key in section.keys {
            check_key(section.name, &section.header(), key);
            keys_seen += 1;
        }
    }
    for key in keys::ROOT.keys {
        let found = problems(&format!("{} = {NONSENSE}\n{REST}", key.name));
        assert!(found.contains(NONSENSE), "`{}`: {found}", key.name);
    }
    assert!(keys_seen > 40, "{keys_seen}");
}

#[test]
fn every_parameter_of_every_catalogue_is_read() {
    use weir_scenario::catalogue;
    let refused = |text: &str, what: &str| {
        let found = problems(text);
        assert!(!found.is_empty() && !found.contains("unknown key"), "{what}: {found}");
    };
    for entry in catalogue::topologies() {
        for p in &entry.params {
            let kind = &entry.name;
            let text = format!("[topology]\nkind = \"{kind}\"\n{} = \"?\"\n", p.name);
            refused(&text, &format!("{kind} {}", p.name));
        }
    }
    for (section, tag, entries) in [
        ("flow-control", "scheme", catalogue::schemes()),
        ("congestion-control", "algorithm", catalogue::algorithms()),
    ] {
        for entry in entries {
            for p in &entry.params {
                let name = &entry.name;
                let direct = format!("{REST}[{section}]\n{tag} = \"{name}\"\n{} = \"?\"\n", p.name);
                refused(&direct, &format!("{name} {}", p.name));
                let table = format!("{REST}[{section}.{name}]\n{} = \"?\"\n", p.name);
                refused(&table, &format!("{name} {} in a table of its own", p.name));
            }
        }
    }
}

#[test]
fn parameters_of_a_scheme_reach_it_from_both_places() {
    let text = format!(
        "{REST}[flow-control]\nscheme = \"pfc\"\npause-quanta = 7\n[flow-control.none]\n\
         [congestion-control.dcqcn]\n"
    );
    let e = Experiment::read("x.toml", &text, Files::default(), &[]).expect("a good scenario");
    let variant = e.variant(None, None, 1).expect("the scheme of the file");
    let params = weir_results::describe::scheme_params(&e.config(variant));
    assert!(params.contains(&("pause-quanta".into(), "7".into())), "{params:?}");
}
