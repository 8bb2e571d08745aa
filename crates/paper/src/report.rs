//! What is shown of experiments: figures as files, and the page with everything.

use super::claim::{Claim, Rule};
use super::counts::Counts;
use super::discussion::Discussion;
use super::explain::{files, record::Record};
use super::page::{self, ClaimRow, Explained, Finding, Section, ShownPaper, Why};
use super::plot::{self, Numbers, Subject};
use super::run::Collected;
use super::select::Selector;
use super::setting::Setting;
use super::tables::Cell;
use super::verdict::{Verdict, shown};
use super::{Mode, Paper};
use std::path::{Path, PathBuf};
use weir_core::format;
use weir_plot::draw::{self, Size};
use weir_plot::scene::{Anchor, Item, Scene};
use weir_plot::{Figure, Paint, Theme, print, svg};
use weir_sweep::store::replace;
use weir_sweep::{SweepError, version};

impl Numbers for Collected<'_> {
    fn subjects(&self) -> Vec<Subject> {
        let of = |label: &String| {
            let cell =
                self.plan.as_ref().and_then(|p| p.cells.iter().find(|c| c.variant == *label));
            let (scheme, cc) =
                cell.map_or_else(Default::default, |c| (c.scheme.clone(), c.cc.clone()));
            Subject { label: label.clone(), scheme, cc }
        };
        self.tables.variants.iter().map(of).collect()
    }

    fn parameters(&self) -> Vec<String> {
        self.tables.parameters.clone()
    }

    fn select(&self, selector: &Selector) -> Vec<Cell> {
        self.tables.select(selector)
    }
}

/// What a figure of a scaled-down run says about itself; empty for a full one.
fn scaled(c: &Collected<'_>, mode: Mode) -> String {
    let says = c.paper.runs_of(c.experiment).quick.says.trim().trim_end_matches('.');
    match mode {
        Mode::Quick if !says.is_empty() => says.to_owned(),
        Mode::Quick if c.plan.is_some() => "as the full run".to_owned(),
        _ => String::new(),
    }
}

/// What a figure says about how its runs differ from the experiment: scaled down, changed. Empty
/// for a full run as the files have it.
fn remarks(c: &Collected<'_>, mode: Mode, changed: &str) -> String {
    let says = scaled(c, mode);
    let mut all = Vec::new();
    if !changed.is_empty() {
        all.push(format!("Changed settings: {changed}."));
    }
    if !says.is_empty() {
        all.push(format!("Quick run: {says}."));
    }
    all.join(" ")
}

/// All figures of an experiment; `changed` is what `--set` changed.
pub fn figures(c: &Collected<'_>, mode: Mode, changed: &str) -> Vec<Figure> {
    let note = remarks(c, mode, changed);
    let stated: Vec<&Claim> =
        c.paper.claims.iter().filter(|claim| claim.experiment == c.experiment.id).collect();
    let draw = |spec| plot::draw(&c.experiment.id, spec, c, &stated, &note);
    c.experiment.figures.iter().map(draw).collect()
}

/// Adds a line below a drawing: a figure that leaves the page keeps what must be known about it.
fn remark(mut scene: Scene, text: &str, size: &Size) -> Scene {
    if !text.is_empty() {
        let small = size.text * 0.85;
        let at = (size.text * 0.3, scene.height + small * 1.2);
        let item = Item::text(at, text, small, Anchor::Start).painted(Paint::Soft);
        let wide = item.text_area().map_or(0.0, |area| area.right());
        scene.width = scene.width.max(wide);
        scene.push(item);
        scene.height += small * 1.8;
    }
    scene
}

/// What files of a figure are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    /// Pages: drawing and numbers.
    Screen,
    /// Papers and slides, too.
    Print,
}

/// Name and content of the files of a figure.
pub(super) fn figure_files(figure: &Figure, says: &str, media: Media) -> Vec<(String, Vec<u8>)> {
    /// Pixels per point: legible on a screen of twice the usual density.
    const PIXELS: f64 = 2.0;
    let size = Size::PAGE;
    let scene = remark(draw::scene(figure, &size), says, &size);
    let name = |end: &str| format!("{}.{end}", figure.id);
    let mut files = vec![
        (name("svg"), svg::file(&scene, &figure.title).into_bytes()),
        (name("csv"), figure.csv().into_bytes()),
    ];
    if media == Media::Print {
        files.push((name("pdf"), print::pdf(&scene, &figure.title)));
        files.push((name("png"), print::png(&scene, PIXELS, Theme::Light).unwrap_or_default()));
    }
    files
}

