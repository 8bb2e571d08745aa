//! Flow lists as CSV, in and out.
//!
//! The first line names the columns, in any order; `src`, `dst`, `size` and `start` must be there.
//! Lines that begin with `#` are comments. An empty cell stands for the default.
//!
//! | column | unit | default |
//! |---|---|---|
//! | `src`, `dst` | host names | |
//! | `size` | payload bytes, with or without unit: `1500`, `64KB`; `unlimited` lasts to the end | |
//! | `start` | a time with its unit: `1500ps`, `1.5us` | |
//! | `class` | label in reports | `list` |
//! | `priority` | 0 to 7 | that of the pattern |
//! | `rate` | constant-rate source: `40000000000bps`, `40Gbps` | as fast as the transport allows |
//! | `while_held` | `backlog` or `discard` | `backlog` |
//! | `stop` | a time with its unit | none |
//! | `path` | name of a static path | left to routing |
//! | `high` | `true` or `false`: high sub-class of G-PFC | `false` |
//!
//! What [`write_flows`] writes, [`read_flows`] reads back to the same traffic.

use crate::error::TrafficError;
use crate::flow::{FlowSpec, MAX_CLASSES, WhileHeld};
use crate::text::{FromText, shorten};
use std::io::{self, Read, Write};
use thiserror::Error;
use weir_core::nearest;
use weir_core::{Bytes, ClassId, NodeId, Priority, Rate, Time};

const COLUMNS: [&str; 11] = [
    "src",
    "dst",
    "size",
    "start",
    "class",
    "priority",
    "rate",
    "while_held",
    "stop",
    "path",
    "high",
];
const REQUIRED: usize = 4;
const DEFAULT_CLASS: &str = "list";

/// A flow list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FlowListError {
    /// A column that means nothing.
    #[error("line 1: unknown column `{column}`{}: the columns are {}",
        nearest.map(|n| format!(" (did you mean `{n}`?)")).unwrap_or_default(), COLUMNS.join(", "))]
    UnknownColumn {
        /// Its name.
        column: String,
        /// The column that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A column that is needed and not there.
    #[error("line 1: column `{column}` is missing: src, dst, size and start are needed")]
    MissingColumn {
        /// Its name.
        column: &'static str,
    },
    /// A column that is there twice.
    #[error("line 1: column `{column}` appears twice")]
    RepeatedColumn {
        /// Its name.
        column: &'static str,
    },
    /// A row with too few or too many cells.
    #[error("line {line}: {found} cells, but the first line names {expected} columns")]
    Cells {
        /// Line number, from 1.
        line: u64,
        /// How many cells it has.
        found: u64,
        /// How many columns there are.
        expected: u64,
    },
    /// A cell that cannot be understood.
    #[error("line {line}: `{column}` is `{value}`: {valid}")]
    Value {
        /// Line number, from 1.
        line: u64,
        /// The column.
        column: &'static str,
        /// What was found.
        value: String,
        /// What is valid.
        valid: String,
    },
    /// A flow whose source is its destination.
    #[error("line {line}: a flow from `{host}` to itself: source and destination must differ")]
    ToItself {
        /// Line number, from 1.
        line: u64,
        /// The host.
        host: String,
    },
    /// Text that is not CSV, or a file that cannot be read.
    #[error("line {line}: {message}")]
    Malformed {
        /// Line number, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
}

/// Flows read from a list, with the classes it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowList {
    flows: Vec<FlowSpec>,
    classes: Vec<String>,
}

impl FlowList {
    /// The flows, in the order of the list; their classes are positions in
    /// [`FlowList::classes`], their ids are still to be given by a plan.
    pub fn flows(&self) -> &[FlowSpec] {
        &self.flows
    }

    /// The names of the classes, in the order they came up.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The flows with the ids that `class` gives to their classes.
    pub fn into_flows(
        mut self,
        class: &mut dyn FnMut(&str) -> Result<ClassId, TrafficError>,
    ) -> Result<Vec<FlowSpec>, TrafficError> {
        let ids = self.classes.iter().map(|name| class(name)).collect::<Result<Vec<_>, _>>()?;
        for flow in &mut self.flows {
            flow.class = ids[flow.class.index()];
        }
        Ok(self.flows)
    }
}

/// The position of a class among those of a list, to which it is added if it is new; `None` when
/// there are too many.
fn class_id(classes: &mut Vec<String>, name: &str) -> Option<ClassId> {
    // Rows of a class usually stand together, so the newest is tried first.
    let at = match classes.iter().rposition(|c| c == name) {
        Some(at) => at,
        None if classes.len() < MAX_CLASSES => {
            classes.push(name.into());
            classes.len() - 1
        }
        None => return None,
    };
    Some(ClassId::from_index(at))
}

