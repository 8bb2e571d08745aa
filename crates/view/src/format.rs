//! The bytes of a recording.
//!
//! ```text
//!   "WEIRTL" version(u16)  gzip( length(u32) header(JSON) section section ... )
//! ```
//!
//! A section is its columns one after the other; the header says how long each of them is. All
//! numbers have their lowest byte first. The same recording is always the same bytes.

use crate::header::Header;
use crate::timeline::{Column, Kind, Packed, Timeline, TimelineTable};
use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, compress_to_output, create_comp_flags_from_zip_params,
};
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::{Deserialize, Serialize};
use weir_core::packed::{RunsIter, SparseIter, read_varint, unzigzag};

/// The version that this program writes. It reads [`OLDEST`] and all after it.
pub const VERSION: u16 = 2;
/// The first version, which has the rows of `samples` and `rates` by window, and no columns of
/// types `runs` and `sparse`.
pub const OLDEST: u16 = 1;

const MAGIC: &[u8; 6] = b"WEIRTL";
/// No time, no name, an unknown operating system: nothing that differs from run to run.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// Level 4 takes more than three times as long for files that are 18 % smaller.
const LEVEL: i32 = 1;
/// A file that promises more than this is damaged or made to do harm.
const MOST_BYTES: usize = 4 << 30;

/// Why a file is no recording that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// It begins differently.
    #[error("it is not a recording: it does not begin with `WEIRTL`")]
    Magic,
    /// It is from a later program.
    #[error("it has version {0} of the format, and this program reads {OLDEST} to {VERSION}")]
    Version(u16),
    /// It is cut off or changed.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

fn damaged(what: impl Into<String>) -> FormatError {
    FormatError::Damaged(what.into())
}

/// The header as it stands in a file.
#[derive(Serialize, Deserialize)]
struct Head {
    #[serde(flatten)]
    header: Header,
    sections: Vec<SectionHead>,
}

#[derive(Serialize, Deserialize)]
struct SectionHead {
    name: String,
    rows: u64,
    columns: Vec<ColumnHead>,
}

#[derive(Serialize, Deserialize)]
struct ColumnHead {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    bytes: u64,
}

impl ColumnHead {
    fn new(name: &str, kind: Kind, bytes: usize) -> Self {
        Self { name: name.to_owned(), kind: kind.name().into(), bytes: bytes as u64 }
    }
}

/// The file of a recording.
pub fn encode(timeline: &Timeline) -> Vec<u8> {
    encode_with(timeline, &[])
}

/// The file of a recording with some sections that are packed already: they come last.
pub(crate) fn encode_with(timeline: &Timeline, packed: &[Packed]) -> Vec<u8> {
    let mut columns = Vec::new();
    let mut sections = Vec::new();
    for table in &timeline.tables {
        let mut heads = Vec::new();
        for Column { name, kind, values } in &table.columns {
            let before = columns.len();
            kind.write(values, &mut columns);
            heads.push(ColumnHead::new(name, *kind, columns.len() - before));
        }
        let rows = table.rows() as u64;
        sections.push(SectionHead { name: table.name.clone(), rows, columns: heads });
    }
    for section in packed {
        let heads = section.columns.iter().map(|c| ColumnHead::new(c.name, c.kind, c.bytes.len()));
        let (name, rows) = (section.name.to_owned(), section.rows);
        sections.push(SectionHead { name, rows, columns: heads.collect() });
    }
    let header = Header { format: VERSION, ..timeline.header.clone() };
    let head = serde_json::to_vec(&Head { header, sections }).expect("a header is always JSON");
    let length = (head.len() as u32).to_le_bytes();
    let packed = packed.iter().flat_map(|s| s.columns.iter().map(|c| c.bytes.as_slice()));
    let whole = head.len() + columns.len() + packed.clone().map(<[u8]>::len).sum::<usize>();
    // room for a file that is half as long, so that it is seldom copied while it grows
    let mut file = Vec::with_capacity(whole / 2);
    file.extend(MAGIC);
    file.extend(VERSION.to_le_bytes());
    file.extend(GZIP_HEAD);
    zip([&length[..], &head, &columns].into_iter().chain(packed), &mut file);
    file
}

/// Compresses the parts one after the other, and adds what ends a gzip stream.
fn zip<'a>(parts: impl Iterator<Item = &'a [u8]>, file: &mut Vec<u8>) {
    let flags = create_comp_flags_from_zip_params(LEVEL, 0, 0);
    let mut compressor = CompressorOxide::new(flags);
    let mut sum = crc32fast::Hasher::new();
    let mut length = 0u32;
    let mut compress = |part: &[u8], flush| {
        compress_to_output(&mut compressor, part, flush, |bytes| {
            file.extend_from_slice(bytes);
            true
        })
    };
    for part in parts {
        sum.update(part);
        length = length.wrapping_add(part.len() as u32);
        compress(part, TDEFLFlush::None);
    }
    compress(&[], TDEFLFlush::Finish);
    file.extend(sum.finalize().to_le_bytes());
    file.extend(length.to_le_bytes());
}

/// The header of a file, without a look at its sections.
pub fn decode_header(file: &[u8]) -> Result<Header, FormatError> {
    let body = body(file)?;
    Ok(head(&body)?.0.header)
}

/// What is compressed in a file.
fn body(file: &[u8]) -> Result<Vec<u8>, FormatError> {
    let rest = file.strip_prefix(MAGIC).ok_or(FormatError::Magic)?;
    let (version, gzip) = rest.split_first_chunk().ok_or_else(|| damaged("no version"))?;
    let version = u16::from_le_bytes(*version);
    if !(OLDEST..=VERSION).contains(&version) {
        return Err(FormatError::Version(version));
    }
    unzip(gzip)
}

