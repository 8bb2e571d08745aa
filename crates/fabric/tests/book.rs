//! The book against the program.

use weir_fabric::{ASICS, CODES};

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/operators.md");
    std::fs::read_to_string(path).expect("the page is there")
}

/// The page lists every code with its severity and title, in order; this is how.
#[test]
fn the_page_lists_all_codes() {
    let row =
        |c: &&weir_fabric::Code| format!("| `{}` | {} | {} |", c.code, c.severity.name(), c.title);
    let wanted: Vec<String> = CODES.iter().map(row).collect();
    let page = page();
    let found: Vec<&str> = page.lines().filter(|l| l.starts_with("| `SN")).collect();
    assert_eq!(found, wanted, "the table should be:\n{}", wanted.join("\n"));
}

#[test]
fn the_page_lists_all_families() {
    let page = page();
    for asic in &ASICS {
        assert!(page.contains(&format!("| `{}` |", asic.name)), "{}", asic.name);
    }
}
