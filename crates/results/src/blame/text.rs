//! Blame as text.

use super::{Account, FlowRow, ShareRow};
use crate::findings::{Fault, FctPart};
use crate::listing::{Layout, wrap};
use crate::table::{Column, TextTable, paint};
use weir_core::{Time, format};

/// More rows than this stand in the files only.
const MOST: usize = 8;

fn or_blank(t: Time) -> String {
    if t == Time::ZERO { String::new() } else { format::time(t) }
}

fn lines(text: &str, layout: Layout) -> String {
    let room = layout.width.saturating_sub(2).clamp(20, 110);
    wrap(text, room).iter().map(|l| format!("  {l}")).collect::<Vec<_>>().join("\n")
}

/// How a sentence about several flows calls a part.
fn of_many(part: FctPart) -> String {
    part.words().replace("its ", "their ").replace("itself", "themselves")
}

impl Account {
    /// Who was held for others, and who is to blame.
    pub fn text(&self, layout: Layout) -> String {
        let mut out = vec![format!("  {}", paint(&self.title, layout.colour, "1"))];
        let paths = self.views["paths"].as_array().into_iter().flatten();
        let paths: Vec<&str> = paths.filter_map(|p| p["text"].as_str()).collect();
        out.extend(paths.iter().map(|text| lines(text, layout)));
        if self.flows.is_empty() && !paths.is_empty() {
            out.push("  all links of the paths: critical-path.csv of weir run --blame".into());
            return out.join("\n\n");
        }
        if self.flows.is_empty() {
            out.push("  no flow is complete: there is no completion time to divide".into());
            out.push("  the ports, and what began a deadlock: --views".into());
            return out.join("\n\n");
        }
        let victims = self.victims();
        out.push(lines(&self.summary(&victims), layout));
        let worst = if victims.is_empty() { self.slowest() } else { victims.clone() };
        let head = if victims.is_empty() { "slowest flows" } else { "worst victims" };
        out.push(self.flow_table(head, &worst, layout));
        let sentences = victims.iter().take(3).map(|f| lines(&self.sentence(f), layout));
        out.extend(sentences);
        out.extend(self.culprit_table(layout));
        if self.open > 0 {
            let open = format::plural(self.open, "flow");
            out.push(format!("  {open} did not finish and have no completion time"));
        }
        let one = &worst[0].flow;
        out.push(format!("  one flow in full: --flow {one}; all of them: --json, blame.csv"));
        out.join("\n\n")
    }

    fn slowest(&self) -> Vec<&FlowRow> {
        let mut all: Vec<&FlowRow> = self.flows.iter().collect();
        all.sort_by_key(|f| std::cmp::Reverse(f.fct));
        all
    }

    /// Where the time of all flows went together.
    fn summary(&self, victims: &[&FlowRow]) -> String {
        let total: u128 = self.flows.iter().map(|f| u128::from(f.fct.as_ps())).sum();
        let share = |part: FctPart| {
            let sum: u128 = self.flows.iter().map(|f| u128::from(f.part(part).as_ps())).sum();
            (part, sum as f64 / total.max(1) as f64)
        };
        let mut shares = FctPart::ALL.map(share);
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let listed = shares.iter().filter(|(_, s)| *s >= 0.005);
        let listed: Vec<String> =
            listed.map(|(p, s)| format!("{} {}", format::percent(*s), of_many(*p))).collect();
        let all = format::plural(self.flows.len() as u64, "flow");
        let held = match victims.len() {
            0 => "No flow was held because of a port that is not on its way.".to_owned(),
            1 => format!("1 of {all} was held because of a port that is not on its way."),
            n => format!("{n} of {all} were held because of ports that are not on their way."),
        };
        format!("{held} Of all completion times together: {}.", listed.join(", "))
    }

