//! The page on TCP names tests and parameters that exist.

use weir_cc::tcp::TcpParams;

const PAGE: &str = include_str!("../../../../docs/src/tcp.md");
const TESTS: [&str; 3] =
    [include_str!("traces.rs"), include_str!("recovery.rs"), include_str!("delivery.rs")];
const UNITS: [(&str, &str); 8] = [
    ("window", include_str!("../../src/tcp/window.rs")),
    ("receiver", include_str!("../../src/tcp/receiver.rs")),
    ("rtt", include_str!("../../src/tcp/rtt.rs")),
    ("reassembly", include_str!("../../src/tcp/reassembly.rs")),
    ("alone", include_str!("../../../sim/tests/tcp/alone.rs")),
    ("losses", include_str!("../../../sim/tests/tcp/losses.rs")),
    ("marks", include_str!("../../../sim/tests/tcp/marks.rs")),
    ("acks", include_str!("../../../sim/tests/tcp/acks.rs")),
];

#[test]
fn the_page_names_tests_that_exist() {
    let start = PAGE.find("| behaviour |").expect("the page has a table of behaviours");
    let rows = PAGE[start..].lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut named = 0;
    for row in rows {
        let cell = row.trim_end_matches('|').rsplit('|').next().expect("a row has cells");
        let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test: {row}");
        for name in names {
            let found = match name.split_once("::") {
                None => TESTS.iter().any(|text| text.contains(&format!("fn {name}("))),
                Some((file, name)) => UNITS
                    .iter()
                    .any(|(unit, text)| *unit == file && text.contains(&format!("fn {name}("))),
            };
            assert!(found, "there is no test `{name}`: {row}");
            named += 1;
        }
    }
    assert!(named > 30, "{named}");
}

#[test]
fn the_page_lists_every_parameter() {
    for p in TcpParams::default().list() {
        let key = p.name.replace('_', "-");
        assert!(PAGE.contains(&format!("\n| `{key}` |")), "{key}");
    }
}
