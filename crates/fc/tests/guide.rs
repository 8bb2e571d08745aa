//! The guide to writing schemes (`docs/src/own-scheme.md`) is the example, and the example is the
//! guide: what a reader copies from the page compiles, runs and passes its tests.

fn read(path: &str) -> String {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn guide() -> String {
    read("../../docs/src/own-scheme.md")
}

/// The blocks of Rust of the page, one after the other with a blank line in between.
#[test]
fn the_blocks_of_the_guide_are_the_example() {
    let (guide, example) = (guide(), read("examples/own_scheme.rs"));
    let mut blocks = Vec::new();
    for (i, block) in guide.split("\n```").enumerate() {
        if i % 2 == 1 {
            let (language, code) = block.split_once('\n').unwrap_or((block, ""));
            assert!(["rust", "sh"].contains(&language), "a block of `{language}`");
            if language == "rust" {
                blocks.push(format!("{code}\n"));
            }
        }
    }
    let shown = blocks.join("\n");
    for (n, (a, b)) in shown.lines().zip(example.lines()).enumerate() {
        assert_eq!(a, b, "line {} of the example", n + 1);
    }
    assert_eq!(shown, example);
    let scheme = example.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = scheme.trim_end().lines().count();
    assert!(lines < 110 && guide.contains(&format!("the scheme is {lines} lines")), "{lines}");
}

/// The methods of a trait or an implementation, given what its first line begins with.
fn methods(source: &str, first: &str) -> Vec<String> {
    let body = source.split(first).nth(1).and_then(|s| s.split("\n}\n").next());
    let lines = body.unwrap_or_else(|| panic!("no `{first}`")).lines();
    let names = lines.filter_map(|l| l.strip_prefix("    fn "));
    names.map(|l| l.split('(').next().unwrap_or(l).to_owned()).collect()
}

/// The table of hooks names every method of the trait, and the sentence below it those that the
/// example does not have, no more and no less.
#[test]
fn the_guide_names_every_hook_and_those_it_leaves_out() {
    let all = methods(&read("src/interface.rs"), "pub trait FlowControl");
    let used = methods(&read("examples/own_scheme.rs"), "impl FlowControl for Door");
    assert!(all.len() > 10 && used.iter().all(|m| all.contains(m)), "{all:?} {used:?}");
    let guide = guide();
    let hooks = guide.split("## The hooks").nth(1).and_then(|s| s.split("## ").next());
    let hooks = hooks.expect("the heading");
    let (table, below) = hooks.split_once("Door leaves out").expect("the sentence");
    for method in &all {
        assert!(table.contains(&format!("`{method}`")), "`{method}` is not in the table");
    }
    for (file, first) in [("hints", "pub trait Hints"), ("pipelined", "pub trait Pipelined")] {
        for method in methods(&read(&format!("src/{file}.rs")), first) {
            assert!(below.contains(&format!("`{method}`")), "`{method}` is not in the table");
        }
    }
    let sentence = below.split(':').next().unwrap_or_default();
    let mut named: Vec<&str> = sentence.split('`').skip(1).step_by(2).collect();
    let mut left: Vec<&str> =
        all.iter().filter(|m| !used.contains(m)).map(String::as_str).collect();
    named.sort_unstable();
    left.sort_unstable();
    assert_eq!(named, left);
}

/// The guide says how long its second example is: lines of code up to `main`.
#[test]
fn the_credit_scheme_is_as_short_as_the_guide_says() {
    let example = read("examples/credits.rs");
    let scheme = example.split("pub(crate) fn main").next().unwrap_or_default();
    let is_code = |l: &&str| !l.trim().is_empty() && !l.trim().starts_with("//");
    let lines = scheme.lines().filter(is_code).count();
    assert!(guide().contains(&format!("a credit scheme of {lines} lines of code")), "{lines}");
}