    fn flow_table(&self, head: &str, flows: &[&FlowRow], layout: Layout) -> String {
        let number = |head: &str, keep| Column::numbers(head, keep);
        let mut t = TextTable::new(vec![
            Column::words(head, 20),
            Column::words("from, to", 18),
            number("FCT", 19),
            number("others", 17).under("held for"),
            number("own", 16).under("held for"),
            number("others", 14).under("queued behind"),
            number("own", 12).under("queued behind"),
            number("host", 10),
            number("control", 11),
            number("recovery", 9),
            number("source", 13),
            number("wire", 8),
        ]);
        let order = [
            FctPart::HeldOthers,
            FctPart::HeldOwn,
            FctPart::OthersQueue,
            FctPart::OwnQueue,
            FctPart::Host,
            FctPart::Control,
            FctPart::Recovery,
            FctPart::Source,
            FctPart::Wire,
        ];
        for f in flows.iter().take(MOST) {
            let mut row = vec![f.flow.clone(), f.ends(), format::time(f.fct)];
            row.extend(order.map(|part| or_blank(f.part(part))));
            t.row(row);
        }
        let table = t.render(layout.width, layout.colour);
        match flows.len() > MOST {
            true => format!("{table}\n  and {} more", flows.len() - MOST),
            false => table,
        }
    }

    /// `f0.0, h0 -> h8: held 142 us because of Sc:P_d`.
    fn sentence(&self, f: &FlowRow) -> String {
        let shares = self.shares_of(&f.flow);
        let mut because: Vec<&&ShareRow> =
            shares.iter().filter(|s| s.part == FctPart::HeldOthers).collect();
        because.truncate(3);
        let each = because.iter().map(|s| {
            let times = if s.count > 1 { format!(", {} times", s.count) } else { String::new() };
            let bound = if s.certainty == "overlap" { " (others held it there, too)" } else { "" };
            let (time, root, port) = (format::time(s.time), &s.root, &s.port);
            format!("held {time} because of {root}, at {port}{times}{bound}")
        });
        let each: Vec<String> = each.collect();
        let guilty = self.guilty(f);
        let guilty = match guilty.is_empty() {
            true => String::new(),
            false => format!("; the bytes there were of {guilty}"),
        };
        format!("{}, {}: {}{guilty}.", f.flow, f.ends(), each.join("; "))
    }

    /// Whose bytes stood at the roots that held a flow.
    fn guilty(&self, f: &FlowRow) -> String {
        let pause = Fault::Pause.name();
        let mut by: std::collections::BTreeMap<&str, Time> = std::collections::BTreeMap::new();
        let others = |root: &str| {
            let is = |s: &ShareRow| s.flow == f.flow && s.part == FctPart::HeldOthers;
            self.shares.iter().any(|s| is(s) && s.root == root)
        };
        let of = self.culprits.iter().filter(|c| c.flow == f.flow && c.kind == pause);
        for c in of.filter(|c| c.culprit != f.flow && others(&c.root)) {
            *by.entry(c.culprit.as_str()).or_default() += c.time;
        }
        let mut by: Vec<(&str, Time)> = by.into_iter().filter(|b| b.1 > Time::ZERO).collect();
        by.sort_by_key(|b| std::cmp::Reverse(b.1));
        let more = by.len().saturating_sub(3);
        let named = by.iter().take(3).map(|(id, _)| self.name(id));
        let mut named: Vec<String> = named.collect();
        if more > 0 {
            named.push(format!("{more} more"));
        }
        named.join(", ")
    }

    /// `f2.0 (h2 -> h9)`.
    fn name(&self, id: &str) -> String {
        match self.flows.iter().find(|f| f.flow == id) {
            Some(f) => format!("{id} ({})", f.ends()),
            None => id.to_owned(),
        }
    }

    /// The published views as tables.
    pub fn views_text(&self, layout: Layout) -> String {
        let list = |key: &str| self.views[key].as_array().cloned().unwrap_or_default();
        let word = |v: &serde_json::Value| v.as_str().unwrap_or_default().to_owned();
        let paused: std::collections::BTreeMap<String, f64> = list("paused")
            .iter()
            .map(|p| (word(&p["port"]), p["percent"].as_f64().unwrap_or(0.0)))
            .collect();
        let mut t = TextTable::new(vec![
            Column::words("port", 20),
            Column::words("state", 19),
            Column::numbers("mean queue", 18),
            Column::numbers("paused, % of the run", 17),
        ]);
        let busy = list("ports").into_iter().filter(|p| p["state"] != "free");
        for p in busy {
            let port = word(&p["port"]);
            let share = paused.get(&port).map_or_else(String::new, |x| format!("{x:.2}"));
            let queue = format::bytes_f64(p["queue_mean"].as_f64().unwrap_or(0.0));
            t.row(vec![port, word(&p["state"]), queue, share]);
        }
        let mut out = vec![format!("  {}", paint(&self.title, layout.colour, "1"))];
        out.push(match t.rows.is_empty() {
            true => "  all ports are free".into(),
            false => t.render(layout.width, layout.colour),
        });
        for (i, region) in list("regions").iter().enumerate() {
            let links = region.as_array().cloned().unwrap_or_default();
            let links: Vec<String> = links.iter().map(word).collect();
            let text = format!("congestion region {}: {}", i + 1, links.join(", "));
            out.push(lines(&text, layout));
        }
        let trigger = &self.views["deadlock"];
        if trigger.is_object() {
            let at = Time::from_ps(trigger["at_ps"].as_u64().unwrap_or(0));
            let [by, paused, reason] = ["by", "paused", "reason"].map(|key| word(&trigger[key]));
            let text = format!(
                "the deadlock began at {} with the pause of {paused} by {by} ({reason})",
                format::time(at)
            );
            out.push(lines(&text, layout));
        }
        out.join("\n\n")
    }

