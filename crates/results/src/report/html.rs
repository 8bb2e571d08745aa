//! Pieces of a page: tables and figures as HTML.

use crate::table::{Align, TextTable, width};
use weir_core::html;
use weir_core::markup::Html;
use weir_plot::{Data, Figure, Size, draw, svg};

/// Characters that fit beside each other on a page of 1280 px, and the room between columns.
const PAGE_CHARACTERS: usize = 135;
const BETWEEN: usize = 2;

/// A table; one that is too wide for a page is broken between groups of columns, and every part
/// begins with the names of the rows.
pub fn html_table(t: &TextTable) -> Html {
    let used = |i: usize| t.rows.iter().any(|row| row.get(i).is_some_and(|cell| !cell.is_empty()));
    let shown: Vec<usize> = (0..t.columns.len()).filter(|&i| used(i)).collect();
    parts(t, &shown).iter().map(|part| table_of(t, part)).collect()
}

/// Columns of a table as they stand on a page below each other.
fn parts(t: &TextTable, shown: &[usize]) -> Vec<Vec<usize>> {
    let Some((&names, rest)) = shown.split_first() else { return vec![Vec::new()] };
    let wide = |i: usize| {
        let cells = t.rows.iter().filter_map(|row| row.get(i));
        let cells = cells.map(|cell| width(cell.split(" ±").next().unwrap_or_default()));
        // the interval stands below its value, in small letters
        let below = t.rows.iter().filter_map(|row| row.get(i)?.split_once(" ±"));
        let below = below.map(|(_, half)| (width(half) + 1) * 4 / 5);
        cells.chain(below).max().unwrap_or(0).max(width(&t.columns[i].head)) + BETWEEN
    };
    let same_group = |a: &usize, b: &usize| {
        let group = &t.columns[*a].group;
        !group.is_empty() && *group == t.columns[*b].group
    };
    let lengths = |units: &[&[usize]]| {
        let width = |unit: &&[usize]| unit.iter().map(|&i| wide(i)).sum::<usize>();
        units.iter().map(width).collect::<Vec<usize>>()
    };
    let groups: Vec<&[usize]> = rest.chunk_by(same_group).collect();
    let whole = joined(&groups, &evenly(wide(names), &lengths(&groups)));
    // a column alone below a table is overlooked: then a group is broken instead
    let parts = match whole.len() > 1 && whole.iter().any(|part| part.len() == 1) {
        true => {
            let single: Vec<&[usize]> = rest.chunks(1).collect();
            joined(&single, &evenly(wide(names), &lengths(&single)))
        }
        false => whole,
    };
    parts.into_iter().map(|part| [&[names], part.as_slice()].concat()).collect()
}

/// So many of `units` in each part, in order.
fn joined(units: &[&[usize]], counts: &[usize]) -> Vec<Vec<usize>> {
    let mut rest = units;
    let mut parts = Vec::new();
    for &count in counts {
        let (part, left) = rest.split_at(count);
        parts.push(part.concat());
        rest = left;
    }
    parts
}

/// How many pieces of these widths each part takes: as few parts as fit the page, and of those
/// divisions the one whose widest part is the narrowest.
fn evenly(names: usize, widths: &[usize]) -> Vec<usize> {
    let mut best = filled(names, widths, PAGE_CHARACTERS);
    for limit in (0..PAGE_CHARACTERS).rev() {
        let narrower = filled(names, widths, limit);
        if narrower.len() > best.len() {
            break;
        }
        best = narrower;
    }
    best
}

/// The same for parts of at most `limit` characters, each filled before the next begins. A piece
/// that is wider has a part of its own.
fn filled(names: usize, widths: &[usize], limit: usize) -> Vec<usize> {
    let (mut counts, mut taken) = (vec![0], names);
    for width in widths {
        if taken + width > limit && counts.last().is_some_and(|&n| n > 0) {
            counts.push(0);
            taken = names;
        }
        taken += width;
        *counts.last_mut().expect("there is one") += 1;
    }
    counts
}

fn table_of(t: &TextTable, shown: &[usize]) -> Html {
    let class = |i: usize| match t.columns[i].align {
        Align::Left => html!(" class=\"words\""),
        Align::Right => Html::default(),
    };
    let heads: Html =
        shown.iter().map(|&i| html!("<th{}>{}</th>", class(i), t.columns[i].head)).collect();
    let mut rows = Html::default();
    for (n, row) in t.rows.iter().enumerate() {
        // published numbers may concern columns of another part only
        let filled = |i: &usize| row.get(*i).is_some_and(|cell| !cell.is_empty());
        if t.faint.contains(&n) && !shown.iter().skip(1).any(filled) {
            continue;
        }
        let cell = |&i: &usize| {
            let text = row.get(i).map_or("", String::as_str);
            html!("<td{}>{}</td>", class(i), with_interval(text))
        };
        let cells: Html = shown.iter().map(cell).collect();
        rows.push(&match t.faint.contains(&n) {
            true => html!("<tr class=\"faint\">{}</tr>", cells),
            false => html!("<tr>{}</tr>", cells),
        });
    }
    html!(
        "<div class=\"wide\"><table><thead><tr>{}</tr><tr>{}</tr></thead><tbody>{}</tbody></table>\
         </div>",
        group_heads(t, shown),
        heads,
        rows
    )
}

/// A cell whose interval stands below its value, so that a table of many columns is not too wide.
fn with_interval(cell: &str) -> Html {
    match cell.split_once(" ±") {
        Some((value, half)) => html!("{} <span class=\"pm\">±{}</span>", value, half),
        None => html!("{}", cell),
    }
}

