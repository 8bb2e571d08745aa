//! Tables of text: aligned, and narrow enough for the terminal.
//!
//! A table that is too wide shortens the texts of columns that allow it, then drops its least
//! important columns; it never wraps.

use weir_scenario::text::Colour;

/// To which side the cells of a column are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// What several neighbouring columns are about; shown once above them.
    pub group: String,
    /// What this column is.
    pub head: String,
    /// Side.
    pub align: Align,
    /// Columns with a lower value are dropped first; those with the highest stay.
    pub keep: u8,
    /// Texts may be shortened to this width.
    pub least: Option<usize>,
}

impl Column {
    /// A column of words.
    pub fn words(head: &str, keep: u8) -> Self {
        Self { group: String::new(), head: head.into(), align: Align::Left, keep, least: None }
    }

    /// A column of numbers.
    pub fn numbers(head: &str, keep: u8) -> Self {
        Self { group: String::new(), head: head.into(), align: Align::Right, keep, least: None }
    }

    /// Allows its texts to be shortened to `least` columns where the table is too wide.
    #[must_use]
    pub const fn at_least(mut self, least: usize) -> Self {
        self.least = Some(least);
        self
    }

    /// Puts it under a common heading.
    #[must_use]
    pub fn under(mut self, group: &str) -> Self {
        self.group = group.into();
        self
    }
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextTable {
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows; short ones are filled up.
    pub rows: Vec<Vec<String>>,
    /// Rows to set apart (published numbers), by index.
    pub faint: Vec<usize>,
}

const GAP: usize = 2;
const INDENT: usize = 2;

/// How many columns of a terminal a text takes. All text printed here is of characters that
/// take one.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// A text in at most `room` columns: what is cut off leaves `…`.
pub fn shorten(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "…"
}

impl TextTable {
    /// An empty table.
    pub fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: Vec::new(), faint: Vec::new() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    fn cell<'a>(&'a self, row: &'a [String], column: usize) -> &'a str {
        row.get(column).map_or("", String::as_str)
    }

    fn widths(&self) -> Vec<usize> {
        let cells = |i: usize| self.rows.iter().map(move |row| width(self.cell(row, i)));
        let columns = self.columns.iter().enumerate();
        columns.map(|(i, c)| cells(i).max().unwrap_or(0).max(width(&c.head))).collect()
    }

    /// How wide a table of these columns is.
    fn total(&self, shown: &[usize], widths: &[usize]) -> usize {
        // a long common heading may widen its columns
        let mut widths = widths.to_vec();
        let _ = self.groups(shown, &mut widths);
        INDENT + shown.iter().map(|&i| widths[i] + GAP).sum::<usize>().saturating_sub(GAP)
    }

    /// Takes room from the widest columns that allow it until the table fits, if it can.
    fn shrink(&self, shown: &[usize], widths: &mut [usize], limit: usize) {
        while self.total(shown, widths) > limit {
            let least =
                |i: usize| self.columns[i].least.map(|n| n.max(width(&self.columns[i].head)));
            let can = shown.iter().copied().filter(|&i| least(i).is_some_and(|n| widths[i] > n));
            let Some(widest) = can.max_by_key(|&i| widths[i]) else { return };
            widths[widest] -= 1;
        }
    }

    /// The columns that fit into `limit` and have something in them, in order.
    fn visible(&self, limit: usize) -> Vec<usize> {
        let widths = self.widths();
        let empty = |i: usize| self.rows.iter().all(|row| self.cell(row, i).is_empty());
        let mut shown: Vec<usize> = (0..self.columns.len()).filter(|&i| !empty(i)).collect();
        let fits = |shown: &[usize]| {
            let mut widths = widths.clone();
            self.shrink(shown, &mut widths, limit);
            self.total(shown, &widths) <= limit
        };
        while !fits(&shown) && shown.len() > 1 {
            let least = shown.iter().rev().min_by_key(|&&i| self.columns[i].keep).copied();
            shown.retain(|&i| Some(i) != least);
        }
        shown
    }

    /// Whether some column of `group` is shown in a table of `limit` columns.
    pub fn shows_group(&self, group: &str, limit: usize) -> bool {
        self.visible(limit).into_iter().any(|i| self.columns[i].group == group)
    }

    /// Whether a table of `limit` columns shows everything.
    pub fn fits(&self, limit: usize) -> bool {
        self.visible(limit) == self.visible(usize::MAX)
    }

    /// The table as lines of at most `limit` columns (as far as two columns allow that).
    pub fn render(&self, limit: usize, colour: Colour) -> String {
        let shown = self.visible(limit);
        let mut widths = self.widths();
        self.shrink(&shown, &mut widths, limit);
        let groups = self.groups(&shown, &mut widths);
        let mut lines = Vec::new();
        if let Some(groups) = groups {
            lines.push(paint(&groups, colour, "1"));
        }
        let heads = |i: usize| self.columns[i].head.as_str();
        lines.push(paint(&self.line(&shown, &widths, heads), colour, "1"));
        for (n, row) in self.rows.iter().enumerate() {
            let line = self.line(&shown, &widths, |i| self.cell(row, i));
            let faint = self.faint.contains(&n);
            lines.push(if faint { paint(&line, colour, "2") } else { line });
        }
        lines.join("\n")
    }

