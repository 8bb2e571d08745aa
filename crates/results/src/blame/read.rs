//! Blame from the files of a run.

use super::{Account, CulpritRow, FlowRow, ShareRow};
use crate::findings::Part;
use std::collections::BTreeMap;
use std::path::Path;
use weir_core::{Bytes, Time};

/// A table that was read: rows by column.
struct Read {
    name: String,
    heads: Vec<String>,
    rows: Vec<csv::StringRecord>,
}

impl Read {
    fn open(directory: &Path, name: &str) -> Result<Self, String> {
        let path = directory.join(name);
        let shown = path.display().to_string();
        let mut reader = csv::Reader::from_path(&path).map_err(|e| {
            format!("cannot read {shown}: {e}; `weir run SCENARIO --blame --out DIR` writes it")
        })?;
        let heads = reader.headers().map_err(|e| format!("{shown}: {e}"))?;
        let heads = heads.iter().map(str::to_owned).collect();
        let rows: Result<Vec<_>, _> = reader.records().collect();
        Ok(Self { heads, rows: rows.map_err(|e| format!("{shown}: {e}"))?, name: shown })
    }

    fn column(&self, name: &str) -> Result<usize, String> {
        let found = self.heads.iter().position(|h| h == name);
        found.ok_or_else(|| {
            format!("{} has no column `{name}`: it was written without --blame", self.name)
        })
    }

    /// The cells of a column, in order of the rows.
    fn words(&self, name: &str) -> Result<Vec<String>, String> {
        let at = self.column(name)?;
        Ok(self.rows.iter().map(|row| row.get(at).unwrap_or("").to_owned()).collect())
    }

    fn numbers(&self, name: &str) -> Result<Vec<Option<u64>>, String> {
        let words = self.words(name)?.into_iter().enumerate();
        let number = |(i, word): (usize, String)| match word.as_str() {
            "" => Ok(None),
            word => word.parse().map(Some).map_err(|_| {
                format!("{}, line {}: `{word}` in `{name}` is no whole number", self.name, i + 2)
            }),
        };
        words.map(number).collect()
    }
}

/// Variant and seed of a run.
type Name = (String, String);
/// Rows by run.
type ByRun<T> = BTreeMap<Name, Vec<T>>;
/// A run and its flows, of which those that have not ended are none.
type RunFlows = (Name, Vec<Option<FlowRow>>);

fn runs(table: &Read) -> Result<Vec<Name>, String> {
    Ok(table.words("variant")?.into_iter().zip(table.words("seed")?).collect())
}

fn by_run<T>(runs: Vec<Name>, rows: Vec<T>) -> ByRun<T> {
    let mut sorted: ByRun<T> = BTreeMap::new();
    runs.into_iter().zip(rows).for_each(|(run, row)| sorted.entry(run).or_default().push(row));
    sorted
}

/// The flows of each run, the runs in the order of the file.
fn flows(directory: &Path) -> Result<Vec<RunFlows>, String> {
    let t = Read::open(directory, "flows.csv")?;
    let [id, src, dst] = ["flow", "src", "dst"].map(|name| t.words(name));
    let (id, src, dst) = (id?, src?, dst?);
    let (size, fct) = (t.numbers("size")?, t.numbers("fct_ps")?);
    let mut parts = Vec::new();
    for part in Part::ALL {
        parts.push(t.numbers(&format!("{}_ps", part.name().replace('-', "_")))?);
    }
    let row = |i: usize| {
        Some(FlowRow {
            flow: id[i].clone(),
            src: src[i].clone(),
            dst: dst[i].clone(),
            size: size[i].map(Bytes::new),
            fct: Time::from_ps(fct[i]?),
            parts: std::array::from_fn(|p| Time::from_ps(parts[p][i].unwrap_or(0))),
        })
    };
    let names = runs(&t)?;
    let mut order = names.clone();
    order.dedup();
    // queue pairs of jobs have no end
    let own = |i: &usize| !is_queue_pair(&id[*i]);
    let (names, own) = (0..id.len()).filter(own).map(|i| (names[i].clone(), row(i))).unzip();
    let mut rows = by_run(names, own);
    let of = |run: (String, String)| (run.clone(), rows.remove(&run).unwrap_or_default());
    Ok(order.into_iter().map(of).collect())
}

