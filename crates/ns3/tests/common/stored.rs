//! The stored runs of the reference simulator.
//!
//! `golden/*.txt` hold runs of the reference (alibaba-edu/High-Precision-Congestion-Control,
//! commit 9f4be2a) packed into a few files: a case begins with `#case`, `#counters` are totals
//! where they were recorded (of a packet trace with zeros for padding: its bytes and their FNV-1a
//! hash), `#queue NODE PORT MAX DATA MARKED` the largest egress queue in bytes and the data packets
//! that left it (all, and marked), `#file NAME` is followed by that file's text, and `#same NAME
//! CASE` stands for the same text as in an earlier case.

use std::collections::BTreeMap;
use std::path::Path;
use weir_ns3::{Inputs, from_texts};

/// A stored run: the files that went in and came out, by name, and what was counted.
#[derive(Clone, Default)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) counters: BTreeMap<String, u64>,
    /// By (node, port): largest queue, data packets, marked ones.
    pub(crate) queues: BTreeMap<(u32, u32), [u64; 3]>,
}

/// The cases of a file.
pub(crate) fn unpack(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut open = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["#case", name] => cases.push(Case { name: name.into(), ..Case::default() }),
            ["#counters", ref pairs @ ..] => {
                let pairs = pairs.iter().map(|p| p.split_once('=').expect("name=value"));
                cases.last_mut().expect("a case is open").counters =
                    pairs.map(|(k, v)| (k.into(), v.parse().expect("a number"))).collect();
            }
            ["#queue", ref numbers @ ..] => {
                let n: Vec<u64> = numbers.iter().map(|n| n.parse().expect("a number")).collect();
                let key = (n[0] as u32, n[1] as u32);
                cases.last_mut().expect("a case is open").queues.insert(key, [n[2], n[3], n[4]]);
            }
            ["#file", name] => {
                open = name.into();
                cases.last_mut().expect("a case is open").files.insert(open.clone(), String::new());
            }
            ["#same", name, other] => {
                let source = cases.iter().find(|c| c.name == other).expect("an earlier case");
                let text = source.files[name].clone();
                cases.last_mut().expect("a case is open").files.insert(name.into(), text);
            }
            _ => {
                let files = &mut cases.last_mut().expect("a case is open").files;
                let file = files.get_mut(&open).expect("a file is open");
                file.push_str(line);
                file.push('\n');
            }
        }
    }
    cases
}

/// Those without link failures.
pub(crate) fn cases() -> Vec<Case> {
    let mut all = unpack(include_str!("../golden/cases.txt"));
    all.extend(unpack(include_str!("../golden/random.txt")));
    all
}

/// What went into a run.
pub(crate) fn inputs(case: &Case) -> Inputs {
    let open = |name: &Path| {
        let text = name.to_str().and_then(|n| case.files.get(n));
        text.map(|t| (name.into(), t.clone())).ok_or_else(weir_ns3::Diagnostics::default)
    };
    let config = &case.files["config.txt"];
    match from_texts(Path::new("config.txt"), config, open) {
        Ok((inputs, _)) => inputs,
        Err(d) => panic!("{}: {d}", case.name),
    }
}