/// Common headings over neighbouring columns.
fn group_heads(t: &TextTable, shown: &[usize]) -> Html {
    let mut out = Html::default();
    let mut k = 0;
    while k < shown.len() {
        let group = &t.columns[shown[k]].group;
        let same = |i: &&usize| !group.is_empty() && t.columns[**i].group == *group;
        let span = shown[k..].iter().take_while(same).count().max(1);
        out.push(&html!("<th colspan=\"{}\">{}</th>", span, group));
        k += span;
    }
    out
}

pub(crate) fn data_table(data: &Data) -> Html {
    let heads: Html = data.header.iter().map(|head| html!("<th>{}</th>", head)).collect();
    let row = |row: &Vec<String>| -> Html {
        let cells: Html = row.iter().map(|cell| html!("<td>{}</td>", cell)).collect();
        html!("<tr>{}</tr>", cells)
    };
    html!(
        "<div class=\"data\"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>",
        heads,
        data.rows.iter().map(row).collect::<Html>()
    )
}

/// For a narrow screen: a figure that needs no scrolling there.
const NARROW: Size = Size { width: 380.0, text: 11.0, line: 1.6, columns: 1, shape: 0.6 };

/// More rows of one series than this are no table to look at; all are in the CSV.
const MOST_ROWS: usize = 60;

/// A figure with its words and its numbers, and the option that draws it alone.
pub(crate) fn figure(f: &Figure) -> Html {
    figure_with(f, &html!("<code>--figure {}</code>", f.id))
}

/// A figure with its words, its numbers and `tools` beside them. The drawing is there twice, for
/// wide and for narrow screens; the style of the page shows one of them.
pub fn figure_with(f: &Figure, tools: &Html) -> Html {
    let drawn = |size: &Size| Html::made(svg::inline(&draw::scene(f, size), &f.title));
    html!(
        "<figure id=\"{id}\">\n<h3>{title}</h3>\n<figcaption>{caption}</figcaption>\n\
         <div class=\"broad\">{broad}</div>\n<div class=\"narrow\">{narrow}</div>\n\
         <div class=\"tools\"><details><summary>data</summary>{data}</details><a href=\"#{id}\" \
         data-save=\"{id}\">save as SVG</a>{tools}</div>\n</figure>\n",
        id = f.id,
        title = f.title,
        caption = f.caption,
        broad = drawn(&Size::PAGE),
        narrow = drawn(&NARROW),
        data = data_table(&f.table(MOST_ROWS)),
        tools = tools
    )
}

/// A picture of the network, with facts about it.
pub(crate) fn topology_figure(id: &str, svg: String, data: &Data) -> Html {
    html!(
        "<figure id=\"{id}\"><div class=\"wide\">{svg}</div>\n<div class=\"tools\"><details>\
         <summary>data</summary>{data}</details><a href=\"#{id}\" data-save=\"{id}\">save as \
         SVG</a></div></figure>",
        id = id,
        svg = Html::made(svg),
        data = data_table(data)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    /// Names of 16 characters and twelve columns of as many, in groups of two: (1 + 6) x 18 = 126
    /// fit into 135, a further group does not.
    #[test]
    fn a_wide_table_is_broken_between_groups_and_repeats_the_names() {
        let mut columns = vec![Column::words("scheme", 9)];
        for i in 0..12 {
            columns.push(Column::numbers("a", 1).under(&format!("group {}", i / 2)));
        }
        let mut table = TextTable::new(columns);
        table.row((0..13).map(|_| "x".repeat(16)).collect());
        let parts = parts(&table, &(0..13).collect::<Vec<_>>());
        assert_eq!(parts, [vec![0, 1, 2, 3, 4, 5, 6], vec![0, 7, 8, 9, 10, 11, 12]]);
        assert_eq!(html_table(&table).into_string().matches("<table>").count(), 2);
        // a narrow one stays whole
        table.rows[0] = (0..13).map(|_| "x".repeat(5)).collect();
        assert_eq!(html_table(&table).into_string().matches("<table>").count(), 1);
    }

    /// Names and seven columns of 16 characters fit, 8 x 18 = 144 do not.
    #[test]
    fn a_column_never_stands_alone_below_a_table() {
        for sizes in [&[2, 2, 2, 1][..], &[7, 1], &[1, 7], &[6, 1], &[1; 7], &[14, 1]] {
            let mut columns = vec![Column::words("scheme", 9)];
            for (group, &size) in sizes.iter().enumerate() {
                let column = Column::numbers("a", 1).under(&format!("group {group}"));
                columns.extend(std::iter::repeat_n(column, size));
            }
            let all = columns.len();
            let mut table = TextTable::new(columns);
            table.row((0..all).map(|_| "x".repeat(16)).collect());
            let parts = parts(&table, &(0..all).collect::<Vec<_>>());
            assert!(parts.len() > 1, "{sizes:?}: {parts:?}");
            assert!(
                parts.iter().all(|part| part.len() > 2 && part[0] == 0),
                "{sizes:?}: {parts:?}"
            );
            let shown: Vec<usize> = parts.iter().flat_map(|part| &part[1..]).copied().collect();
            assert_eq!(shown, (1..all).collect::<Vec<_>>(), "{sizes:?}");
        }
    }

    /// Numbers of a paper for the first columns only.
    #[test]
    fn a_published_row_stands_where_it_has_numbers() {
        let columns = (0..12).map(|_| Column::numbers("a", 1)).collect();
        let mut table = TextTable::new(columns);
        table.row((0..12).map(|_| "x".repeat(16)).collect());
        table.row(vec!["paper".into(), "1.96 ms".into()]);
        table.faint.push(1);
        let text = html_table(&table).into_string();
        assert_eq!(text.matches("<table>").count(), 2);
        assert_eq!(text.matches("<tr class=\"faint\">").count(), 1, "{text}");
    }
}
