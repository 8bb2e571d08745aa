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

use std::str::FromStr;
use std::sync::Arc;
use weir_core::{Rate, Time, Unit};
use weir_results::column::{Heading, Kind};
use weir_scenario::Files;
use weir_scenario::text::{Item, Span, Table, Value};
use weir_sweep::reader::Reader;
use weir_traffic::SizeTable;
use weir_traffic::size::{builtin_table, builtin_tables};

const fn share(name: &'static str, doc: &'static str) -> Heading {
    Heading { name, kind: Kind::Real, unit: Unit::Share, doc }
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

const KEYS: &[&str] = &["tables", "rates", "rtt", "times", "at"];

impl FlowSizes {
    /// The share of the flows of a table at a point, 0 to 1.
    pub fn share(&self, table: usize, point: usize) -> f64 {
        let (_, rate, time) = &self.points[point];
        self.tables[table].1.percent_within_rtt(*rate, *time) / 100.0
    }

    /// Reads `[sizes]`.
    pub(crate) fn read(r: &mut Reader<'_>, root: &Table, files: &Files) -> Option<Self> {
        let Some(item) = root.get("sizes") else {
            let at = root.get("kind").map_or(r.id.span(0..0), |i| i.span);
            r.error("`kind = \"flow-sizes\"` needs `[sizes]`", at, "");
            return None;
        };
        let table = r.table("[sizes]", item)?;
        r.refuse_unknown(table, "[sizes]", KEYS);
        let tables = tables(r, table, files, item.span);
        let by_time = table.get("times").is_some();
        let wrong = if by_time { ["rates", "rtt"] } else { ["at", "times"] };
        if let Some(at) = wrong.iter().find_map(|key| table.key_span(key)) {
            r.error("write `rates` and `rtt`, or `times` and `at`", at, "not both");
            return None;
        }
        let (rates, times): (_, _) = match by_time {
            true => (
                list::<Rate>(r, table, "at", item.span),
                list::<Time>(r, table, "times", item.span),
            ),
            false => (
                list::<Rate>(r, table, "rates", item.span),
                list::<Time>(r, table, "rtt", item.span),
            ),
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
            r.error("`at` is one rate", table.get("at").map_or(item.span, |i| i.span), "");
            return None;
        }
        let names: &[&str] = if by_time { &["time"] } else { &["rate", "rtt"] };
        let parameters = names.iter().map(|n| (*n).to_owned()).collect();
        let metric = COLUMNS[usize::from(by_time)].name;
        let any = !tables.is_empty() && !points.is_empty();
        any.then_some(Self { tables, parameters, points, metric })
    }
}

fn list<T: FromStr<Err: std::fmt::Display>>(
    r: &mut Reader<'_>,
    table: &Table,
    key: &str,
    owner: Span,
) -> Vec<(String, T)> {
    if table.get(key).is_none() {
        r.error(format!("[sizes] needs `{key}`"), owner, "");
    }
    let mut values = Vec::new();
    for (text, at) in r.texts(table, key) {
        match text.parse() {
            Ok(value) => values.push((text, value)),
            Err(error) => r.error(format!("{error}"), at, ""),
        }
    }
    values
}

fn tables(
    r: &mut Reader<'_>,
    table: &Table,
    files: &Files,
    owner: Span,
) -> Vec<(String, Arc<SizeTable>)> {
    let items: &[Item] = match table.get("tables") {
        Some(Item { value: Value::List(items), .. }) => items,
        Some(one) => std::slice::from_ref(one),
        None => {
            r.error("[sizes] needs `tables`: names of size tables", owner, "");
            &[]
        }
    };
    let mut found: Vec<(String, Arc<SizeTable>)> = Vec::new();
    for item in items {
        let (name, label) = match &item.value {
            Value::Table(own) => {
                r.refuse_unknown(own, "a size table", &["table", "label"]);
                let name = r.required(own, "table", "a size table", item.span);
                r.check_cells(own, &["table", "label"]);
                let label = r.text(own, "label").map(|(label, _)| label);
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
                    r.error(format!("`{name}` is not a size table: {error}"), item.span, "");
                    continue;
                }
                Err(_) => {
                    let names: Vec<&str> = builtin_tables().iter().map(|t| t.name).collect();
                    r.unknown("size table or file", &name, item.span, &names);
                    continue;
                }
            },
        };
        if found.iter().any(|(known, _)| *known == label) {
            r.error(format!("two size tables are called `{label}`"), item.span, "");
        }
        found.push((label, sizes));
    }
    found
}
