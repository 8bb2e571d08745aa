//! The scheme pages of the book list the parameters there are, with their defaults.

use weir_fc::{SchemeInfo, bfc, ffc, flowsail, ideal};

fn page(info: &SchemeInfo) -> String {
    let path = format!("{}/../../docs/src/schemes/{}.md", env!("CARGO_MANIFEST_DIR"), info.name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn every_parameter_and_its_default_is_on_the_schemes_page() {
    for info in [&bfc::INFO, &ideal::INFO, &flowsail::INFO, &ffc::INFO] {
        let page = page(info);
        let rows: Vec<Vec<&str>> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        for param in info.params {
            let name = format!("`{}`", param.name);
            let row = rows.iter().find(|row| row[1] == name);
            let row = row.unwrap_or_else(|| panic!("{}: {name} is missing", info.name));
            // a derived default is described in words
            if !param.default.is_empty() {
                assert_eq!(row[2], param.default, "{}: {name}", info.name);
            }
        }
    }
}
