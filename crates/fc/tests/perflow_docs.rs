//! The scheme pages of the book list the parameters there are, with their defaults.

use weir_fc::{SchemeInfo, bfc, ffc, flowsail, gfc, ideal, ppfc};

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
            if !param.default().is_empty() {
                assert_eq!(row[2], param.default(), "{}: {name}", info.name);
            }
        }
    }
}

/// What a scenario file states for `mode` of a scheme.
fn stated(scenario: &str, scheme: &str) -> Option<String> {
    let section = format!("[flow-control.{scheme}]");
    let mut lines = scenario.lines().skip_while(|line| *line != section).skip(1);
    let own = lines.by_ref().take_while(|line| !line.starts_with('['));
    let mode = own.into_iter().find_map(|line| line.strip_prefix("mode = \"")?.split('"').next());
    mode.map(str::to_owned)
}

#[test]
fn the_overview_lists_the_modes_of_every_shipped_scenario() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let page = read(&format!("{root}/docs/src/schemes/overview.md"));
    let mut files: Vec<_> = std::fs::read_dir(format!("{root}/scenarios"))
        .expect("the scenarios")
        .map(|f| f.expect("a file").path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    for file in &files {
        let name = file.file_stem().expect("a name").to_string_lossy();
        let text = read(&file.to_string_lossy());
        let mode = |info: &SchemeInfo| {
            let default = info.params.iter().find(|p| p.name == "mode").expect("a mode").default();
            let given = stated(&text, info.name).map(|mode| format!("{mode}, stated"));
            given.unwrap_or_else(|| default.to_owned())
        };
        let row = format!("| `{name}` | {} | {} |", mode(&ppfc::INFO), mode(&gfc::INFO));
        assert!(page.contains(&row), "missing in the overview: {row}");
    }
    let rows =
        page.lines().filter(|line| line.ends_with("| paper |") || line.ends_with("stated |"));
    assert_eq!(rows.count(), files.len(), "a row for each scenario and no other");
    let fig1 = read(&format!("{root}/scenarios/ofc-fig1.toml"));
    let ofc = Some("ofc".to_owned());
    assert_eq!((stated(&fig1, "ppfc"), stated(&fig1, "gfc")), (ofc.clone(), ofc));
}
