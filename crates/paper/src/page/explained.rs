//! What would have to be true, on the page.

use crate::explain::Record;
use crate::explain::record::Row;
use weir_core::format;
use weir_core::markup::escape;

/// An explanation with its drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// What came out.
    pub record: Record,
    /// The drawing of effects, as an element.
    pub drawing: String,
}

/// The section of an explanation.
pub(super) fn section(e: &Explained) -> String {
    let r = &e.record;
    let sentences: String = r.sentences.iter().map(|s| format!("<p>{}</p>\n", escape(s))).collect();
    let effects: String = r.effects.iter().map(|s| format!("<li>{}</li>\n", escape(s))).collect();
    let confirmed = match &r.confirmed {
        None => "<p class=\"soft\">Not confirmed on fresh seeds yet.</p>\n".to_owned(),
        Some(c) => format!(
            "<h4>Confirmation on {}, {} scale</h4>\n{}",
            format::plural(c.seeds as u64, "fresh seed"),
            escape(&c.scale),
            table(r, &c.rows, c.claims)
        ),
    };
    format!(
        "<section class=\"experiment\" id=\"explain-{id}\">\n<h3>What would have to be true: \
         {title}</h3>\n<p class=\"warn\">{label}.</p>\n<p class=\"soft\">{basis}</p>\n{table}\
         {sentences}<figure><div class=\"wide\">{drawing}</div></figure>\n<h4>Strongest \
         effects</h4>\n<ul>\n{effects}</ul>\n{confirmed}{factors}<pre>weir paper explain {id}</pre>\
         \n</section>\n",
        id = escape(&r.id),
        title = escape(&r.title),
        label = escape(&r.label),
        basis = escape(&r.basis()),
        table = table(r, r.rows(), r.claims.len()),
        drawing = e.drawing,
        factors = factors(r),
    )
}

fn table(r: &Record, rows: &[Row], claims: usize) -> String {
    let heads: String = r
        .quantities
        .iter()
        .map(|q| format!("<th title=\"{}\">{}</th>", escape(&q.claim), escape(&q.says)))
        .collect();
    let mut out = format!(
        "<div class=\"wide\"><table><thead><tr><th class=\"words\"></th><th \
         class=\"words\">contradicts</th>{heads}<th>claims held, of {claims}</th></tr></thead>\
         <tbody>\n"
    );
    let blank = "<td></td>".repeat(r.quantities.len() + 1);
    for row in rows {
        let name = match row.departures.len() {
            0 => "primary reading".to_owned(),
            n => format::plural(n as u64, "departure"),
        };
        let numbers: String =
            row.numbers.iter().map(|n| format!("<td>{}</td>", escape(n))).collect();
        out.push_str(&format!(
            "<tr class=\"total\"><td class=\"words\">{name}</td><td></td>{numbers}\
             <td>{}</td></tr>\n",
            row.held
        ));
        for d in &row.departures {
            out.push_str(&format!(
                "<tr><td class=\"words\">+ {}</td><td class=\"words\">{}</td>{blank}</tr>\n",
                escape(&d.words),
                escape(&d.contradicts)
            ));
        }
        if !row.ties.is_empty() {
            let ties = row.ties.join("; ");
            out.push_str(&format!(
                "<tr><td class=\"words soft\" colspan=\"2\">as many with: {}</td>{blank}</tr>\n",
                escape(&ties)
            ));
        }
    }
    let stated: String =
        r.quantities.iter().map(|q| format!("<td>{}</td>", escape(&q.paper))).collect();
    out + &format!(
        "<tr class=\"total\"><td class=\"words\">paper</td><td></td>{stated}<td>{claims}</td></tr>\
         \n</tbody></table></div>\n"
    )
}

/// What was varied, and where the paper leaves it open.
fn factors(r: &Record) -> String {
    let mut out = String::from("<details><summary>What was varied</summary><ul>\n");
    for f in &r.factors {
        let (name, place) = (escape(&f.name), escape(&f.place));
        let levels = escape(&f.levels.join("; "));
        out.push_str(&format!("<li>{name} ({place}): {levels}</li>\n"));
    }
    out + "</ul></details>\n"
}
