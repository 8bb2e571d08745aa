//! Jobs on the page: their steps by scheme, what their ranks did, and what set the end.

use super::figures;
use super::figures::look::looks;
use super::html::{figure, html_table};
use crate::comparison::Comparison;
use crate::findings::{PathBlame, PathPart};
use crate::job_text;
use crate::run::Run;
use crate::table::{Column, TextTable};
use weir_core::markup::Html;
use weir_core::{Time, format, html};
use weir_scenario::experiment::Experiment;

/// More ports than this stand in the files only.
const MOST_PORTS: usize = 8;

/// The section; empty without jobs.
pub(super) fn section(c: &Comparison<'_>) -> Html {
    let Some(table) = job_text::by_scheme(c) else { return Html::default() };
    let mut out = html_table(&table);
    figures::jobs(c).iter().for_each(|f| out.push(&figure(f)));
    let mut any = false;
    for (i, (group, look)) in c.groups.iter().zip(looks(c)).enumerate() {
        let Some(run) = group.runs.first() else { continue };
        let Some(gantt) = figures::gantt(c, i, &look) else { continue };
        let open = if any { "" } else { " open" };
        any = true;
        out.push(&html!(
            "<details{}><summary>ranks and critical path: {}, seed {}</summary>\n{}{}\
             </details>\n",
            open,
            look.name,
            run.variant.seed,
            figure(&gantt),
            paths(group.experiment, run),
        ));
    }
    if !any {
        out.push(&html!(
            "<p class=\"soft\">With <code>--blame</code> this page shows what each rank did over \
             time, the critical path, and the ports to blame.</p>\n"
        ));
    }
    out
}

/// The longest step of each job in parts, and the ports to blame.
fn paths(e: &Experiment, run: &Run) -> Html {
    let Some(blames) = run.blames(e) else { return Html::default() };
    let mut out = Html::default();
    for (job, path) in job_text::longest(e, blames) {
        let whole = path.span.1 - path.span.0;
        out.push(&html!(
            "<h4>{}, step {}: {} in {}</h4>\n<div class=\"beside\">{}{}</div>\n",
            job.name,
            path.iteration,
            format::time(whole),
            format::plural(path.links.len() as u64, "link"),
            html_table(&parts(path, whole)),
            ports(e, path, whole),
        ));
    }
    out
}

fn share(time: Time, whole: Time) -> String {
    format::percent(time.as_ps() as f64 / whole.as_ps().max(1) as f64)
}

/// The parts of a path, the largest first; they add up.
fn parts(path: &PathBlame, whole: Time) -> TextTable {
    let columns =
        [Column::words("waited for", 9), Column::numbers("time", 9), Column::numbers("share", 9)];
    let mut t = TextTable::new(columns.into());
    let mut parts = PathPart::all().map(|part| (part, path.total(part))).to_vec();
    parts.retain(|(_, time)| *time > Time::ZERO);
    parts.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    for (part, time) in parts {
        t.row(vec![part.words().to_owned(), format::time(time), share(time, whole)]);
    }
    t.row(vec!["in all".to_owned(), format::time(whole), share(whole, whole)]);
    t.faint.push(t.rows.len() - 1);
    t
}

/// The ports to blame.
fn ports(e: &Experiment, path: &PathBlame, whole: Time) -> Html {
    let ports = path.ports();
    if ports.is_empty() {
        return html!(
            "<p class=\"soft\">No port is to blame: nothing on the path waited in a queue or for a \
             pause.</p>"
        );
    }
    let mut t = TextTable::new(vec![
        Column::words("port to blame", 9),
        Column::numbers("time", 9),
        Column::numbers("share", 9),
        Column::numbers("by pauses that began there", 9),
    ]);
    for p in ports.iter().take(MOST_PORTS) {
        t.row(vec![
            e.topology.port_label(p.at.node, p.at.port),
            format::time(p.time),
            share(p.time, whole),
            if p.paused == Time::ZERO { "-".to_owned() } else { format::time(p.paused) },
        ]);
    }
    let more = match ports.len().saturating_sub(MOST_PORTS) {
        0 => Html::default(),
        n => html!(
            "<p class=\"soft\">{} more in critical-path.csv</p>",
            format::plural(n as u64, "port")
        ),
    };
    html!("<div>{}{}</div>", html_table(&t), more)
}
