//! Every reader of traces has a fuzz target, and keeps its promises on the fuzzer's seeds.

use std::path::Path;
use weir_coll::{chakra, htsim, loggops, simai};

/// A reader, by the name of its fuzz target.
type Reader = (&'static str, fn(&[u8]));

/// All of them.
const READERS: [Reader; 4] = [
    ("chakra", chakra::fuzz),
    ("goal", loggops::fuzz),
    ("htsim", htsim::fuzz),
    ("simai", simai::fuzz),
];

#[test]
fn every_reader_has_a_fuzz_target_and_takes_its_seeds() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for (reader, read) in READERS {
        let target = fuzz.join(format!("fuzz_targets/{reader}.rs"));
        assert!(target.exists(), "no {}", target.display());
        let seeds = std::fs::read_dir(fuzz.join("seeds").join(reader)).expect("a directory");
        let seeds: Vec<_> = seeds.map(|entry| entry.expect("an entry").path()).collect();
        assert!(!seeds.is_empty(), "{reader} has no seeds");
        for seed in seeds {
            read(&std::fs::read(&seed).expect("a seed"));
        }
    }
}
