//! What would have to be true, on the page.

use crate::explain::Record;
use crate::explain::record::TriedRow;
use weir_core::markup::Html;
use weir_core::{format, html};

/// An explanation with its drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// What came out.
    pub record: Record,
    /// The drawing of effects, as an element.
    pub drawing: String,
}

/// The section of an explanation.
pub(super) fn section(e: &Explained) -> Html {
    let r = &e.record;
    let sentences: Html = r.sentences.iter().map(|s| html!("<p>{}</p>\n", s)).collect();
    let effects: Html = r.effects.iter().map(|s| html!("<li>{}</li>\n", s)).collect();
    let confirmed = match &r.confirmed {
        None => html!("<p class=\"soft\">Not confirmed on fresh seeds yet.</p>\n"),
        Some(c) => html!(
            "<h4>Confirmation on {}, {} scale</h4>\n{}",
            format::plural(c.seeds as u64, "fresh seed"),
            c.scale,
            table(r, &c.rows, c.claims)
        ),
    };
    html!(
        "<section class=\"experiment\" id=\"explain-{id}\">\n<h3>What would have to be true: \
         {title}</h3>\n<p class=\"warn\">{label}.</p>\n<p class=\"soft\">{basis}</p>\n{table}\
         {sentences}<figure><div class=\"wide\">{drawing}</div></figure>\n<h4>Strongest \
         effects</h4>\n<ul>\n{effects}</ul>\n{confirmed}{factors}<pre>weir paper explain {id}</pre>\
         \n</section>\n",
        id = r.id,
        title = r.title,
        label = r.label,
        basis = r.basis(),
        table = table(r, r.rows(), r.claims.len()),
        sentences = sentences,
        drawing = Html::made(&e.drawing),
        effects = effects,
        confirmed = confirmed,
        factors = factors(r),
    )
}

fn table(r: &Record, rows: &[TriedRow], claims: usize) -> Html {
    let heads: Html =
        r.quantities.iter().map(|q| html!("<th title=\"{}\">{}</th>", q.claim, q.says)).collect();
    let mut body = Html::default();
    let blank = Html::made("<td></td>".repeat(r.quantities.len() + 1));
    for row in rows {
        let name = match row.departures.len() {
            0 => "primary reading".to_owned(),
            n => format::plural(n as u64, "departure"),
        };
        let numbers: Html = row.numbers.iter().map(|n| html!("<td>{}</td>", n)).collect();
        body.push(&html!(
            "<tr class=\"total\"><td class=\"words\">{}</td><td></td>{}<td>{}</td></tr>\n",
            name,
            numbers,
            row.held
        ));
        for d in &row.departures {
            body.push(&html!(
                "<tr><td class=\"words\">+ {}</td><td class=\"words\">{}</td>{}</tr>\n",
                d.words,
                d.contradicts,
                blank
            ));
        }
        if !row.ties.is_empty() {
            let ties = row.ties.join("; ");
            body.push(&html!(
                "<tr><td class=\"words soft\" colspan=\"2\">as many with: {}</td>{}</tr>\n",
                ties,
                blank
            ));
        }
    }
    let stated: Html = r.quantities.iter().map(|q| html!("<td>{}</td>", q.paper)).collect();
    html!(
        "<div class=\"wide\"><table><thead><tr><th class=\"words\"></th><th \
         class=\"words\">contradicts</th>{heads}<th>claims held, of {claims}</th></tr></thead>\
         <tbody>\n{body}<tr class=\"total\"><td class=\"words\">paper</td><td></td>{stated}\
         <td>{claims}</td></tr>\n</tbody></table></div>\n",
        heads = heads,
        claims = claims,
        body = body,
        stated = stated
    )
}

/// What was varied, and where the paper leaves it open.
fn factors(r: &Record) -> Html {
    let all = r.factors.iter();
    let items = all.map(|f| html!("<li>{} ({}): {}</li>\n", f.name, f.place, f.levels.join("; ")));
    html!(
        "<details><summary>What was varied</summary><ul>\n{}</ul></details>\n",
        items.collect::<Html>()
    )
}