/// What the host names of a list mean.
pub type HostByName<'a> = &'a dyn Fn(&str) -> Option<NodeId>;
/// What the name of a static path means for a flow from one host to another.
pub type PathByName<'a> = &'a dyn Fn(&str, NodeId, NodeId) -> Option<u32>;

/// Reads a flow list; `host` and `path` say what its names mean. Rows without a priority have 0.
pub fn read_flows(
    input: impl Read,
    host: HostByName<'_>,
    path: PathByName<'_>,
) -> Result<FlowList, FlowListError> {
    read_flows_with(input, host, path, Priority::default())
}

/// [`read_flows`], but for the priority of rows that have none.
pub fn read_flows_with(
    input: impl Read,
    host: HostByName<'_>,
    path: PathByName<'_>,
    priority: Priority,
) -> Result<FlowList, FlowListError> {
    let mut flows = Vec::new();
    let classes = read_csv(input, Meaning { host, path, priority }, &mut |f| flows.push(f))?;
    Ok(FlowList { flows, classes })
}

/// What the names in a list mean, and the priority of rows that have none.
#[derive(Clone, Copy)]
pub(crate) struct Meaning<'a> {
    pub(crate) host: HostByName<'a>,
    pub(crate) path: PathByName<'a>,
    pub(crate) priority: Priority,
}

/// Gives the flows of a list in its order to `take`, and returns the names of their classes.
fn read_csv(
    input: impl Read,
    meaning: Meaning<'_>,
    take: &mut dyn FnMut(FlowSpec),
) -> Result<Vec<String>, FlowListError> {
    let mut reader =
        csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(input);
    let header = reader.headers().map_err(malformed)?;
    let columns = read_header(header.iter())?;
    let mut classes = Vec::new();
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(malformed)? {
        let line = record.position().map_or(0, csv::Position::line);
        let row = ListRow { record: &record, columns: &columns, line, meaning };
        take(row.flow(&mut classes)?);
    }
    Ok(classes)
}

/// [`read_csv`] for text that is in memory.
///
/// It applies to text without quotes and without a carriage return inside a line, which is every
/// list that programs write. It skips the CSV reader and its copy of each cell: without quotes a
/// cell ends at the next comma and a row at the end of its line, so both read the same cells.
pub(crate) fn read_text(
    text: &str,
    meaning: Meaning<'_>,
    take: &mut dyn FnMut(FlowSpec),
) -> Result<Vec<String>, FlowListError> {
    if !is_plain(text) {
        return read_csv(text.as_bytes(), meaning, take);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.split('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)));
    let mut lines = lines.filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
    let header = lines.next().map_or("", |(_, line)| line);
    let columns = read_header(header.split(',').map(str::trim).filter(|_| !header.is_empty()))?;
    let expected = columns.iter().flatten().count();
    let mut classes = Vec::new();
    let mut cells = [""; COLUMNS.len()];
    for (line, text) in lines {
        let found = split(text, &mut cells);
        if found != expected {
            let (found, expected) = (found as u64, expected as u64);
            return Err(FlowListError::Cells { line, found, expected });
        }
        let row = ListRow { record: &cells[..expected], columns: &columns, line, meaning };
        take(row.flow(&mut classes)?);
    }
    Ok(classes)
}

/// Splits a row at its commas, trims the cells and counts them.
fn split<'a>(row: &'a str, cells: &mut [&'a str; COLUMNS.len()]) -> usize {
    let (mut found, mut begin) = (0, 0);
    let ends = row.bytes().enumerate().filter(|&(_, b)| b == b',').map(|(i, _)| i);
    for end in ends.chain([row.len()]) {
        if let Some(place) = cells.get_mut(found) {
            let cell = &row[begin..end];
            let dense = |b: Option<&u8>| b.is_some_and(u8::is_ascii_graphic);
            let bytes = cell.as_bytes();
            // most cells have nothing to trim
            let trimmed = dense(bytes.first()) && dense(bytes.last());
            *place = if trimmed { cell } else { cell.trim() };
        }
        (found, begin) = (found + 1, end + 1);
    }
    found
}

/// Whether lines and cells can be told apart without a CSV reader.
fn is_plain(text: &str) -> bool {
    let inside =
        |(at, _): (usize, &str)| !matches!(text.as_bytes().get(at + 1), None | Some(b'\n'));
    !text.contains('"') && !text.match_indices('\r').any(inside)
}

/// Where each of [`COLUMNS`] stands in the file.
fn read_header<'a>(
    header: impl Iterator<Item = &'a str>,
) -> Result<[Option<usize>; COLUMNS.len()], FlowListError> {
    let mut columns = [None; COLUMNS.len()];
    for (at, name) in header.enumerate() {
        let Some(known) = COLUMNS.iter().position(|&c| c == name) else {
            let (column, nearest) = (shorten(name), nearest(name, COLUMNS));
            return Err(FlowListError::UnknownColumn { column, nearest });
        };
        if columns[known].replace(at).is_some() {
            return Err(FlowListError::RepeatedColumn { column: COLUMNS[known] });
        }
    }
    match columns[..REQUIRED].iter().position(Option::is_none) {
        Some(missing) => Err(FlowListError::MissingColumn { column: COLUMNS[missing] }),
        None => Ok(columns),
    }
}

fn malformed(error: csv::Error) -> FlowListError {
    let line = error.position().map_or(1, csv::Position::line);
    match *error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            FlowListError::Cells { line, found: len, expected: expected_len }
        }
        csv::ErrorKind::Utf8 { .. } => {
            FlowListError::Malformed { line, message: "the text is not UTF-8".into() }
        }
        _ => FlowListError::Malformed { line, message: error.to_string() },
    }
}

