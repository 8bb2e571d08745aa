//! Tables of probes: columns with a type, a unit and a meaning, and rows of typed cells.

use weir_core::{Bytes, FlowId, NodeId, PortId, Time};

/// A column of a probe's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name in files: lower-case letters, digits and `_`. That of a time ends in `_ps`.
    pub name: &'static str,
    /// What its cells are.
    pub kind: CellKind,
    /// The unit of a number; empty for counts and for what is no number.
    pub unit: &'static str,
    /// What it means, in a few words.
    pub doc: &'static str,
}

impl Column {
    const fn new(
        name: &'static str,
        kind: CellKind,
        unit: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { name, kind, unit, doc }
    }

    /// A node, which files show by its name.
    pub const fn node(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Node, "", doc)
    }

    /// A port, which files show as `NODE:PORT`, as all other tables do.
    pub const fn port(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Port, "", doc)
    }

    /// A flow, which files show as in the table of flows.
    pub const fn flow(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Flow, "", doc)
    }

    /// A time or a duration in picoseconds.
    pub const fn time(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Whole, "ps", doc)
    }

    /// A number of bytes.
    pub const fn bytes(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Whole, "B", doc)
    }

    /// How many.
    pub const fn count(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Whole, "", doc)
    }

    /// A whole number of any other unit.
    pub const fn whole(name: &'static str, unit: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Whole, unit, doc)
    }

    /// A real number.
    pub const fn real(name: &'static str, unit: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Real, unit, doc)
    }

    /// One of a few fixed words.
    pub const fn word(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, CellKind::Word, "", doc)
    }
}

weir_core::words! {
    /// What the cells of a column are.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CellKind {
        /// [`Cell::Node`].
        Node = "node",
        /// [`Cell::Port`].
        Port = "port",
        /// [`Cell::Flow`].
        Flow = "flow",
        /// [`Cell::Whole`].
        Whole = "whole",
        /// [`Cell::Real`].
        Real = "real",
        /// [`Cell::Word`].
        Word = "word",
    }
}

/// A cell of a probe's table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// There is no such thing, in a column of any kind.
    Empty,
    /// A node.
    Node(NodeId),
    /// A port of a node.
    Port(NodeId, PortId),
    /// A flow.
    Flow(FlowId),
    /// A whole number, in the unit of its column.
    Whole(u64),
    /// A real number, in the unit of its column.
    Real(f64),
    /// A word. It is part of the program, so that no input can bring odd characters into a file.
    Word(&'static str),
}

impl Cell {
    /// Its kind; `None` if it is empty.
    const fn kind(self) -> Option<CellKind> {
        match self {
            Self::Empty => None,
            Self::Node(_) => Some(CellKind::Node),
            Self::Port(..) => Some(CellKind::Port),
            Self::Flow(_) => Some(CellKind::Flow),
            Self::Whole(_) => Some(CellKind::Whole),
            Self::Real(_) => Some(CellKind::Real),
            Self::Word(_) => Some(CellKind::Word),
        }
    }
}

impl From<NodeId> for Cell {
    fn from(node: NodeId) -> Self {
        Self::Node(node)
    }
}

impl From<(NodeId, PortId)> for Cell {
    fn from((node, port): (NodeId, PortId)) -> Self {
        Self::Port(node, port)
    }
}

impl From<FlowId> for Cell {
    fn from(flow: FlowId) -> Self {
        Self::Flow(flow)
    }
}

impl From<u64> for Cell {
    fn from(n: u64) -> Self {
        Self::Whole(n)
    }
}

impl From<Time> for Cell {
    fn from(time: Time) -> Self {
        Self::Whole(time.as_ps())
    }
}

impl From<Bytes> for Cell {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes.get())
    }
}

/// What is no number (0 / 0) is an empty cell.
impl From<f64> for Cell {
    fn from(x: f64) -> Self {
        if x.is_finite() { Self::Real(x) } else { Self::Empty }
    }
}

impl From<&'static str> for Cell {
    fn from(word: &'static str) -> Self {
        Self::Word(word)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(maybe: Option<T>) -> Self {
        maybe.map_or(Self::Empty, Into::into)
    }
}

/// What a probe found: a table with a row per whatever the probe measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The name of the probe.
    pub name: &'static str,
    /// What it measures, in one sentence.
    pub summary: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
    cells: Vec<Cell>,
}

impl Measurement {
    /// A table without rows.
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        columns: &'static [Column],
    ) -> Self {
        Self { name, summary, columns, cells: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it has not one cell per column, each empty or of its column's kind.
    pub fn push(&mut self, row: &[Cell]) {
        assert_eq!(row.len(), self.columns.len(), "cells of a row of the probe `{}`", self.name);
        for (column, cell) in self.columns.iter().zip(row) {
            let fits = cell.kind().is_none_or(|kind| kind == column.kind);
            let (probe, name, kind) = (self.name, column.name, column.kind);
            assert!(fits, "probe `{probe}`: column `{name}` is {kind:?}, and the cell {cell:?}");
        }
        self.cells.extend(row);
    }

    /// Its rows, in order of the nodes that wrote them.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Cell]> {
        self.cells.chunks(self.columns.len().max(1))
    }

    /// The whole numbers of a column, by its name; empty cells are left out.
    pub fn numbers<'a>(&'a self, column: &str) -> impl Iterator<Item = u64> + 'a {
        let at = self.columns.iter().position(|c| c.name == column);
        let cells = at.into_iter().flat_map(|at| self.rows().map(move |row| row[at]));
        cells.filter_map(|cell| match cell {
            Cell::Whole(n) => Some(n),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[Column::node("node", "where"), Column::real("share", "", "part")];

    #[test]
    fn cells_are_of_the_kind_of_their_column_or_empty() {
        let mut table = Measurement::new("parts", "parts of a whole", COLUMNS);
        table.push(&[NodeId(1).into(), 0.5.into()]);
        table.push(&[NodeId(2).into(), f64::NAN.into()]);
        let rows: Vec<&[Cell]> = table.rows().collect();
        assert_eq!(rows[0], [Cell::Node(NodeId(1)), Cell::Real(0.5)]);
        assert_eq!(rows[1], [Cell::Node(NodeId(2)), Cell::Empty]);
    }

    #[test]
    #[should_panic = "probe `parts`: column `share` is Real, and the cell Whole(1)"]
    fn a_cell_of_another_kind_is_refused_by_name() {
        Measurement::new("parts", "parts of a whole", COLUMNS)
            .push(&[NodeId(1).into(), 1u64.into()]);
    }
}
