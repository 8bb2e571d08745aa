//! No file, however odd, makes a reader panic, and every problem can be shown.
//!
//! What is promised is said and checked in `weir_paper::fuzz`; here it is tried on the seeds of the
//! fuzzer (which include whatever once broke a reader), on damaged ones, on texts of a format's
//! own words, and on arbitrary bytes. `fuzz/` tries for longer.

use proptest::prelude::*;
use std::path::Path;
use weir_paper::fuzz::{READERS, scenario_with};
use weir_scenario::builtin::BUILT_IN;

/// The files in `fuzz/seeds` for one reader.
fn seeds(reader: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(reader);
    let entries = std::fs::read_dir(&directory).unwrap_or_else(|e| panic!("{directory:?}: {e}"));
    let mut paths: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let mut seeds: Vec<_> = paths.iter().map(|p| std::fs::read(p).expect("a seed")).collect();
    if reader == "scenario" {
        seeds.extend(BUILT_IN.iter().map(|b| b.text.as_bytes().to_vec()));
    }
    seeds
}

fn read(reader: &str, bytes: &[u8]) {
    let (_, read) = READERS.iter().find(|(name, _)| *name == reader).expect("a reader");
    read(bytes);
}

#[test]
fn every_reader_has_a_fuzz_target_and_takes_its_seeds() {
    for (reader, read) in READERS {
        let target = format!("../../fuzz/fuzz_targets/{reader}.rs");
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&target).exists(), "no {target}");
        let seeds = seeds(reader);
        assert!(!seeds.is_empty(), "{reader} has no seeds");
        seeds.iter().for_each(|seed| read(seed));
    }
}

/// A text cut into words, and what stands between them.
fn tokens(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let mut tokens: Vec<String> = Vec::new();
    let mut word = false;
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if word && is_word(c) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
        word = is_word(c);
    }
    tokens
}

#[derive(Clone, Debug)]
enum Damage {
    Delete,
    Duplicate,
    /// By another word of the same text.
    Replace(prop::sample::Index),
    Swap(prop::sample::Index),
    Write(String),
}

/// Numbers at the edge of what types hold, and what looks like a number or a quantity.
fn wild() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(
            &[
                "0",
                "-1",
                "1",
                "65535",
                "65536",
                "4294967295",
                "4294967296",
                "18446744073709551615",
                "18446744073709551616",
                "1e308",
                "1e-308",
                "NaN",
                "inf",
                "0.1",
                "%",
                "\0",
                "\r",
                "\"",
                "'",
                "[",
                "]",
                "=",
                "#",
                ",,",
                "ps",
                "Gbps",
                "KB",
                "%%\n",
                "9007199254740993",
                "all",
                "h0..h9",
            ][..]
        )
        .prop_map(str::to_owned),
        "[-0-9._e]{1,12}",
        "[0-9]{1,22}(KB|us|Gbps|%|)",
        "\\PC{0,6}",
    ]
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        Just(Damage::Delete),
        Just(Damage::Duplicate),
        any::<prop::sample::Index>().prop_map(Damage::Replace),
        any::<prop::sample::Index>().prop_map(Damage::Swap),
        wild().prop_map(Damage::Write),
    ]
}

fn apply(tokens: &mut Vec<String>, at: prop::sample::Index, damage: &Damage) {
    if tokens.is_empty() {
        return;
    }
    let i = at.index(tokens.len());
    match damage {
        Damage::Delete => drop(tokens.remove(i)),
        Damage::Duplicate => tokens.insert(i, tokens[i].clone()),
        Damage::Replace(by) => tokens[i] = tokens[by.index(tokens.len())].clone(),
        Damage::Swap(with) => {
            let other = with.index(tokens.len());
            tokens.swap(i, other);
        }
        Damage::Write(text) => tokens[i].clone_from(text),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_bytes_make_a_reader_panic(
        which in 0..READERS.len(), bytes in prop::collection::vec(any::<u8>(), 0..200)
    ) {
        READERS[which].1(&bytes);
    }

    #[test]
    fn no_text_makes_a_reader_panic(which in 0..READERS.len(), text in "\\PC{0,200}") {
        READERS[which].1(text.as_bytes());
    }

    #[test]
    fn no_order_of_a_format_s_words_makes_its_reader_panic(
        which in 0..READERS.len(),
        seed in any::<prop::sample::Index>(),
        words in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::option::weighted(0.1, wild())),
            0..60,
        ),
    ) {
        let seed = seed.get(&seeds(READERS[which].0)).clone();
        let known = tokens(&String::from_utf8_lossy(&seed));
        let text: String =
            words
                .iter()
                .map(|(i, wild)| wild.as_ref().unwrap_or_else(|| i.get(&known)).as_str())
                .collect();
        READERS[which].1(text.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_damaged_file_makes_its_reader_panic(
        which in 0..READERS.len(),
        seed in any::<prop::sample::Index>(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..6),
    ) {
        let seed = seed.get(&seeds(READERS[which].0)).clone();
        let mut tokens = tokens(&String::from_utf8_lossy(&seed));
        for (at, damage) in &damages {
            apply(&mut tokens, *at, damage);
        }
        READERS[which].1(tokens.concat().as_bytes());
    }

    #[test]
    fn no_damaged_scenario_makes_the_reader_panic(
        which in 0..BUILT_IN.len(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), damage()), 1..4),
    ) {
        let mut tokens = tokens(BUILT_IN[which].text);
        for (at, damage) in &damages {
            apply(&mut tokens, *at, damage);
        }
        read("scenario", tokens.concat().as_bytes());
    }

    #[test]
    fn arbitrary_overrides_never_panic(
        which in 0..BUILT_IN.len(),
        path in "[a-z.0-9-]{0,30}",
        value in "\\PC{0,20}",
    ) {
        scenario_with(BUILT_IN[which].text, &[format!("{path}={value}"), value]);
    }
}
