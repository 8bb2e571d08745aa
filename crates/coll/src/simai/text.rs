//! The text of a workload.
//!
//! ```text
//!   policy key: value ...
//!   number of rows
//!   name dependency  ns type bytes (forward)  ns type bytes (input)  ns type bytes (weight)  ns
//! ```

use crate::TextError;
use crate::collective::Operation;

/// The policies that can be carried out.
const POLICIES: [&str; 2] = ["HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD"];
/// Policies that there are in SimAI and that have another meaning.
const OTHER_POLICIES: [&str; 9] = [
    "DATA",
    "MODEL",
    "MICRO",
    "HYBRID_DLRM",
    "HYBRID_DLRM_ENHANCED",
    "HYBRID_DATA_MODEL",
    "HYBRID_MODEL_DATA",
    "HYBRID_CUSTOMIZED",
    "DISTRIBUTED_INFERENCE",
];

/// Among whom a collective is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Among {
    /// The tensor parallel group.
    Tensor,
    /// The data parallel group.
    Data,
    /// The expert parallel group.
    Expert,
    /// The ranks that hold the same experts.
    SameExperts,
}

/// A collective of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// What is done.
    pub operation: Operation,
    /// Among whom.
    pub among: Among,
    /// The whole array.
    pub bytes: u64,
}

/// A computation and what follows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassWork {
    /// How long it takes.
    pub compute_ns: u64,
    /// The collective behind it.
    pub collective: Option<Collective>,
}

/// A layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerRow {
    /// Its name.
    pub name: String,
    /// The forward pass.
    pub forward: PassWork,
    /// The gradient of its input.
    pub input: PassWork,
    /// The gradient of its weights.
    pub weight: PassWork,
    /// Time behind each of its collectives.
    pub update_ns: u64,
}

/// A workload as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Small arrays of the forward pass count as 4096 bytes.
    pub forward_in_backward: bool,
    /// Ranks of a tensor parallel group.
    pub tp: u64,
    /// Ranks of an expert parallel group.
    pub ep: u64,
    /// Pipeline stages.
    pub pp: u64,
    /// All ranks, if it says so.
    pub all_gpus: Option<u64>,
    /// Rows that a replay of the forward pass begins at.
    pub checkpoints: Vec<u64>,
    /// Rows before whose input gradient the forward pass is replayed.
    pub replays: Vec<u64>,
    /// The layers.
    pub rows: Vec<LayerRow>,
    /// What has another effect than its words say.
    pub notes: Vec<String>,
}

/// The most rows that are read.
pub const MOST_ROWS: u64 = 1 << 18;

/// Whether bytes begin like a workload.
pub fn is_workload(bytes: &[u8]) -> bool {
    let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    let word = line.split(|b| b.is_ascii_whitespace()).find(|w| !w.is_empty()).unwrap_or_default();
    POLICIES.iter().chain(&OTHER_POLICIES).any(|policy| policy.as_bytes() == word)
}

fn shortened(word: &str) -> String {
    word.chars().take(40).collect::<String>().escape_debug().to_string()
}

/// Reads a workload.
pub fn parse(bytes: &[u8]) -> Result<Rows, TextError> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|b| **b == b'\n').count();
        TextError { line, what: "this is not text".into() }
    })?;
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let end = text.lines().count().max(1);
    let wrong = |line: usize, what: String| TextError { line, what };
    let (at, first) = lines.next().ok_or_else(|| wrong(end, "the file is empty".into()))?;
    let mut all = header(first).map_err(|what| wrong(at, what))?;
    let missing = || wrong(end, "the number of rows is missing".into());
    let (at, count) = lines.next().ok_or_else(missing)?;
    let rows = count.trim().parse::<u64>().ok().filter(|rows| *rows <= MOST_ROWS);
    let Some(count) = rows else {
        let what = format!("`{}` is not a number of rows up to {MOST_ROWS}", shortened(count));
        return Err(wrong(at, what));
    };
    let mut last = at;
    for (at, line) in lines {
        last = at;
        let row = row(line, &mut all).map_err(|what| wrong(at, what))?;
        if all.rows.len() as u64 == count {
            return Err(wrong(at, format!("more rows than the {count} that line 2 announces")));
        }
        all.rows.push(row);
    }
    if (all.rows.len() as u64) < count {
        let what = format!("{} rows, and line 2 announces {count}", all.rows.len());
        return Err(wrong(last, what));
    }
    let rows = all.checkpoints.iter().chain(&all.replays);
    if let Some(row) = rows.copied().find(|row| *row >= count) {
        return Err(wrong(1, format!("a checkpoint is row {row}, and there are {count} rows")));
    }
    Ok(all)
}

