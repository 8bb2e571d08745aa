//! GOAL as binary: little-endian, packed, nodes in the order of the text.
//!
//! ```text
//!   u64 4223 · u32 ranks · u8 highest cpu · u8 highest nic · per rank u64 start, u64 end
//!   per rank: u32 nodes · u32 roots · roots as u32 · nodes of 39 bytes · edges as u32
//!   node: u32 in-degree · u8 type · u32 peer · u64 size · u32 tag · u8 cpu · u8 nic
//!         · u32 count and u32 first edge of dependents · the same of start-dependents
//! ```
//!
//! Starts and ends count from byte 8. The numbers are narrower than in text: tags and peers have
//! 32 bits, CPUs and NICs eight; a schedule with larger ones has no binary form.

use super::{ANY, Dependency, Kind, Op, Rank, Schedule, Wait};

const MAGIC: u64 = 4223;
const NODE: usize = 39;
/// Bytes before the first rank's entry.
const HEAD: usize = 14;

/// Why bytes are no schedule, or a schedule has no binary form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BinaryError {
    /// The file does not begin with the number of the format.
    #[error("not a binary GOAL file: it begins with {0} instead of 4223")]
    Magic(u64),
    /// The file is shorter than its numbers say.
    #[error("byte {at}: the file ends where {what} should be")]
    Short {
        /// Where.
        at: usize,
        /// What is missing.
        what: &'static str,
    },
    /// A number that cannot be.
    #[error("byte {at}: {what}")]
    Invalid {
        /// Where.
        at: usize,
        /// What is wrong.
        what: String,
    },
    /// A number does not fit into its field.
    #[error("rank {rank}, operation {op}: {what} does not fit into the binary form")]
    TooLarge {
        /// Of which rank.
        rank: usize,
        /// Which operation.
        op: usize,
        /// What.
        what: &'static str,
    },
}

struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], BinaryError> {
        let found = self.all.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        let bytes = *found.ok_or(BinaryError::Short { at: self.at, what })?;
        self.at += N;
        Ok(bytes)
    }

    fn u8(&mut self, what: &'static str) -> Result<u8, BinaryError> {
        self.take::<1>(what).map(|[b]| b)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, BinaryError> {
        self.take(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, BinaryError> {
        self.take(what).map(u64::from_le_bytes)
    }

    fn invalid(&self, what: impl Into<String>) -> BinaryError {
        BinaryError::Invalid { at: self.at, what: what.into() }
    }
}

/// Reads a schedule.
pub fn parse(bytes: &[u8]) -> Result<Schedule, BinaryError> {
    let mut b = Bytes { all: bytes, at: 0 };
    let magic = b.u64("the number of the format")?;
    if magic != MAGIC {
        return Err(BinaryError::Magic(magic));
    }
    let ranks = b.u32("the number of ranks")?;
    b.u8("the highest CPU")?;
    b.u8("the highest NIC")?;
    // 16 bytes each: what is not in the file need not be allocated for
    if (bytes.len() - b.at) / 16 < ranks as usize {
        return Err(BinaryError::Short { at: bytes.len(), what: "the table of ranks" });
    }
    let mut schedule = Schedule::default();
    for rank in 0..ranks as usize {
        b.at = HEAD + 16 * rank;
        let (start, end) = (b.u64("the start of a rank")?, b.u64("the end of a rank")?);
        let place = |x: u64| usize::try_from(x).ok().and_then(|x| x.checked_add(8));
        let (Some(start), Some(end)) = (place(start), place(end)) else {
            return Err(b.invalid("a rank begins beyond the end of the file"));
        };
        if start > end || end > bytes.len() {
            return Err(b.invalid(format!(
                "rank {rank} lies from byte {start} to {end} of {}",
                bytes.len()
            )));
        }
        schedule.ranks.push(program(&mut Bytes { all: &bytes[..end], at: start }, ranks)?);
    }
    Ok(schedule)
}

/// Where the dependents of a node stand among the edges.
struct Edges {
    on: u32,
    wait: Wait,
    count: u32,
    first: u32,
}

fn program(b: &mut Bytes<'_>, ranks: u32) -> Result<Rank, BinaryError> {
    let nodes = b.u32("the number of operations")?;
    let roots = b.u32("the number of roots")?;
    let left = b.all.len() - b.at;
    let needed = (roots as usize).checked_mul(4).and_then(|r| r.checked_add(nodes as usize * NODE));
    if needed.is_none_or(|n| n > left) {
        return Err(b.invalid(format!("{nodes} operations and {roots} roots in {left} bytes")));
    }
    // roots follow from the operations that wait for nothing
    b.at += 4 * roots as usize;
    let (mut ops, mut edges) = (Vec::new(), Vec::new());
    for node in 0..nodes {
        b.u32("an in-degree")?;
        ops.push(op(b, ranks)?);
        for wait in [Wait::Completion, Wait::Start] {
            let (count, first) = (b.u32("a count of dependents")?, b.u32("a first dependent")?);
            edges.push(Edges { on: node, wait, count, first });
        }
    }
    let table = b.at;
    // each edge belongs to one operation: what claims more is damaged, and would take long to read
    let claimed: u64 = edges.iter().map(|e| u64::from(e.count)).sum();
    let room = ((b.all.len() - table) / 4) as u64;
    if claimed > room {
        return Err(b.invalid(format!("{claimed} dependencies where {room} have room")));
    }
    let mut dependencies = Vec::new();
    for e in edges {
        for i in 0..u64::from(e.count) {
            let at = (u64::from(e.first) + i) as usize;
            b.at = table + 4 * at;
            let waits = b.u32("a dependent")?;
            if waits >= nodes {
                return Err(b.invalid(format!("operation {waits} of {nodes}")));
            }
            dependencies.push(Dependency { waits, on: e.on, wait: e.wait });
        }
    }
    Ok(Rank::new(ops, &dependencies))
}

fn op(b: &mut Bytes<'_>, ranks: u32) -> Result<Op, BinaryError> {
    let kind = match b.u8("a type")? {
        1 => Kind::Send,
        2 => Kind::Recv,
        3 => Kind::Calc,
        other => return Err(b.invalid(format!("type {other}: 1 sends, 2 receives, 3 computes"))),
    };
    let wide = |x: u32| if x == u32::MAX { ANY } else { u64::from(x) };
    let peer = wide(b.u32("a peer")?);
    let size = b.u64("a size")?;
    let tag = wide(b.u32("a tag")?);
    let (cpu, nic) = (u16::from(b.u8("a CPU")?), u16::from(b.u8("a NIC")?));
    let open = peer == ANY && kind == Kind::Recv;
    if kind != Kind::Calc && peer >= u64::from(ranks) && !open {
        return Err(b.invalid(format!("peer {peer} of {ranks} ranks")));
    }
    Ok(match kind {
        Kind::Calc => Op { kind, size, peer: 0, tag: 0, cpu, nic: 0 },
        _ => Op { kind, size, peer, tag, cpu, nic },
    })
}

/// Writes a schedule.
pub fn write(schedule: &Schedule) -> Result<Vec<u8>, BinaryError> {
    let mut blocks = Vec::new();
    for (rank, program) in schedule.ranks.iter().enumerate() {
        blocks.push(block(rank, program)?);
    }
    let (cpus, nics) = schedule.resources();
    let mut out = Vec::new();
    out.extend(MAGIC.to_le_bytes());
    out.extend((schedule.ranks.len() as u32).to_le_bytes());
    out.extend([(cpus - 1) as u8, (nics - 1) as u8]);
    let mut at = (HEAD + 16 * blocks.len() - 8) as u64;
    for block in &blocks {
        let end = at + block.len() as u64;
        out.extend(at.to_le_bytes());
        out.extend(end.to_le_bytes());
        at = end;
    }
    blocks.iter().for_each(|block| out.extend(block));
    Ok(out)
}

fn block(rank: usize, program: &Rank) -> Result<Vec<u8>, BinaryError> {
    let roots: Vec<u32> =
        (0..program.ops.len() as u32).filter(|i| program.waits_for[*i as usize] == 0).collect();
    let mut out = Vec::new();
    let word = |out: &mut Vec<u8>, x: u32| out.extend(x.to_le_bytes());
    word(&mut out, program.ops.len() as u32);
    word(&mut out, roots.len() as u32);
    roots.iter().for_each(|root| word(&mut out, *root));
    let (mut edges, mut first) = (Vec::new(), 0_u32);
    for (i, o) in program.ops.iter().enumerate() {
        let narrow = |x: u64, what| match x {
            ANY => Ok(u32::MAX),
            x if x < u64::from(u32::MAX) => Ok(x as u32),
            _ => Err(BinaryError::TooLarge { rank, op: i, what }),
        };
        let byte =
            |x: u16, what| u8::try_from(x).map_err(|_| BinaryError::TooLarge { rank, op: i, what });
        word(&mut out, program.waits_for[i]);
        out.push(match o.kind {
            Kind::Send => 1,
            Kind::Recv => 2,
            Kind::Calc => 3,
        });
        word(&mut out, narrow(o.peer, "a peer")?);
        out.extend(o.size.to_le_bytes());
        word(&mut out, narrow(o.tag, "a tag")?);
        out.extend([byte(o.cpu, "a CPU")?, byte(o.nic, "a NIC")?]);
        for wait in [Wait::Completion, Wait::Start] {
            let dependents = program.dependents(i as u32, wait);
            word(&mut out, dependents.len() as u32);
            word(&mut out, first);
            first += dependents.len() as u32;
            edges.extend(dependents);
        }
    }
    edges.iter().for_each(|edge| word(&mut out, *edge));
    Ok(out)
}

/// Whether bytes begin like a binary schedule.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_errors_with_their_place() {
        assert_eq!(parse(b""), Err(BinaryError::Short { at: 0, what: "the number of the format" }));
        assert_eq!(parse(&[0; 8]), Err(BinaryError::Magic(0)));
        let text = "num_ranks 2\nrank 0 {\na: send 8b to 1\nb: calc 3\nb requires a\n}\nrank 1 {\n\
                    recv 8b from 0\n}\n";
        let schedule = super::super::text::parse(text.as_bytes()).expect("a schedule");
        let bytes = write(&schedule).expect("it fits");
        assert_eq!(parse(&bytes), Ok(schedule));
        for end in 0..bytes.len() {
            assert!(parse(&bytes[..end]).is_err(), "cut off at {end}");
        }
    }

    #[test]
    fn what_does_not_fit_is_not_written() {
        let text = "num_ranks 1\nrank 0 {\ncalc 1 cpu 256\n}\n";
        let schedule = super::super::text::parse(text.as_bytes()).expect("a schedule");
        let error = BinaryError::TooLarge { rank: 0, op: 0, what: "a CPU" };
        assert_eq!(write(&schedule), Err(error));
    }
}
