//! What the check found, as text and as JSON.

use super::subject::Subject;
use serde_json::{Value, json};
use weir_core::{LinkId, format};
use weir_lint::failures::{Level, Method};
use weir_lint::{Cycle, Tables, fib};
use weir_results::describe;
use weir_results::listing::Layout;
use weir_results::table::paint;

/// What was found.
pub(super) struct Report {
    pub(super) routing: &'static str,
    pub(super) states: Vec<State>,
    pub(super) failures: Vec<FailureReport>,
    /// What up-down routing does where this has a cycle.
    pub(super) cure: Option<Cure>,
    pub(super) oddities: fib::Oddities,
    /// Dumped tables.
    pub(super) tables: Option<Tables>,
    pub(super) confirmed: Option<Confirmed>,
}

/// What up-down routing does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cure {
    /// It has no cycle.
    Yes,
    /// It has none, but the static paths have.
    ButForPaths,
}

/// The network with some links down.
pub(super) struct State {
    pub(super) when: String,
    pub(super) down: Vec<LinkId>,
    pub(super) cycles: Vec<(Cycle, Vec<Option<String>>)>,
}

/// The sets of failed links of one size.
pub(super) struct FailureReport {
    pub(super) level: Level,
    pub(super) cyclic: u128,
    pub(super) still_under_up_down: u128,
    pub(super) examples: Vec<Example>,
}

/// Failed links and a cycle that they lead to.
pub(super) struct Example {
    pub(super) links: Vec<LinkId>,
    pub(super) cycle: Cycle,
    pub(super) flows: Vec<Option<String>>,
}

/// What came out of the run that was to close a cycle.
pub(super) struct Confirmed {
    /// The failed links.
    pub(super) failed: Vec<LinkId>,
    /// The switches of the cycle.
    pub(super) cycle: String,
    /// When it closed and the switches that wait for each other; `None` if it did not.
    pub(super) deadlock: Option<(String, String)>,
    pub(super) flows: usize,
    pub(super) scheme: &'static str,
    pub(super) file: Option<String>,
}

impl State {
    pub(super) fn new(
        subject: &Subject,
        when: String,
        down: Vec<LinkId>,
        cycles: Vec<Cycle>,
        tables: &Tables,
    ) -> Self {
        let with_flows = |c: Cycle| {
            let flows = super::flows(subject, &c, tables);
            (c, flows)
        };
        Self { when, down, cycles: cycles.into_iter().map(with_flows).collect() }
    }
}

impl Example {
    pub(super) fn new(
        subject: &Subject,
        links: Vec<LinkId>,
        cycle: Cycle,
        tables: &Tables,
    ) -> Self {
        let flows = super::flows(subject, &cycle, tables);
        Self { links, cycle, flows }
    }
}

impl FailureReport {
    /// `all 4 checked`.
    fn how(&self) -> String {
        let (checked, total) = (self.level.sets.len() as u64, self.level.total);
        match self.level.method {
            Method::All => "all checked".to_owned(),
            Method::Symmetry => format!(
                "{} checked: the others are the same up to a symmetry of the network",
                format::count(checked)
            ),
            Method::Sample => {
                let share = format::percent(checked as f64 / total as f64);
                format!("a random sample of {}, {share}; --most-sets N", format::count(checked))
            }
        }
    }

    /// Of how many sets the cyclic ones are.
    fn of(&self) -> u128 {
        match self.level.method {
            Method::Sample => self.level.sets.len() as u128,
            _ => self.level.total,
        }
    }
}

impl Report {
    pub(super) fn new(routing: &'static str) -> Self {
        Self {
            routing,
            states: Vec::new(),
            failures: Vec::new(),
            cure: None,
            oddities: fib::Oddities::default(),
            tables: None,
            confirmed: None,
        }
    }

    /// Whether a deadlock is possible, or packets go in circles.
    pub(super) fn possible(&self) -> bool {
        self.states.iter().any(|s| !s.cycles.is_empty())
            || self.failures.iter().any(|f| f.cyclic > 0)
            || !self.oddities.loops.is_empty()
    }

