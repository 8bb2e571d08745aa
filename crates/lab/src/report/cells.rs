//! The cells of a row, one row after the other in the same memory.

use weir_core::decimal::{push_fixed, push_whole};
use weir_core::{NodeId, PortId};
use weir_net::Topology;

/// One row of a table.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    /// With a comma behind each cell.
    text: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
}

#[cfg(feature = "parquet")]
impl<'a> FromIterator<&'a String> for Cells {
    fn from_iter<T: IntoIterator<Item = &'a String>>(texts: T) -> Self {
        let mut cells = Self::default();
        texts.into_iter().for_each(|text| {
            cells.word(text);
        });
        cells
    }
}

impl Cells {
    /// Begins a new row.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    fn end(&mut self) -> &mut Self {
        self.ends.push(self.text.len());
        self.text.push(b',');
        self
    }

    /// Appends a cell of text.
    pub(super) fn word(&mut self, text: &str) -> &mut Self {
        self.text.extend_from_slice(text.as_bytes());
        self.end()
    }

    /// Appends a cell with a whole number.
    pub(super) fn whole(&mut self, n: u64) -> &mut Self {
        push_whole(&mut self.text, n);
        self.end()
    }

    /// Appends a whole number, or an empty cell.
    pub(super) fn maybe(&mut self, n: Option<u64>) -> &mut Self {
        match n {
            Some(n) => self.whole(n),
            None => self.end(),
        }
    }

    /// Appends a real number with so many digits after its point.
    pub(super) fn real(&mut self, x: f64, decimals: usize) -> &mut Self {
        push_fixed(&mut self.text, x, decimals);
        self.end()
    }

    /// Appends pairs as `3:17 5:2`, with `between` in place of the colon.
    pub(super) fn pairs<T>(
        &mut self,
        pairs: impl Iterator<Item = (T, u64)>,
        between: u8,
        mut name: impl FnMut(&mut Vec<u8>, T),
    ) -> &mut Self {
        for (i, (of, n)) in pairs.enumerate() {
            if i > 0 {
                self.text.push(b' ');
            }
            name(&mut self.text, of);
            self.text.push(between);
            push_whole(&mut self.text, n);
        }
        self.end()
    }

    /// Appends the label of a port ([`Topology::port_label`]).
    pub(super) fn port(&mut self, topology: &Topology, n: NodeId, p: PortId) -> &mut Self {
        push_port(&mut self.text, topology, n, p);
        self.end()
    }

    /// The cells.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end + 1));
        starts.zip(&self.ends).map(|(from, &to)| &self.text[from..to])
    }

    /// Appends the row to a CSV file (RFC 4180, lines end in LF).
    pub(super) fn write_csv(&self, out: &mut Vec<u8>) {
        let special = |c: &u8| matches!(c, b',' | b'"' | b'\n' | b'\r');
        // a cell with something to quote is rare: mostly there are just the commas behind cells
        if self.text.iter().filter(|c| special(c)).count() == self.ends.len() {
            out.extend_from_slice(&self.text);
        } else {
            for cell in self.iter() {
                match cell.iter().any(special) {
                    true => quote(cell, out),
                    false => out.extend_from_slice(cell),
                }
                out.push(b',');
            }
        }
        if !self.ends.is_empty() {
            out.pop();
        }
        out.push(b'\n');
    }
}

fn quote(cell: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &c in cell {
        out.push(c);
        if c == b'"' {
            out.push(c);
        }
    }
    out.push(b'"');
}

/// Appends the label of a port.
pub(super) fn push_port(out: &mut Vec<u8>, topology: &Topology, n: NodeId, p: PortId) {
    let (node, port, number) = topology.port_label_parts(n, p);
    out.extend_from_slice(node.as_bytes());
    out.push(b':');
    out.extend_from_slice(port.as_bytes());
    if let Some(p) = number {
        out.extend_from_slice(format!("/{p}").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// As the usual writer of such files writes it.
        #[test]
        fn a_row_is_written_as_any_reader_expects(
            rows in prop::collection::vec(prop::collection::vec("[a,\"\r\n é;]{0,6}", 2..5), 0..4)
        ) {
            let mut usual = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
            let (mut out, mut cells) = (Vec::new(), Cells::default());
            for row in &rows {
                cells.clear();
                row.iter().for_each(|cell| {
                    cells.word(cell);
                });
                cells.write_csv(&mut out);
                usual.write_record(row).unwrap();
            }
            prop_assert_eq!(out, usual.into_inner().unwrap());
        }
    }

    #[test]
    fn a_row_of_nothing_is_an_empty_line() {
        let (mut out, mut cells) = (b"a,".to_vec(), Cells::default());
        cells.write_csv(&mut out);
        cells.word("").write_csv(&mut out);
        cells.word("").write_csv(&mut out);
        assert_eq!(out, b"a,\n\n,\n");
    }

    #[test]
    fn cells_hold_what_was_put_into_them() {
        let mut cells = Cells::default();
        cells.word("gone").clear();
        let pairs = [(3u64, 17), (5, 2)].into_iter();
        cells.word("a").whole(7).maybe(None).real(0.5, 3).pairs(pairs, b':', push_whole);
        let texts: Vec<&str> = cells.iter().map(|c| std::str::from_utf8(c).unwrap()).collect();
        assert_eq!(texts, ["a", "7", "", "0.500", "3:17 5:2"]);
    }
}
