//! Experiments that need no run: which share of the flows of a size table a round trip carries.
//!
//! ```toml
//! kind = "flow-sizes"
//! [sizes]
//! tables = ["webserver", { table = "my-sizes.txt", label = "mine" }]
//! rates = ["25Gbps", "100Gbps"]         # share_below_bdp by `rate` and `rtt`
//! rtt = ["12us"]
//! # or
//! times = ["4us", "8us", "12us"]        # share_injected by `time`
//! at = "100Gbps"
//! ```

use super::keys;
use std::str::FromStr;
use std::sync::Arc;
use weir_core::{Rate, Time, Unit};
use weir_results::column::{Heading, Kind};
use weir_scenario::text::Value;
use weir_scenario::{Fields, Files};
use weir_traffic::SizeTable;
use weir_traffic::size::{builtin_table, builtin_tables};

const fn share(name: &'static str, doc: &'static str) -> Heading {
    Heading { name, kind: Kind::Real, unit: Unit::Share, summary: None, doc }
}

/// The columns.
pub(crate) const COLUMNS: &[Heading] = &[
    share("share_below_bdp", "share of the flows that are not larger than rate times RTT"),
    share("share_injected", "share of the flows that are sent whole within the time"),
];

/// What is worked out.
#[derive(Clone, Debug)]
pub struct FlowSizes {
    /// Size tables by label.
    pub tables: Vec<(String, Arc<SizeTable>)>,
    /// Names of the parameters: `rate` and `rtt`, or `time`.
    pub parameters: Vec<String>,
    /// Their values as written, and what they mean.
    pub points: Vec<(Vec<String>, Rate, Time)>,
    /// The column that has values.
    pub metric: &'static str,
}

impl FlowSizes {
    /// The share of the flows of a table at a point, 0 to 1.
    pub fn share(&self, table: usize, point: usize) -> f64 {
        let (_, rate, time) = &self.points[point];
        self.tables[table].1.percent_within_rtt(*rate, *time) / 100.0
    }

    /// Reads `[sizes]`.
    pub(crate) fn read(f: &mut Fields<'_>, files: &Files) -> Option<Self> {
        let Some(item) = f.item("sizes") else {
            f.error("`kind = \"flow-sizes\"` needs `[sizes]`", f.place("kind"), "");
            return None;
        };
        let mut f = Fields::new(&keys::SIZES, Some(item), f.out);
        let tables = tables(&mut f, files);
        let by_time = f.given("times");
        let wrong = if by_time { ["rates", "rtt"] } else { ["at", "times"] };
        if let Some(key) = wrong.iter().find(|key| f.given(key)) {
            f.error("write `rates` and `rtt`, or `times` and `at`", f.place(key), "not both");
            return None;
        }
        let (rates, times): (_, _) = match by_time {
            true => (list::<Rate>(&mut f, "at"), list::<Time>(&mut f, "times")),
            false => (list::<Rate>(&mut f, "rates"), list::<Time>(&mut f, "rtt")),
        };
        let mut points = Vec::new();
        for (rate_text, rate) in &rates {
            for (time_text, time) in &times {
                let values = match by_time {
                    true => vec![time_text.clone()],
                    false => vec![rate_text.clone(), time_text.clone()],
                };
                points.push((values, *rate, *time));
            }
        }
        if by_time && rates.len() > 1 {
            f.error("`at` is one rate", f.place("at"), "");
            return None;
        }
        let names: &[&str] = if by_time { &["time"] } else { &["rate", "rtt"] };
        let parameters = names.iter().map(|n| (*n).to_owned()).collect();
        let metric = COLUMNS[usize::from(by_time)].name;
        let any = !tables.is_empty() && !points.is_empty();
        any.then_some(Self { tables, parameters, points, metric })
    }
}

fn list<T: FromStr<Err: std::fmt::Display>>(f: &mut Fields<'_>, key: &str) -> Vec<(String, T)> {
    f.require(key);
    let mut values = Vec::new();
    for (text, at) in f.names_at(key) {
        match text.parse() {
            Ok(value) => values.push((text, value)),
            Err(error) => f.error(format!("{error}"), at, ""),
        }
    }
    values
}

fn tables(f: &mut Fields<'_>, files: &Files) -> Vec<(String, Arc<SizeTable>)> {
    f.require("tables");
    let mut found: Vec<(String, Arc<SizeTable>)> = Vec::new();
    for item in f.items("tables") {
        let (name, label) = match &item.value {
            Value::Table(_) => {
                let owner = "a size table".to_owned();
                let mut f = Fields::closed(owner, keys::SIZE_TABLE, Some(item), f.out);
                let name = f.required("table");
                f.check_cells(&["table", "label"]);
                let label = f.text_at("label").map(|(label, _)| label);
                (name.clone(), label.unwrap_or(name))
            }
            other => {
                let name = other.text().unwrap_or_default();
                (name.clone(), name)
            }
        };
        let sizes = match builtin_table(&name) {
            Ok(sizes) => sizes,
            Err(_) => match files.text(&name).map(|text| text.parse::<SizeTable>()) {
                Ok(Ok(sizes)) => Arc::new(sizes),
                Ok(Err(error)) => {
                    f.error(format!("`{name}` is not a size table: {error}"), item.span, "");
                    continue;
                }
                Err(_) => {
                    let names: Vec<&str> = builtin_tables().iter().map(|t| t.name).collect();
                    f.unknown("size table or file", &name, item.span, &names);
                    continue;
                }
            },
        };
        if found.iter().any(|(known, _)| *known == label) {
            f.error(format!("two size tables are called `{label}`"), item.span, "");
        }
        found.push((label, sizes));
    }
    found
}