/// The cells of a row.
trait Cells {
    fn cell(&self, at: usize) -> Option<&str>;
}

impl Cells for csv::StringRecord {
    fn cell(&self, at: usize) -> Option<&str> {
        self.get(at)
    }
}

impl Cells for [&str] {
    fn cell(&self, at: usize) -> Option<&str> {
        self.get(at).copied()
    }
}

/// One row of the file.
struct ListRow<'a, C: ?Sized> {
    record: &'a C,
    columns: &'a [Option<usize>; COLUMNS.len()],
    line: u64,
    meaning: Meaning<'a>,
}

impl<C: Cells + ?Sized> ListRow<'_, C> {
    /// What stands in a column; `None` when it is empty or not there.
    fn cell(&self, column: usize) -> Option<&str> {
        self.record.cell(self.columns[column]?).filter(|cell| !cell.is_empty())
    }

    fn bad(&self, column: usize, valid: impl Into<String>) -> FlowListError {
        FlowListError::Value {
            line: self.line,
            column: COLUMNS[column],
            value: shorten(self.cell(column).unwrap_or("")),
            valid: valid.into(),
        }
    }

    fn optional<T: FromText>(&self, column: usize) -> Result<Option<T>, FlowListError> {
        self.cell(column)
            .map(|cell| {
                let wrong = |why: String| self.bad(column, why.replace(cell, &shorten(cell)));
                T::from_text(cell).map_err(wrong)
            })
            .transpose()
    }

    fn required<T: FromText>(&self, column: usize) -> Result<T, FlowListError> {
        self.optional(column)?.ok_or_else(|| self.bad(column, "a value is needed here"))
    }

    fn host(&self, column: usize) -> Result<NodeId, FlowListError> {
        let Some(name) = self.cell(column) else {
            return Err(self.bad(column, "a value is needed here"));
        };
        (self.meaning.host)(name).ok_or_else(|| self.bad(column, "no host has this name"))
    }

    fn flow(&self, classes: &mut Vec<String>) -> Result<FlowSpec, FlowListError> {
        let path = self.meaning.path;
        let (src, dst) = (self.host(0)?, self.host(1)?);
        if src == dst {
            let host = shorten(self.cell(0).unwrap_or(""));
            return Err(FlowListError::ToItself { line: self.line, host });
        }
        let no_path = || self.bad(9, "no static path of this name leads from `src` to `dst`");
        let path = self.cell(9).map(|name| path(name, src, dst).ok_or_else(no_path)).transpose()?;
        let class = class_id(classes, self.cell(4).unwrap_or(DEFAULT_CLASS));
        let flow = FlowSpec {
            start: self.required(3)?,
            class: class
                .ok_or_else(|| self.bad(4, format!("there can be {MAX_CLASSES} classes")))?,
            priority: self.optional(5)?.unwrap_or(self.meaning.priority),
            rate: self.optional(6)?,
            while_held: self.optional(7)?.unwrap_or_default(),
            stop: self.optional(8)?,
            path,
            high: self.optional(10)?.unwrap_or_default(),
            ..FlowSpec::new(src, dst, self.required(2)?)
        };
        self.check(flow)
    }

    fn check(&self, flow: FlowSpec) -> Result<FlowSpec, FlowListError> {
        if flow.size == Bytes::ZERO {
            return Err(self.bad(2, "a flow carries at least 1 B"));
        }
        if flow.start == Time::NEVER {
            let valid = format!("a flow starts before {}ps", Time::NEVER.as_ps());
            return Err(self.bad(3, valid));
        }
        if flow.rate.is_some_and(|r| r.as_bps() == 0) {
            return Err(self.bad(6, "a constant-rate source sends above 0 b/s"));
        }
        if flow.stop.is_some_and(|stop| stop <= flow.start) {
            return Err(self.bad(8, "a source stops after its start"));
        }
        Ok(flow)
    }
}

