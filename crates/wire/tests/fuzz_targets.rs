//! Every decoder has a fuzz target, and keeps its promises on the fuzzer's seeds.

use std::path::Path;
use weir_wire::fuzz::DECODERS;

#[test]
fn every_decoder_has_a_fuzz_target_and_takes_its_seeds() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for (decoder, decode) in DECODERS {
        let target = fuzz.join(format!("fuzz_targets/{decoder}.rs"));
        assert!(target.exists(), "no {}", target.display());
        let seeds = std::fs::read_dir(fuzz.join("seeds").join(decoder)).expect("a directory");
        let seeds: Vec<_> = seeds.map(|seed| seed.expect("an entry").path()).collect();
        assert!(!seeds.is_empty(), "{decoder} has no seeds");
        for seed in seeds {
            decode(&std::fs::read(&seed).expect("a seed"));
        }
    }
}
