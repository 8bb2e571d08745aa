//! The flow file: what is sent, and when.
//!
//! ```text
//! n_flows
//! src dst pg dport size_bytes start_seconds        (one line per flow)
//! ```

use crate::clock;
use crate::diag::Diagnostics;
use crate::text::{Words, integer, number, shortened};
use crate::topology::Topology;
use std::fmt::Write as _;
use std::path::Path;
use weir_core::Severity;

/// The largest flow.
const MAX_SIZE: u64 = 1_000_000_000_000_000;

/// One flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// Priority group, which is also the queue in switches: 0 to 7.
    pub pg: u8,
    /// Destination port; by convention 100 for background traffic and 200 for incasts.
    pub dport: u16,
    /// Bytes to send.
    pub size: u64,
    /// Start in seconds, as written.
    pub start: f64,
}

impl Flow {
    /// The start in nanoseconds.
    pub fn start_ns(&self) -> u64 {
        clock::seconds(self.start)
    }
}

/// Reads the text of a flow file and checks it against the network. Flows come back sorted by
/// start (flows that start together keep their order), with warnings about what the original
/// could not have run.
pub fn read(
    path: &Path,
    text: &str,
    topology: &Topology,
) -> Result<(Vec<Flow>, Diagnostics), Diagnostics> {
    let mut words = Words::new(path, text);
    let mut warnings = Diagnostics::default();
    let count: u32 = words.parse("the number of flows", integer)?;
    let mut flows = Vec::new();
    let mut large = 0usize;
    for i in 0..count {
        let flow = read_flow(&mut words, topology, i, count)?;
        large += usize::from(flow.size > u64::from(u32::MAX));
        flows.push(flow);
    }
    if let Some(extra) = words.next() {
        let message = format!("`{}` follows the last of {count} flows", shortened(extra.text));
        let help = "the first line says how many flows there are".to_string();
        warnings.push(Severity::Warning, (path, Some(extra.line)), message, help);
    }
    if large > 0 {
        let message = format!("{large} flows are 4 GiB or larger");
        let help = "the original reads sizes modulo 2^32; here they are taken as written";
        warnings.push(Severity::Warning, (path, None), message, Some(help.into()));
    }
    if !flows.is_sorted_by_key(Flow::start_ns) {
        flows.sort_by_key(Flow::start_ns);
        let message = "flows are not sorted by start time";
        let help = "the original does not run such a file; here they are sorted";
        warnings.push(Severity::Warning, (path, None), message, Some(help.into()));
    }
    Ok((flows, warnings))
}

fn read_flow(
    words: &mut Words<'_>,
    topology: &Topology,
    i: u32,
    count: u32,
) -> Result<Flow, Diagnostics> {
    let what = |part: &str| format!("{part} of flow {} of {count}", i + 1);
    let host = |text: &str| match integer::<u32>(text) {
        Ok(n) if n >= topology.nodes() => {
            Err(format!("nodes are numbered from 0 to {}", i64::from(topology.nodes()) - 1))
        }
        Ok(n) if topology.is_switch[n as usize] => {
            Err(format!("node {n} is a switch; flows run between hosts"))
        }
        other => other,
    };
    let src = words.parse(&what("the source"), host)?;
    let dst = words.parse(&what("the destination"), host)?;
    let pg = words.parse(&what("the priority group"), |t| match integer::<u8>(t) {
        Ok(pg) if pg < 8 => Ok(pg),
        _ => Err("priority groups are 0 to 7, 3 is usual; the original reads past the end of its \
                  tables with others"
            .into()),
    })?;
    let dport = words.parse(&what("the destination port"), integer)?;
    let size = words.parse(&what("the size"), |t| match integer::<u64>(t) {
        Ok(bytes) if bytes <= MAX_SIZE => Ok(bytes),
        _ => Err("write a number of bytes up to 10^15".into()),
    })?;
    let start = words.parse(&what("the start"), |t| match number(t)? {
        s if s < 1e6 => Ok(s),
        _ => Err("starts are seconds below 10^6".into()),
    })?;
    if src == dst {
        let message = format!("{} is node {dst} itself", what("the destination"));
        return Err(words.error(Some(words.line()), message, None));
    }
    Ok(Flow { src, dst, pg, dport, size, start })
}

/// The text of a flow file, with starts to the nanosecond as the original's generator writes
/// them.
pub fn write(flows: &[Flow]) -> String {
    let mut out = format!("{}\n", flows.len());
    for f in flows {
        let Flow { src, dst, pg, dport, size, start } = f;
        let _ = writeln!(out, "{src} {dst} {pg} {dport} {size} {start:.9}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn star() -> Topology {
        Topology { is_switch: vec![false, false, true], links: Vec::new() }
    }

    fn read(text: &str) -> Result<(Vec<Flow>, Diagnostics), String> {
        super::read(Path::new("flow.txt"), text, &star()).map_err(|d| d.to_string())
    }

    #[test]
    fn a_flow_file_reads_back_as_written() {
        let text = "2\n1 0 3 100 2000000 2.000000000\n0 1 4 200 1 2.000200000\n";
        let (flows, warnings) = read(text).unwrap();
        assert_eq!(warnings, Diagnostics::default());
        assert_eq!(flows[1].start_ns(), 2_000_199_999);
        assert_eq!(write(&flows), text);
    }

    #[test]
    fn flows_beyond_4_gib_and_out_of_order_are_taken_with_a_warning() {
        let (flows, warnings) = read("2\n1 0 3 100 5000000000 2.1\n0 1 3 100 1 2.0").unwrap();
        assert_eq!((flows[0].size, flows[1].size), (1, 5_000_000_000));
        assert_eq!(warnings.0.len(), 2);
        assert!(!warnings.has_errors());
    }

    #[test]
    fn mistakes_are_shown_with_their_line() {
        let at = |text: &str| read(text).unwrap_err();
        assert!(at("1\n1 2 3 100 1 2.0").contains(":2: `2` is not the destination of flow 1"));
        assert!(at("1\n1 2 3 100 1 2.0").contains("is a switch"));
        assert!(at("1\n1 9 3 100 1 2.0").contains("0 to 2"));
        assert!(at("1\n1 0 8 100 1 2.0").contains("0 to 7"));
        assert!(at("1\n1 0 3 100 -1 2.0").contains("`-1`"));
        assert!(at("1\n1 0 3 100 1 soon").contains("`soon` is not the start"));
        assert!(at("1\n1 1 3 100 1 2.0").contains(":2: the destination of flow 1 of 1 is node 1"));
        assert!(at("2\n1 0 3 100 1 2.0").contains("ends before the source of flow 2 of 2"));
    }
}