/// Writes flows as a list that [`read_flows`] reads; `host` and `path` give the names of hosts and
/// static paths, `classes` those of the classes.
pub fn write_flows<'a>(
    output: impl Write,
    flows: impl IntoIterator<Item = &'a FlowSpec>,
    host: &dyn Fn(NodeId) -> String,
    path: &dyn Fn(u32) -> String,
    classes: &[String],
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    writer.write_record(COLUMNS).map_err(cause)?;
    for flow in flows {
        let time = |t: Time| format!("{}ps", t.as_ps());
        let size = match flow.size {
            Bytes::MAX => "unlimited".to_owned(),
            size => size.get().to_string(),
        };
        let held = match flow.while_held {
            WhileHeld::Backlog => "backlog",
            WhileHeld::Discard => "discard",
        };
        writer
            .write_record([
                host(flow.src).as_str(),
                &host(flow.dst),
                &size,
                &time(flow.start),
                classes.get(flow.class.index()).map_or(DEFAULT_CLASS, String::as_str),
                &flow.priority.to_string(),
                &flow.rate.map(|r: Rate| format!("{}bps", r.as_bps())).unwrap_or_default(),
                held,
                &flow.stop.map(time).unwrap_or_default(),
                &flow.path.map(path).unwrap_or_default(),
                &flow.high.to_string(),
            ])
            .map_err(cause)?;
    }
    writer.flush()
}