    fn culprit_table(&self, layout: Layout) -> Option<String> {
        let harm = self.harm();
        let mut t = TextTable::new(vec![
            Column::words("worst culprits", 20),
            Column::words("from, to", 18),
            Column::numbers("held others for", 17),
            Column::numbers("queued others for", 16),
            Column::numbers("flows", 12),
        ]);
        for (id, h) in harm.iter().take(MOST) {
            let ends = self.flows.iter().find(|f| f.flow == *id).map(FlowRow::ends);
            t.row(vec![
                (*id).to_owned(),
                ends.unwrap_or_default(),
                or_blank(h.held),
                or_blank(h.queued),
                h.victims.to_string(),
            ]);
        }
        (!harm.is_empty()).then(|| t.render(layout.width, layout.colour))
    }

    /// One flow in full: a sum that is its completion time, and every part of it.
    pub fn flow_text(&self, f: &FlowRow, layout: Layout) -> String {
        let mut parts: Vec<(FctPart, Time)> = FctPart::ALL.into_iter().zip(f.parts).collect();
        parts.retain(|(_, t)| *t > Time::ZERO);
        parts.sort_by_key(|(_, t)| std::cmp::Reverse(*t));
        let sum: Vec<String> =
            parts.iter().map(|(p, t)| format!("{} {}", format::time(*t), p.words())).collect();
        let size = f.size.map_or_else(String::new, |s| format!(", {}", format::bytes(s)));
        let title = format!(
            "{}, {}{size}, FCT {} = {}",
            f.flow,
            f.ends(),
            format::time(f.fct),
            sum.join(" + ")
        );
        let title = lines(&title, layout);
        let mut t = TextTable::new(vec![
            Column::numbers("time", 20),
            Column::words("for", 19),
            Column::words("at", 18),
            Column::words("because of", 17),
            Column::numbers("times", 9),
            Column::words("certainty", 8),
        ]);
        for s in self.shares_of(&f.flow) {
            let held = !s.certainty.is_empty();
            t.row(vec![
                format::time(s.time),
                s.part.words().to_owned(),
                s.port.clone(),
                s.root.clone(),
                if held { s.count.to_string() } else { String::new() },
                s.certainty.clone(),
            ]);
        }
        let mut out =
            vec![paint(&title, layout.colour, "1"), t.render(layout.width, layout.colour)];
        out.extend(self.culprits_of(f, layout));
        out.join("\n\n")
    }

    fn culprits_of(&self, f: &FlowRow, layout: Layout) -> Option<String> {
        let mut all: Vec<_> = self.culprits.iter().filter(|c| c.flow == f.flow).collect();
        all.sort_by_key(|c| std::cmp::Reverse((c.time, c.bytes)));
        let mut t = TextTable::new(vec![
            Column::words("culprit", 20),
            Column::words("kind", 18),
            Column::words("at", 16),
            Column::words("root", 15),
            Column::numbers("bytes", 17),
            Column::numbers("blamed for", 19),
        ]);
        for c in all.iter().take(2 * MOST) {
            t.row(vec![
                self.name(&c.culprit),
                c.kind.clone(),
                c.port.clone(),
                c.root.clone(),
                format::bytes(c.bytes),
                or_blank(c.time),
            ]);
        }
        (!all.is_empty()).then(|| t.render(layout.width, layout.colour))
    }
}