    /// For people.
    pub(super) fn text(&self, subject: &Subject, layout: Layout) -> String {
        let e = &subject.experiment;
        let title = format!("{} · {}", describe::headline(e), self.routing);
        let mut lines = vec![format!("  {}", paint(&title, layout.colour, "1")), String::new()];
        if !subject.pauses() {
            let scheme = subject.variant.scheme.title;
            lines.push(format!("  no deadlock is possible: {scheme} never pauses anything"));
            return lines.join("\n");
        }
        for state in &self.states {
            self.state_lines(subject, state, layout, &mut lines);
        }
        self.oddity_lines(&mut lines);
        match self.cure {
            Some(Cure::Yes) => lines.push(
                "  cure: up-down routing has no cycle here (--set routing.kind=up-down)".into(),
            ),
            Some(Cure::ButForPaths) => lines.push(
                "  cure: up-down routing has no cycle here, without the static paths of [[path]], \
                 which close one themselves"
                    .into(),
            ),
            None => {}
        }
        for failures in &self.failures {
            failure_lines(subject, failures, layout, &mut lines);
        }
        self.confirm_lines(subject, layout, &mut lines);
        lines.join("\n")
    }

    fn state_lines(&self, subject: &Subject, s: &State, layout: Layout, lines: &mut Vec<String>) {
        let down: Vec<String> = s.down.iter().map(|&l| subject.link_name(l)).collect();
        let when = match down.is_empty() {
            true => s.when.clone(),
            false => format!("{}, without {}", s.when, down.join(", ")),
        };
        if s.cycles.is_empty() {
            lines.push(format!("  {when}: no cycle of buffers, so no deadlock is possible"));
            return;
        }
        let count = format::plural(s.cycles.len() as u64, "cyclic buffer dependency")
            .replace("dependencys", "dependencies");
        let alarm = paint("DEADLOCK POSSIBLE", layout.colour, "1;31");
        lines.push(format!("  {when}: {alarm}, {count}"));
        let lossless = subject.lossless();
        lines.push(match lossless.iter().count() {
            1 => format!("  in the lossless priority, {lossless}"),
            _ => format!("  in each of the lossless priorities {lossless}"),
        });
        for (cycle, flows) in &s.cycles {
            cycle_lines(subject, cycle, flows, lines);
        }
    }

    fn oddity_lines(&self, lines: &mut Vec<String>) {
        const SHOWN: usize = 8;
        let Self { oddities, .. } = self;
        for (host, circle) in oddities.loops.iter().take(SHOWN) {
            lines.push(format!("  packets to {host} go in a circle: {}", circle.join(" -> ")));
        }
        for (switch, host) in oddities.black_holes.iter().take(SHOWN) {
            lines.push(format!("  {switch} has no entry for {host}: packets to it end there"));
        }
        let (loops, holes) = (oddities.loops.len(), oddities.black_holes.len());
        let more = loops.saturating_sub(SHOWN) + holes.saturating_sub(SHOWN);
        if more > 0 {
            lines.push(format!("  and {more} more circles and missing entries (--json)"));
        }
    }

    fn confirm_lines(&self, subject: &Subject, layout: Layout, lines: &mut Vec<String>) {
        let Some(c) = &self.confirmed else { return };
        let failed: Vec<String> = c.failed.iter().map(|&l| subject.link_name(l)).collect();
        let failed = match failed.is_empty() {
            true => String::new(),
            false => format!(" without {}", failed.join(", ")),
        };
        lines.push(String::new());
        match &c.deadlock {
            Some((time, switches)) => lines.push(format!(
                "  {}: {} deadlocks{failed} at {time} with {}: {switches}",
                paint("confirmed", layout.colour, "1;31"),
                c.scheme,
                format::plural(c.flows as u64, "flow"),
            )),
            None => lines.push(format!(
                "  not confirmed: {} did not deadlock{failed} with up to {} around {}",
                c.scheme,
                format::plural(c.flows as u64, "flow"),
                c.cycle,
            )),
        }
        if let Some(file) = &c.file {
            lines.push(format!("  run it again: weir run {file}"));
        }
    }