/// The error behind one of the CSV writer: callers tell a closed pipe from a full disk.
fn cause(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use weir_core::Priority;

    fn host(name: &str) -> Option<NodeId> {
        name.strip_prefix('h')?.parse().ok().filter(|&n| n < 100).map(NodeId)
    }

    fn path(name: &str, _: NodeId, _: NodeId) -> Option<u32> {
        name.strip_prefix("via ")?.parse().ok()
    }

    fn read(text: &str) -> Result<FlowList, FlowListError> {
        read_flows(text.as_bytes(), &host, &path)
    }

    /// What [`read_text`] makes of a list: it must be what [`read_flows`] makes of it.
    fn read_fast(text: &str) -> Result<FlowList, FlowListError> {
        let mut flows = Vec::new();
        let meaning = Meaning { host: &host, path: &path, priority: Priority::default() };
        let classes = read_text(text, meaning, &mut |f| flows.push(f))?;
        Ok(FlowList { flows, classes })
    }

    #[test]
    fn text_in_memory_is_read_like_a_file() {
        let rows = "src, dst ,size,start,class\r\nh1,h2, 5KB,0s,a\n\n# h1,h1\n h3,h4,1,2us,\n";
        let marked = format!("\u{feff}{rows}");
        let quoted = rows.replace(" h3", "\"h3\"");
        let old_mac = "src,dst,size,start\rh1,h2,5,0s\r";
        for (text, plain) in [(rows, true), (&marked, true), (&quoted, false), (old_mac, false)] {
            assert_eq!(is_plain(text), plain, "{text:?}");
            assert_eq!(read_fast(text), read(text), "{text:?}");
            assert!(read(text).is_ok_and(|list| !list.flows().is_empty()), "{text:?}");
        }
        let last = rows.trim_end();
        assert_eq!(read_fast(last), read(last));
    }

    fn write(flows: &[FlowSpec], classes: &[String]) -> String {
        let mut out = Vec::new();
        write_flows(&mut out, flows, &|h| format!("h{}", h.0), &|p| format!("via {p}"), classes)
            .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_list_written_by_hand_is_read() {
        let list = read(
            "# two flows\nstart, dst, src, size, class\n1.5us, h2, h1, 64KB, victim\n\
             0s,h3,h4,unlimited,\n",
        )
        .unwrap();
        assert_eq!(list.classes(), ["victim", "list"]);
        let [a, b] = list.flows() else { panic!("two flows") };
        assert_eq!((a.src, a.dst, a.size), (NodeId(1), NodeId(2), Bytes::from_kb(64)));
        assert_eq!((a.start, a.class), (Time::from_ns(1500), ClassId(0)));
        assert_eq!((b.size, b.start, b.class), (Bytes::MAX, Time::ZERO, ClassId(1)));
        assert_eq!((b.rate, b.path), (None, None));
    }

    #[test]
    fn a_bad_list_is_refused_with_line_value_and_remedy() {
        for (text, parts) in [
            ("src,dst,size\n", &["line 1", "`start` is missing"][..]),
            ("src,dst,size,strat\n", &["`strat`", "did you mean `start`?"]),
            ("src,dst,size,start,src\n", &["`src` appears twice"]),
            ("src,dst,size,start\nh1,h2,5\n", &["line 2", "3 cells", "4 columns"]),
            ("src,dst,size,start\n\nh1,h2,5KB,0s\nh1,h777,5,0s\n", &["line 4", "h777", "no host"]),
            ("src,dst,size,start\nh1,h1,5,0s\n", &["line 2", "`h1` to itself"]),
            ("src,dst,size,start\nh1,h2,0,0s\n", &["line 2", "`size` is `0`", "at least 1 B"]),
            ("src,dst,size,start\nh1,h2,-3,0s\n", &["line 2", "`size` is `-3`"]),
            ("src,dst,size,start\nh1,h2,3,7\n", &["line 2", "`start` is `7`", "ps, ns, us"]),
            ("src,dst,size,start\nh1,h2,3,\n", &["line 2", "`start`", "needed"]),
            ("src,dst,size,start,priority\nh1,h2,3,0s,8\n", &["`priority` is `8`", "0 to 7"]),
            ("src,dst,size,start,rate\nh1,h2,3,0s,0bps\n", &["`rate` is `0bps`", "above 0"]),
            ("src,dst,size,start,while_held\nh1,h2,3,0s,x\n", &["`while_held`", "`discard`"]),
            ("src,dst,size,start,stop\nh1,h2,3,5us,5us\n", &["`stop`", "after its start"]),
            ("src,dst,size,start,path\nh1,h2,3,0s,x\n", &["`path` is `x`", "no static path"]),
            ("src,dst,size,start,high\nh1,h2,3,0s,1\n", &["`high` is `1`", "`true`"]),
        ] {
            let message = read(text).unwrap_err().to_string();
            for part in parts {
                assert!(message.contains(part), "{message:?} lacks {part:?}");
            }
            assert_eq!(read_fast(text).unwrap_err().to_string(), message);
        }
        let not_text =
            read_flows(&b"src,dst,size,start\nh1,\xff,3,0s\n"[..], &host, &path).unwrap_err();
        assert!(not_text.to_string().contains("line 2: the text is not UTF-8"), "{not_text}");
    }

    #[test]
    fn a_class_too_many_is_refused_with_its_line() {
        let row = |i| format!("h1,h2,1,0s,c{i}\n");
        let text: String = (0..=MAX_CLASSES).map(row).collect();
        let message = read(&format!("src,dst,size,start,class\n{text}")).unwrap_err().to_string();
        assert_eq!(message, "line 1002: `class` is `c1000`: there can be 1000 classes");
    }

    fn any_flow() -> impl Strategy<Value = FlowSpec> {
        let ends = (0u32..100, 1u32..100);
        let what = (1..u64::MAX, 0..u64::MAX / 2, 0u16..3, 0u8..8);
        let source =
            (prop::option::of(1..u64::MAX), any::<bool>(), prop::option::of(1..1u64 << 40));
        let way = (prop::option::of(any::<u32>()), any::<bool>());
        (ends, what, source, way).prop_map(|(ends, what, source, way)| FlowSpec {
            start: Time::from_ps(what.1),
            class: ClassId(what.2),
            priority: Priority::new(what.3).unwrap(),
            rate: source.0.map(Rate::from_bps),
            while_held: if source.1 { WhileHeld::Discard } else { WhileHeld::Backlog },
            stop: source.2.map(|after| Time::from_ps(what.1 + after)),
            path: way.0,
            high: way.1,
            ..FlowSpec::new(NodeId(ends.0), NodeId((ends.0 + ends.1) % 100), Bytes::new(what.0))
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(flows in prop::collection::vec(any_flow(), 0..20)) {
            let classes = ["plain", "with,comma", "with \"quotes\""].map(String::from);
            let text = write(&flows, &classes);
            let list = read(&text).unwrap();
            prop_assert_eq!(read_fast(&text), Ok(list.clone()));
            let mut id = |name: &str| {
                Ok(ClassId::from_index(classes.iter().position(|c| c == name).unwrap()))
            };
            prop_assert_eq!(list.into_flows(&mut id).unwrap(), flows);
        }
    }
}