/// The header, and the bytes of the sections.
fn head(body: &[u8]) -> Result<(Head, &[u8]), FormatError> {
    let (length, rest) = body.split_first_chunk().ok_or_else(|| damaged("no header"))?;
    let length = u32::from_le_bytes(*length) as usize;
    let head = rest.get(..length).ok_or_else(|| damaged("the header is cut off"))?;
    let head = serde_json::from_slice(head).map_err(|e| damaged(format!("header: {e}")))?;
    Ok((head, &rest[length..]))
}

/// Reads a file that [`encode`] has written.
pub fn decode(file: &[u8]) -> Result<Timeline, FormatError> {
    let body = body(file)?;
    let (Head { header, sections }, mut rest) = head(&body)?;
    let mut tables = Vec::new();
    for section in sections {
        bounded(&section)?;
        let mut columns = Vec::new();
        for column in section.columns {
            let bytes = usize::try_from(column.bytes).unwrap_or(usize::MAX);
            let place = || format!("column `{}` of `{}`", column.name, section.name);
            let Some((bytes, more)) = rest.split_at_checked(bytes) else {
                return Err(damaged(format!("{} is cut off", place())));
            };
            rest = more;
            let kind = Kind::named(&column.kind)
                .ok_or_else(|| damaged(format!("{} has type `{}`", place(), column.kind)))?;
            let values = read_column(kind, section.rows, bytes)
                .ok_or_else(|| damaged(format!("{} has not {} rows", place(), section.rows)))?;
            columns.push(Column { name: column.name, kind, values });
        }
        tables.push(TimelineTable { name: section.name, columns });
    }
    let timeline = Timeline { header, tables };
    check(&timeline)?;
    Ok(timeline)
}

/// Some column has a byte or more for each row, so that few bytes cannot ask for much memory.
fn bounded(section: &SectionHead) -> Result<(), FormatError> {
    let plain = |c: &&ColumnHead| Kind::named(&c.kind).is_some_and(Kind::is_plain);
    let most = section.columns.iter().filter(plain).map(|c| c.bytes).max().unwrap_or(0);
    if section.rows <= most {
        return Ok(());
    }
    Err(damaged(format!("no column of `{}` has {} rows", section.name, section.rows)))
}

/// References lead to something that is there, so that no reader has to look.
fn check(timeline: &Timeline) -> Result<(), FormatError> {
    let Header { nodes, ports, .. } = &timeline.header;
    let wrong = ports.iter().position(|p| {
        p.node as usize >= nodes.len() || p.peer as usize >= ports.len() || p.rate_bps == 0
    });
    if let Some(port) = wrong {
        return Err(damaged(format!("port {port} of the header leads nowhere")));
    }
    if timeline.header.window_ps == 0 {
        return Err(damaged("windows have no length"));
    }
    let places = [
        ("pauses", "port"),
        ("pauses", "by"),
        ("samples", "port"),
        ("paths", "port"),
        ("drops", "port"),
        ("failures", "port"),
        ("deadlocks", "port"),
        ("holds", "port"),
    ];
    for (table, column) in places {
        if timeline.column(table, column).iter().any(|p| *p >= ports.len() as u64) {
            return Err(damaged(format!("`{column}` of `{table}` names a port that is not there")));
        }
    }
    Ok(())
}

fn unzip(gzip: &[u8]) -> Result<Vec<u8>, FormatError> {
    let inner = gzip.strip_prefix(&GZIP_HEAD).ok_or_else(|| damaged("not compressed as it is"))?;
    let (data, sums) = inner.split_last_chunk::<8>().ok_or_else(|| damaged("it is cut off"))?;
    let body = decompress_to_vec_with_limit(data, MOST_BYTES)
        .map_err(|e| damaged(format!("compressed data: {}", e.status as i32)))?;
    let [a, b, c, d, length @ ..] = *sums;
    if crc32fast::hash(&body) != u32::from_le_bytes([a, b, c, d]) {
        return Err(damaged("the check sum differs"));
    }
    // modulo 2^32, as gzip counts
    if body.len() as u32 != u32::from_le_bytes(length) {
        return Err(damaged("the length differs"));
    }
    Ok(body)
}

fn read_column(kind: Kind, rows: u64, mut bytes: &[u8]) -> Option<Vec<u64>> {
    let rows = usize::try_from(rows).ok()?;
    match kind {
        Kind::Runs => {
            let mut list = RunsIter::of_bytes(bytes);
            let values: Vec<u64> = list.by_ref().take(rows).collect();
            return (values.len() == rows && list.is_over()).then_some(values);
        }
        Kind::Sparse => {
            let mut list = SparseIter::of_bytes(bytes);
            let values: Vec<u64> = list.by_ref().take(rows).collect();
            return list.is_over().then_some(values);
        }
        Kind::U8 | Kind::U32 | Kind::Varint | Kind::Delta => {}
    }
    // every value takes a byte or more
    if rows > bytes.len() {
        return None;
    }
    let mut values = Vec::with_capacity(rows);
    let mut before = 0u64;
    for _ in 0..rows {
        let value = match kind {
            Kind::U8 => {
                let (first, rest) = bytes.split_first()?;
                bytes = rest;
                u64::from(*first)
            }
            Kind::U32 => {
                let (first, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                u64::from(u32::from_le_bytes(*first))
            }
            Kind::Delta => {
                before = before.wrapping_add(unzigzag(read_varint(&mut bytes)?));
                before
            }
            _ => read_varint(&mut bytes)?,
        };
        values.push(value);
    }
    bytes.is_empty().then_some(values)
}
