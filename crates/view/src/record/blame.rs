//! Where completion times went, and who is to blame: what [`weir_results`] finds, as sections.

use super::Source;
use super::pauses::Pauses;
use crate::timeline::{Kind, TimelineTable};
use std::collections::BTreeMap;
use weir_results::findings::{Blamed, Fault, FctPart, Share};
use weir_scenario::PortAt;
use weir_sim::outcome::CulpritKind;

/// The pauses of a recording by the port that they hold and the port at which they began.
struct ByRoot<'a> {
    pauses: &'a Pauses,
    /// Rows in the order of their starts.
    rows: BTreeMap<(u64, u64), Vec<usize>>,
    /// The first pause that began at a port.
    first: BTreeMap<u64, usize>,
}

impl<'a> ByRoot<'a> {
    fn new(pauses: &'a Pauses) -> Self {
        let mut rows: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
        let mut first = BTreeMap::new();
        for row in 0..pauses.rows() {
            let Some(root) = pauses.root_port(row) else { continue };
            rows.entry((pauses.port(row), root)).or_default().push(row);
            first.entry(root).or_insert(row);
        }
        Self { pauses, rows, first }
    }

    /// A pause that stands for what held a flow at `port` from `at` on and began at `root`: the
    /// last one before, and otherwise any that began there. Its place plus one; 0 if there is none.
    fn reference(&self, port: u64, root: u64, at: u64) -> u64 {
        let there = self.rows.get(&(port, root)).map_or(&[][..], Vec::as_slice);
        let before = there.partition_point(|row| self.pauses.from(*row) <= at);
        let near = there.get(before.saturating_sub(1)).or_else(|| self.first.get(&root));
        near.map_or(0, |row| *row as u64 + 1)
    }
}

/// The sections `blame` and `culprits`; none if the run does not know.
pub(super) fn tables(source: &Source<'_>, pauses: &Pauses) -> Option<[TimelineTable; 2]> {
    let blames = source.run.blames(source.e)?;
    let by_root = ByRoot::new(pauses);
    let mut accounts: Vec<(u64, &Blamed)> =
        blames.flows.iter().filter_map(|b| Some((source.flows.place(b.flow)?, b))).collect();
    accounts.sort_by_key(|(place, _)| *place);
    let columns = [
        ("flow", Kind::Delta),
        ("part", Kind::U8),
        ("port", Kind::Varint),
        ("root", Kind::Varint),
        ("ps", Kind::Varint),
    ];
    let mut blame = TimelineTable::new("blame", &columns);
    let columns = [
        ("flow", Kind::Delta),
        ("port", Kind::Varint),
        ("culprit", Kind::Varint),
        ("bytes", Kind::Varint),
        ("kind", Kind::U8),
        ("ps", Kind::Varint),
        ("root", Kind::Varint),
    ];
    let mut culprits = TimelineTable::new("culprits", &columns);
    let port = |at: PortAt| source.port(at.node, at.port);
    for (place, Blamed { shares, culprits: all, .. }) in accounts {
        for Share { part, at, root, first, time, .. } in shares {
            let number = FctPart::ALL.iter().position(|p| p == part).unwrap_or_default();
            let at = port(*at);
            let root = root.map_or(0, |root| by_root.reference(at, port(root), first.as_ps()));
            blame.push([place, number as u64, at + 1, root, time.as_ps()]);
        }
        for c in all {
            let Some(culprit) = source.flows.place(c.flow) else { continue };
            let kind = match c.fault {
                Fault::Queue(CulpritKind::Direct) => 0,
                Fault::Queue(CulpritKind::Indirect) => 1,
                Fault::Queue(CulpritKind::Original) => 2,
                Fault::Pause => 3,
            };
            let root = c.root.map_or(0, |root| port(root) + 1);
            culprits.push([place, port(c.at), culprit, c.bytes.get(), kind, c.time.as_ps(), root]);
        }
    }
    Some([blame, culprits])
}