/// The first line: a policy, then keys and values in any order.
fn header(line: &str) -> Result<Rows, String> {
    let mut words = line.split_whitespace().peekable();
    let policy = words.next().unwrap_or_default();
    if !POLICIES.contains(&policy) {
        let known =
            if OTHER_POLICIES.contains(&policy) { "cannot be carried out" } else { "is none" };
        return Err(format!(
            "the policy `{}` {known}: {} can",
            shortened(policy),
            POLICIES.join(", ")
        ));
    }
    let mut all = Rows {
        forward_in_backward: policy == POLICIES[1],
        tp: 1,
        ep: 1,
        pp: 1,
        all_gpus: None,
        checkpoints: Vec::new(),
        replays: Vec::new(),
        rows: Vec::new(),
        notes: Vec::new(),
    };
    while let Some(key) = words.next() {
        let mut number = |what: &str| {
            let word = words.next().unwrap_or_default();
            let found = word.parse::<u64>().ok();
            found.ok_or_else(|| format!("`{what}` is `{}`, not a number", shortened(word)))
        };
        let at_least_one = |x: u64| match x {
            0 => Err(format!("`{key}` is 0: it is at least 1")),
            x => Ok(x),
        };
        match key {
            "model_parallel_NPU_group:" => all.tp = at_least_one(number(key)?)?,
            "ep:" => all.ep = at_least_one(number(key)?)?,
            "pp:" => all.pp = at_least_one(number(key)?)?,
            "all_gpus:" => all.all_gpus = Some(at_least_one(number(key)?)?),
            // these enter the report of SimAI only
            "vpp:" | "ga:" => {
                number(key)?;
            }
            "pp_comm" | "pp_comm:" => {
                let word = words.next().unwrap_or_default();
                let bytes = word.parse::<f64>().ok().filter(|x| x.is_finite() && *x >= 0.0);
                let bytes = bytes.ok_or_else(|| format!("`pp_comm` is `{}`", shortened(word)))?;
                if bytes > 0.0 {
                    let note = "`pp_comm`: SimAI only reports it, there are no messages between \
                                stages";
                    all.notes.push(note.into());
                }
            }
            "checkpoints:" | "checkpoint_initiates:" => {
                let count = number(key)?;
                let list: Result<Vec<u64>, String> = (0..count).map(|_| number(key)).collect();
                match key {
                    "checkpoints:" => all.checkpoints = list?,
                    _ => all.replays = list?,
                }
            }
            _ if key.ends_with(':') => {
                all.notes.push(format!("`{}` is not known and has no effect", shortened(key)));
            }
            _ => {}
        }
    }
    Ok(all)
}

fn row(line: &str, all: &mut Rows) -> Result<LayerRow, String> {
    let fields: Vec<&str> = line.split_whitespace().take(14).collect();
    if fields.len() != 12 {
        return Err(format!("{} fields instead of 12", fields.len()));
    }
    let number = |i: usize, what: &str| {
        let found = fields[i].parse::<u64>().ok();
        found.ok_or_else(|| format!("{what} is `{}`, not a whole number", shortened(fields[i])))
    };
    let mut part = |i: usize, what: &str, among: Among| {
        let compute_ns = number(i, &format!("the time of {what} in ns"))?;
        let bytes = number(i + 2, &format!("the size of {what} in bytes"))?;
        Ok::<_, String>(PassWork {
            compute_ns,
            collective: collective(fields[i + 1], bytes, among, all)?,
        })
    };
    let forward = part(2, "the forward pass", Among::Tensor)?;
    let input = part(5, "the input gradient", Among::Tensor)?;
    let weight = part(8, "the weight gradient", Among::Data)?;
    let update_ns = number(11, "the time of the update in ns")?;
    Ok(LayerRow { name: fields[0].to_owned(), forward, input, weight, update_ns })
}

fn collective(
    word: &str,
    bytes: u64,
    among: Among,
    all: &mut Rows,
) -> Result<Option<Collective>, String> {
    if word == "NONE" {
        return Ok(None);
    }
    if word == "BROADCAST" {
        let note = "BROADCAST is none to SimAI: nothing is sent";
        if !all.notes.iter().any(|known| known == note) {
            all.notes.push(note.into());
        }
        return Ok(None);
    }
    let suffixes = [("_DP_EP", Among::SameExperts), ("_EP", Among::Expert)];
    let suffix = suffixes.iter().find_map(|(end, whom)| Some((word.strip_suffix(end)?, *whom)));
    let (base, among) = suffix.unwrap_or((word, among));
    let operation = match base {
        "ALLREDUCE" => Operation::AllReduce,
        "ALLGATHER" => Operation::AllGather,
        "REDUCESCATTER" => Operation::ReduceScatter,
        "ALLTOALL" => Operation::AllToAll,
        _ => {
            return Err(format!(
                "there is no collective `{}`: NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL \
                 and these with _EP or _DP_EP are",
                shortened(word)
            ));
        }
    };
    Ok(Some(Collective { operation, among, bytes }))
}