/// Whether a flow is a queue pair of a job, by its name: these are numbered from 2^31 on.
fn is_queue_pair(name: &str) -> bool {
    let number = name.rsplit_once('.').and_then(|(_, number)| number.parse::<u64>().ok());
    number.is_some_and(|number| number >= 1 << 31)
}

fn shares(directory: &Path) -> Result<ByRun<ShareRow>, String> {
    let t = Read::open(directory, "blame.csv")?;
    let [flow, part, port, root, certainty] =
        ["flow", "part", "port", "root", "certainty"].map(|name| t.words(name));
    let (flow, part, port, root, certainty) = (flow?, part?, port?, root?, certainty?);
    let [hop, count, time] = ["hop", "count", "time_ps"].map(|name| t.numbers(name));
    let (hop, count, time) = (hop?, count?, time?);
    let mut rows = Vec::new();
    for i in 0..flow.len() {
        rows.push(ShareRow {
            flow: flow[i].clone(),
            hop: hop[i].unwrap_or(0),
            part: Part::named(&part[i]).ok_or_else(|| {
                let valid = Part::ALL.map(Part::name).join(", ");
                format!("{}, line {}: `{}` is none of {valid}", t.name, i + 2, part[i])
            })?,
            port: port[i].clone(),
            root: root[i].clone(),
            certainty: certainty[i].clone(),
            count: count[i].unwrap_or(0),
            time: Time::from_ps(time[i].unwrap_or(0)),
        });
    }
    Ok(by_run(runs(&t)?, rows))
}

fn culprits(directory: &Path) -> Result<ByRun<CulpritRow>, String> {
    let t = Read::open(directory, "culprits.csv")?;
    let [flow, kind, port, root, culprit] =
        ["flow", "kind", "port", "root", "culprit"].map(|name| t.words(name));
    let (flow, kind, port, root, culprit) = (flow?, kind?, port?, root?, culprit?);
    let [hop, bytes, time] = ["hop", "bytes", "time_ps"].map(|name| t.numbers(name));
    let (hop, bytes, time) = (hop?, bytes?, time?);
    let row = |i: usize| CulpritRow {
        flow: flow[i].clone(),
        hop: hop[i].unwrap_or(0),
        kind: kind[i].clone(),
        port: port[i].clone(),
        root: root[i].clone(),
        culprit: culprit[i].clone(),
        bytes: Bytes::new(bytes[i].unwrap_or(0)),
        time: Time::from_ps(time[i].unwrap_or(0)),
    };
    Ok(by_run(runs(&t)?, (0..flow.len()).map(row).collect()))
}

impl Account {
    /// Of all runs in a result directory that was written with `--blame`.
    pub fn read(directory: &Path) -> Result<Vec<Self>, String> {
        let flows = flows(directory)?;
        let (mut shares, mut culprits) = (shares(directory)?, culprits(directory)?);
        let views = std::fs::read_to_string(directory.join("blame.json")).unwrap_or_default();
        let views: serde_json::Value = serde_json::from_str(&views).unwrap_or_default();
        let runs = flows.into_iter().map(|(run, rows)| {
            let all = rows.len();
            let flows: Vec<FlowRow> = rows.into_iter().flatten().collect();
            let of = |v: &&serde_json::Value| {
                v["variant"] == run.0.as_str() && v["seed"].as_u64() == run.1.parse().ok()
            };
            let views = views["runs"].as_array().and_then(|all| all.iter().find(of));
            Self {
                title: format!("{} · {} · seed {}", directory.display(), run.0, run.1),
                open: (all - flows.len()) as u64,
                flows,
                shares: shares.remove(&run).unwrap_or_default(),
                culprits: culprits.remove(&run).unwrap_or_default(),
                views: views.map_or_else(Default::default, |v| v["views"].clone()),
            }
        });
        Ok(runs.collect())
    }
}