    fn line<'a>(
        &self,
        shown: &[usize],
        widths: &[usize],
        cell: impl Fn(usize) -> &'a str,
    ) -> String {
        let mut line = " ".repeat(INDENT);
        for (k, &i) in shown.iter().enumerate() {
            if k > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            let text = shorten(cell(i), widths[i]);
            let fill = " ".repeat(widths[i].saturating_sub(width(&text)));
            match self.columns[i].align {
                Align::Left => line.extend([text.as_str(), &fill]),
                Align::Right => line.extend([fill.as_str(), &text]),
            }
        }
        line.trim_end().to_owned()
    }

    /// The line of common headings; widens the last column of a group whose heading is longer
    /// than its columns.
    fn groups(&self, shown: &[usize], widths: &mut [usize]) -> Option<String> {
        if shown.iter().all(|&i| self.columns[i].group.is_empty()) {
            return None;
        }
        let mut line = " ".repeat(INDENT);
        let mut k = 0;
        while k < shown.len() {
            let group = &self.columns[shown[k]].group;
            let mut end = k + 1;
            while !group.is_empty()
                && shown.get(end).is_some_and(|&i| self.columns[i].group == *group)
            {
                end += 1;
            }
            let inner: usize = shown[k..end].iter().map(|&i| widths[i]).sum();
            let total = inner + GAP * (end - k - 1);
            if width(group) > total {
                widths[shown[end - 1]] += width(group) - total;
            }
            let total = total.max(width(group));
            // Numbers stand at the right, and so does a heading above them.
            let fill = " ".repeat(total - width(group));
            let left = self.columns[shown[k]].align == Align::Left || end - k > 1;
            match left {
                true => line.extend([group.as_str(), &fill]),
                false => line.extend([fill.as_str(), group]),
            }
            line.push_str(&" ".repeat(GAP));
            k = end;
        }
        Some(line.trim_end().to_owned())
    }
}

/// Wraps `text` in an ANSI style.
pub fn paint(text: &str, colour: Colour, code: &str) -> String {
    match colour {
        Colour::On => format!("\x1b[{code}m{text}\x1b[0m"),
        Colour::Off => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let mut t = TextTable::new(vec![
            Column::words("scheme", 9),
            Column::numbers("FCT", 8).under("victim"),
            Column::numbers("vs PFC", 5).under("victim"),
            Column::numbers("sent", 3).under("pauses"),
            Column::words("notes", 1),
        ]);
        t.row(vec!["PFC".into(), "1.96 ms".into(), String::new(), "212".into()]);
        t.row(vec!["OFC".into(), "1.45 ms".into(), "-26 %".into(), "9".into(), "ok".into()]);
        t
    }

    #[test]
    fn cells_are_aligned_under_their_headings() {
        let expected = "          victim           pauses
  scheme      FCT  vs PFC    sent  notes
  PFC     1.96 ms             212
  OFC     1.45 ms   -26 %       9  ok";
        assert_eq!(table().render(80, Colour::Off), expected);
    }

    #[test]
    fn a_narrow_terminal_loses_columns_and_never_wraps() {
        for limit in 10..80 {
            let text = table().render(limit, Colour::Off);
            let longest = text.lines().map(width).max().unwrap();
            assert!(longest <= limit.max(10), "{limit}: {text}");
        }
        let narrow = table().render(30, Colour::Off);
        assert!(narrow.contains("FCT") && !narrow.contains("notes") && !narrow.contains("sent"));
    }

    /// Long texts give way before any column does, the longest first.
    #[test]
    fn texts_are_shortened_before_columns_are_dropped() {
        let mut t = TextTable::new(vec![
            Column::words("id", 9),
            Column::words("title", 4).at_least(8),
            Column::words("where", 3).at_least(6),
            Column::numbers("runs", 8),
        ]);
        t.row(["X-1", "a title of many words", "Section 4, Fig. 3", "12"].map(Into::into).to_vec());
        let line = |limit| t.render(limit, Colour::Off).lines().nth(1).unwrap().to_owned();
        assert_eq!(line(80), "  X-1  a title of many words  Section 4, Fig. 3    12");
        assert_eq!(line(40), "  X-1  a title of m…  Section 4,…     12");
        assert_eq!(line(29), "  X-1  a title…  Secti…    12");
        assert_eq!(line(27), "  X-1  a title of ma…    12");
        assert!(
            (13..80).all(|limit| t.render(limit, Colour::Off).lines().all(|l| width(l) <= limit))
        );
        assert!(t.fits(40) && !t.fits(27));
    }

    #[test]
    fn empty_columns_are_left_out() {
        let mut t = TextTable::new(vec![Column::words("a", 1), Column::words("b", 1)]);
        t.row(vec!["x".into(), String::new()]);
        assert_eq!(t.render(80, Colour::Off), "  a\n  x");
    }
}