    /// For programs.
    pub(super) fn json(&self, subject: &Subject) -> Value {
        let names = |links: &[LinkId]| -> Vec<String> {
            links.iter().map(|&l| subject.link_name(l)).collect()
        };
        let cycle = |c: &Cycle, flows: &[Option<String>]| {
            let topo = &subject.experiment.topology;
            let switches: Vec<&str> = c.hops.iter().map(|h| topo.name(h.from)).collect();
            json!({ "switches": switches, "buffers": c.hops.len(), "members": c.members,
                    "flows": flows })
        };
        let state = |s: &State| {
            let cycles: Vec<Value> = s.cycles.iter().map(|(c, f)| cycle(c, f)).collect();
            json!({ "when": s.when, "failed": names(&s.down), "cycles": cycles })
        };
        let failures = |f: &FailureReport| {
            let example = |e: &Example| {
                let cycle = cycle(&e.cycle, &e.flows);
                json!({ "failed": names(&e.links), "cycle": cycle })
            };
            let method = match f.level.method {
                Method::All => "all",
                Method::Symmetry => "symmetry",
                Method::Sample => "sample",
            };
            json!({
                "links": f.level.size,
                "sets": f.level.total.to_string(),
                "checked": f.level.sets.len(),
                "method": method,
                "cyclic": f.cyclic.to_string(),
                "cyclic_under_up_down": f.still_under_up_down.to_string(),
                "examples": f.examples.iter().map(example).collect::<Vec<_>>(),
            })
        };
        let confirmed = self.confirmed.as_ref().map(|c| {
            let deadlock = c.deadlock.as_ref().map(|(at, switches)| json!([at, switches]));
            json!({ "failed": names(&c.failed), "cycle": c.cycle, "deadlock": deadlock,
                    "flows": c.flows, "scheme": c.scheme, "file": c.file })
        });
        json!({
            "scenario": subject.experiment.scenario.name,
            "routing": self.routing,
            "deadlock_possible": self.possible(),
            "states": self.states.iter().map(state).collect::<Vec<_>>(),
            "up_down_cures": self.cure == Some(Cure::Yes),
            "failures": self.failures.iter().map(failures).collect::<Vec<_>>(),
            "loops": self.oddities.loops,
            "black_holes": self.oddities.black_holes,
            "confirmed": confirmed,
        })
    }
}

/// One cycle and what makes it.
fn cycle_lines(subject: &Subject, c: &Cycle, flows: &[Option<String>], lines: &mut Vec<String>) {
    let topo = &subject.experiment.topology;
    let more = match c.members - c.hops.len() {
        0 => String::new(),
        more => format!(", and {more} more on cycles with them"),
    };
    let buffers = format::plural(c.hops.len() as u64, "buffer");
    lines.push(format!("    {}   ({buffers}{more})", c.describe(topo)));
    for (i, flow) in flows.iter().enumerate() {
        let (from, via) = (c.hops[i], c.hops[(i + 1) % c.hops.len()]);
        let to = topo.port(via.from, via.port).peer;
        let step = [from.from, via.from, to].map(|n| topo.name(n)).join(" -> ");
        let flow = flow.as_deref().unwrap_or("only by packets that visit a switch twice");
        lines.push(format!("      {step}: {flow}"));
    }
}

fn failure_lines(subject: &Subject, f: &FailureReport, layout: Layout, lines: &mut Vec<String>) {
    let links = format::plural(f.level.size as u64, "failed link");
    if f.cyclic == 0 {
        let sets = format::count(f.level.total as u64);
        lines.push(format!("  {links}: no cycle in any of {sets} cases ({})", f.how()));
        return;
    }
    let alarm = paint("DEADLOCK POSSIBLE", layout.colour, "1;31");
    let (cyclic, of) = (format::count(f.cyclic as u64), format::count(f.of() as u64));
    lines.push(format!("  {links}: {alarm} in {cyclic} of {of} cases ({})", f.how()));
    for example in &f.examples {
        let names: Vec<String> = example.links.iter().map(|&l| subject.link_name(l)).collect();
        lines.push(format!("   without {}:", names.join(" and ")));
        cycle_lines(subject, &example.cycle, &example.flows, lines);
    }
    match f.still_under_up_down {
        0 => lines.push("   cure: up-down routing has no cycle in any of these cases".into()),
        n => lines
            .push(format!("   up-down routing has a cycle in {} of them", format::count(n as u64))),
    }
}
