//! Slowdown by flow size of several result files as a table; `weir fct` draws it, too.
//!
//! `cargo run -p weir-ns3 --example fct -- a/fct.txt b/fct.txt`

use std::path::Path;
use weir_ns3::fct_analysis::{Filter, Series, SlowdownTable, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut runs = Vec::new();
    for file in std::env::args().skip(1) {
        let path = Path::new(&file);
        let records = read(path, &std::fs::read_to_string(path)?)?;
        let name = path.parent().and_then(Path::file_name).unwrap_or(path.as_os_str());
        runs.push(Series::new(name.to_string_lossy(), &records, Filter::default()));
    }
    let table = SlowdownTable::new(&runs, 20);
    let (titles, rows) = table.rows();
    println!("{}", titles.join("\t"));
    for row in rows {
        println!("{}", row.join("\t"));
    }
    Ok(())
}
