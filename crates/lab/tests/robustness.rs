//! No text, however odd, makes the reader panic, and every problem can be shown.

use proptest::prelude::*;
use weir_lab::Experiment;
use weir_lab::scenario::Files;
use weir_lab::scenario::builtin::BUILT_IN;

/// Reads it, and renders whatever there is to say, plain and in colour.
fn digest(text: &str, sets: &[String]) {
    match Experiment::read("x.toml", text, Files::default(), sets) {
        Ok(e) => {
            let _ = e.warnings.render(&e.scenario.sources, true);
            let variant = e.variant(None, None, 1).expect("the scheme of the file");
            let _ = weir_lab::describe::settings(&e, &e.config(variant));
        }
        Err(problems) => {
            assert!(problems.diagnostics.has_errors());
            let _ = problems.render(false);
            let _ = problems.render(true);
        }
    }
}

/// Pieces that scenario files are made of, right and wrong.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z-]{1,12} = ",
        Just("[topology]\nkind = \"star\"\n".to_owned()),
        Just(
            "[[traffic]]\nkind = \"flow\"\nfrom = \"h0\"\nto = \"h1\"\nsize = \"1KB\"\n".to_owned()
        ),
        Just("[switch]\nthresholds = { xoff = ".to_owned()),
        "\"[0-9]{1,22}(KB|us|Gbps|%|)\"\n",
        "[-0-9._e]{1,12}\n",
        "\\[\\[?[a-z-]{1,12}\\]\\]?\n",
        Just("\n".to_owned()),
        "\\PC{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
        digest(&text, &[]);
    }

    #[test]
    fn text_that_looks_like_a_scenario_never_panics(
        pieces in prop::collection::vec(piece(), 0..20)
    ) {
        digest(&pieces.concat(), &[]);
    }

    #[test]
    fn a_damaged_scenario_never_panics(
        which in 0..BUILT_IN.len(), at in 0.0..1.0f64, cut in 0..12usize, insert in piece()
    ) {
        let mut text: Vec<char> = BUILT_IN[which].text.chars().collect();
        let start = (at * text.len() as f64) as usize;
        let end = (start + cut).min(text.len());
        text.splice(start..end, insert.chars());
        digest(&text.into_iter().collect::<String>(), &[]);
    }

    #[test]
    fn arbitrary_overrides_never_panic(
        which in 0..BUILT_IN.len(),
        path in "[a-z.0-9-]{0,30}",
        value in "\\PC{0,20}",
    ) {
        digest(BUILT_IN[which].text, &[format!("{path}={value}"), value]);
    }
}