/// Writes `index.html` and the files of all figures; returns the path of the page.
pub fn write(all: &[Collected<'_>], setting: &Setting) -> Result<PathBuf, SweepError> {
    let directory = setting.mode_directory();
    let files = directory.join("figures");
    std::fs::create_dir_all(&files).map_err(|e| SweepError::io(&files, e))?;
    let parts = parts(all, setting)?;
    let changed = setting.overrides.words();
    for (section, c) in parts.iter().flat_map(|p| &p.sections).zip(all) {
        let says = remarks(c, setting.mode, &changed);
        for figure in &section.figures {
            for (name, bytes) in figure_files(figure, &says, Media::Print) {
                replace(&files.join(name), &bytes)?;
            }
        }
    }
    let head = page::Head { mode: setting.mode.name(), changed: &changed, version: version() };
    let page = page::page(&parts, &Counts::new(all), &head);
    let path = directory.join("index.html");
    replace(&path, page.as_bytes())?;
    Ok(path)
}

/// Papers and experiments as the page shows them.
fn parts(all: &[Collected<'_>], setting: &Setting) -> Result<Vec<ShownPaper>, SweepError> {
    let mut parts: Vec<ShownPaper> = Vec::new();
    for c in all {
        if parts.last().is_none_or(|p| p.id != c.paper.id) {
            let own = all.iter().filter(|other| other.paper.id == c.paper.id);
            let explained = explained(c.paper, setting)?;
            parts.push(ShownPaper { explained, ..part(c.paper, Counts::new(own)) });
        }
        if let Some(part) = parts.last_mut() {
            let before = part.sections.iter().flat_map(|s: &Section| &s.discussions);
            let before: Vec<String> = before.map(|w| w.id.clone()).collect();
            let mut section = section(c, setting);
            section.discussions.retain(|w| !before.contains(&w.id));
            part.sections.push(section);
        }
    }
    Ok(parts)
}

/// What was found of the paper's explanations; nothing of it belongs to changed settings.
fn explained(p: &Paper, setting: &Setting) -> Result<Vec<Explained>, SweepError> {
    let mut all = Vec::new();
    for e in p.explanations.iter().filter(|_| setting.overrides.sets.is_empty()) {
        if let Some(record) = Record::find(&setting.out, &p.id, &e.id)? {
            let drawing = files::inline_drawing(&setting.out, &p.id, &e.id);
            all.push(Explained { record, drawing });
        }
    }
    Ok(all)
}

fn part(p: &Paper, counts: Counts) -> ShownPaper {
    ShownPaper {
        id: p.id.clone(),
        short: p.short.clone(),
        title: p.title.clone(),
        notes: p.notes.clone(),
        counts,
        sections: Vec::new(),
        explained: Vec::new(),
    }
}

fn section(c: &Collected<'_>, setting: &Setting) -> Section {
    let e = c.experiment;
    let (total, done) = c.tables.counts();
    let runs = match c.plan {
        None => "Computed from size tables; no runs.".to_owned(),
        // processor times differ from run to run: they stand in `experiments.csv`
        Some(_) => format!(
            "{} of {} have a result.",
            format::count(done as u64),
            format::plural(total as u64, "run")
        ),
    };
    let mut trouble = Vec::new();
    if done < total {
        let runs = format::plural(total as u64, "run");
        let have = if total - done == 1 { "has" } else { "have" };
        trouble.push(format!("{} of {runs} {have} no result.", total - done));
    }
    match c.tables.invalid {
        0 => {}
        n => {
            let runs = format::plural(n as u64, "run");
            trouble.push(format!("{runs} lost packets of a lossless class."));
        }
    }
    Section {
        id: e.id.clone(),
        title: e.title.clone(),
        place: e.place.clone(),
        shows: e.shows.clone(),
        scaled: scaled(c, setting.mode),
        runs,
        trouble,
        command: command(c, setting),
        files: files(c),
        figures: figures(c, setting.mode, &setting.overrides.words()),
        claims: c
            .verdicts
            .chunk_by(|a, b| a.claim == b.claim)
            .map(|v| claim_row(c, v, setting))
            .collect(),
        counts: Counts::new([c]),
        discussions: discussions(c, setting),
    }
}

/// The place of a discussion on the page.
fn why_id(p: &Paper, discussion: usize) -> String {
    format!("{}-why-{}", p.id, discussion + 1)
}

/// The discussions of claims that this experiment has verdicts on.
fn discussions(c: &Collected<'_>, setting: &Setting) -> Vec<Why> {
    // they are about full runs
    if setting.mode == Mode::Quick {
        return Vec::new();
    }
    let judged = |claim: &usize| c.verdicts.iter().any(|v| v.claim == *claim);
    let all = c.paper.discussions.iter().enumerate();
    let own = all.filter(|(_, d)| d.claims.iter().any(judged));
    let why = |(i, d): (usize, &Discussion)| Why {
        id: why_id(c.paper, i),
        title: d.title.clone(),
        text: d.text.clone(),
        sensitivity: d.sensitivity.clone(),
    };
    own.map(why).collect()
}

/// What to type to get the experiment again.
fn command(c: &Collected<'_>, setting: &Setting) -> String {
    let name = match &c.paper.directory {
        None => c.experiment.id.clone(),
        Some(_) => c.paper.argument(),
    };
    let sets = setting.overrides.sets.iter();
    let sets: String = sets.map(|s| format!(" --set {}", format::shell_word(s))).collect();
    format!("weir paper run {} --{}{sets}", format::shell_word(&name), setting.mode.name())
}

/// The experiment's own file and its scenario.
fn files(c: &Collected<'_>) -> Vec<(String, String)> {
    let runs_of = c.paper.runs_of(c.experiment);
    let name = |file: &str| Path::new(file).file_name().map(|n| n.to_string_lossy().into_owned());
    let mut files = vec![(name(&c.experiment.file).unwrap_or_default(), c.experiment.text.clone())];
    if let super::experiment::Work::Sweep(grid) = &runs_of.work {
        let scenario = &grid.scenario.0;
        if let Ok(text) = c.paper.files.text(scenario) {
            files.push((name(scenario).unwrap_or_default(), text));
        }
    }
    files
}

/// A claim with its verdicts.
fn claim_row(c: &Collected<'_>, verdicts: &[Verdict], setting: &Setting) -> ClaimRow {
    let (index, claim) = (verdicts[0].claim, c.claim(&verdicts[0]));
    // a run that is the same in both modes is no quick run
    let quick = setting.mode == Mode::Quick && c.plan.is_some();
    let discussed = c.paper.discussed(index).filter(|_| setting.mode == Mode::Full);
    let finding = |v: &Verdict| Finding {
        variant: v.reading.clone(),
        measured: shown(&v.outcome, &v.measured),
        outcome: v.outcome.clone(),
        words: v.words(),
        rows: row_files(c, claim),
        which: v.rows.join("; "),
    };
    let measured = !matches!(claim.rule, Rule::NotMeasured { .. });
    ClaimRow {
        id: format!("{}-{}", c.paper.id, claim.id),
        place: claim.place.clone(),
        says: claim.says.clone(),
        reading: claim.reading.clone(),
        paper: claim.paper(),
        // why it is not measured stands beside its verdict
        quantity: if measured { claim.quantity_words() } else { String::new() },
        rule: if measured { claim.rule_words() } else { String::new() },
        findings: verdicts.iter().map(finding).collect(),
        calibrated: claim.calibrated,
        changed: !setting.overrides.sets.is_empty(),
        quick,
        unexplained: !quick && c.paper.tested_by(index).is_empty(),
        discussion: if quick { String::new() } else { claim.discussion.clone() },
        discussed: discussed.map(|i| why_id(c.paper, i)).collect(),
    }
}

/// The tables whose rows decide a claim, as the page links to them.
fn row_files(c: &Collected<'_>, claim: &Claim) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for o in claim.operands() {
        let e = c.paper.experiments.iter().find(|e| e.id == o.experiment);
        let Some(runs_of) = e.map(|e| c.paper.runs_of(e)) else { continue };
        let name = if runs_of.scope.analytic { "shares" } else { o.select.family().name() };
        let name = format!("{name}.csv");
        let place = format!("{}/{}/{name}", c.paper.id, runs_of.id.to_lowercase());
        if !files.iter().any(|(_, known)| *known == place) {
            files.push((name, place));
        }
    }
    files
}
