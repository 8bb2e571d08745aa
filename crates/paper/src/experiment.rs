//! An experiment: a grid file with a few more keys, and what `--quick` changes.

use super::figure::{self, FigureSpec};
use super::flow_sizes::FlowSizes;
use super::keys;
use super::live::LiveStudy;
use super::overrides::Overrides;
use super::select::{Scope, same_value};
use weir_scenario::text::{Diagnostics, Item, SourceId, Sources, Span, Table, Value, parse};
use weir_scenario::{Fields, Files, Problems, variant};
use weir_sweep::draft::Draft;
use weir_sweep::grid::{Change, Grid, Values};
use weir_sweep::{expand, seeds};

weir_core::words! {
    /// How much is run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Mode {
        /// Scaled down: minutes for everything.
        Quick = "quick",
        /// As the paper.
        Full = "full",
    }
}

/// What `--quick` changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quick {
    /// In words, for figures.
    pub says: String,
    seeds: Option<Vec<u64>>,
    sets: Vec<Change>,
    parameters: Vec<(usize, Vec<Item>)>,
    variants: Option<Vec<String>>,
    scenario: Option<(String, Span)>,
}

/// Where the numbers of an experiment come from.
#[derive(Clone, Debug)]
pub enum Work {
    /// Runs of a grid.
    Sweep(Box<Grid>),
    /// Size tables.
    FlowSizes(FlowSizes),
    /// Another experiment.
    ReRun(String),
}

/// An experiment of a paper.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Names it everywhere.
    pub id: String,
    /// One line.
    pub title: String,
    /// Where in the paper.
    pub place: String,
    /// Whether no paper has it: it tests a choice that was made here.
    pub own_check: bool,
    /// Whether nothing in its runs is random: all seeds give the same numbers.
    pub deterministic: bool,
    /// Whether its claims are about traffic that goes on for ever: they need a stationary window.
    pub steady: bool,
    /// What it shows, in paragraphs.
    pub shows: String,
    /// The name of its file, without the ending.
    pub stem: String,
    /// Its file, as messages call it.
    pub file: String,
    /// All of its file.
    pub text: String,
    /// Where its numbers come from.
    pub work: Work,
    /// What `--quick` changes.
    pub quick: Quick,
    /// What is drawn.
    pub figures: Vec<FigureSpec>,
    /// Which of its runs are made live, too.
    pub live: Option<LiveStudy>,
    /// What can be selected.
    pub scope: Scope,
    root: Table,
    source: SourceId,
}

impl Experiment {
    /// Reads everything but the figures, which may be about another experiment's runs.
    pub(crate) fn read(
        all: &mut Sources,
        source: SourceId,
        stem: &str,
        files: &Files,
        out: &mut Diagnostics,
    ) -> Option<Self> {
        let sources = &*all;
        let root = parse(sources, source, out);
        let mut f = Fields::file("an experiment", keys::EXPERIMENT, &root, source.span(0..0), out);
        let id = f.required("id");
        f.check_id(&id, "-_.");
        let title = f.required("title");
        let place = f.text("where").map_or_else(String::new, |t| t.value);
        let own_check = f.bool("own-check").value;
        let deterministic = f.bool("deterministic").value;
        let steady = f.bool("steady").value;
        let shows = f.required("shows");
        let work = work(&mut f, sources, source, files)?;
        if steady && !matches!(work, Work::Sweep(_)) {
            let at = f.place("steady");
            f.error("`steady` is for experiments with runs of their own", at, "");
        }
        let quick = match &work {
            Work::Sweep(grid) => quick(f.item("quick"), grid, f.out),
            _ => {
                if let Some(item) = f.item("quick") {
                    f.error("`[quick]` is for experiments with runs of their own", item.span, "");
                }
                Quick::default()
            }
        };
        let file = sources.get(source).name.clone();
        let text = sources.get(source).text.clone();
        let (stem, figures, scope) = (stem.to_owned(), Vec::new(), Scope::default());
        let mut experiment = Self {
            id,
            title,
            place,
            own_check,
            deterministic,
            steady,
            shows,
            stem,
            file,
            text,
            work,
            quick,
            figures,
            live: None,
            scope,
            root,
            source,
        };
        experiment.find_scope(all, files, out);
        Some(experiment)
    }

    /// Reads the figures and what is run live, when it is known what there is to show.
    pub(crate) fn read_figures(&mut self, out: &mut Diagnostics) {
        let at = self.source.span(0..0);
        let mut f = Fields::file("an experiment", keys::EXPERIMENT, &self.root, at, out);
        self.figures = figure::read(&mut f, &self.scope);
        self.live = LiveStudy::read(&mut f, &self.scope);
    }

    /// Where a key of its file stands.
    pub(crate) fn place_of(&self, key: &str) -> Span {
        self.root.get(key).map_or(self.source.span(0..0), |item| item.span)
    }

    /// The grid of a mode, if it has runs of its own.
    pub fn grid(&self, mode: Mode) -> Option<Grid> {
        self.grid_reduced_by(mode, &self.quick)
    }

    /// The same, with what a quick run changes instead of its own.
    pub(crate) fn grid_reduced_by(&self, mode: Mode, quick: &Quick) -> Option<Grid> {
        let Work::Sweep(grid) = &self.work else { return None };
        let mut grid = (**grid).clone();
        grid.name = self.id.to_lowercase();
        grid.title.clone_from(&self.title);
        grid.starts = self.steady;
        if mode == Mode::Quick {
            quick.apply(&mut grid);
        }
        Some(grid)
    }

    /// Its grid with the scenario; `None` if it has no runs of its own.
    pub fn draft(
        &self,
        mode: Mode,
        overrides: &Overrides,
        sources: &Sources,
        files: &Files,
    ) -> Option<Result<Draft, Problems>> {
        let mut grid = self.grid(mode)?;
        let mut sources = sources.clone();
        if let Err(diagnostics) = overrides.apply(&mut grid, &mut sources) {
            return Some(Err(Problems { sources, diagnostics }));
        }
        Some(Draft::of(grid, self.text.clone(), sources, files))
    }

    /// How many runs of its own it has.
    pub fn runs(&self, mode: Mode, sources: &Sources, files: &Files) -> u128 {
        match self.draft(mode, &Overrides::default(), sources, files) {
            Some(Ok(draft)) => {
                let seeds = match draft.grid.seeds {
                    Some(_) => 1,
                    None => draft.scenario().run.seeds.len() as u128,
                };
                draft.runs() * seeds
            }
            _ => 0,
        }
    }

    fn find_scope(&mut self, sources: &mut Sources, files: &Files, out: &mut Diagnostics) {
        let id = self.id.clone();
        match &self.work {
            Work::ReRun(_) => self.scope = Scope { id, ..Scope::default() },
            Work::FlowSizes(sizes) => {
                self.scope = Scope {
                    id,
                    variants: sizes.tables.iter().map(|(label, _)| label.clone()).collect(),
                    parameters: sizes.parameters.clone(),
                    points: sizes.points.iter().map(|(values, ..)| values.clone()).collect(),
                    analytic: true,
                    ..Scope::default()
                }
            }
            Work::Sweep(_) => {
                for mode in [Mode::Full, Mode::Quick] {
                    match self.draft(mode, &Overrides::default(), sources, files) {
                        Some(Ok(draft)) if mode == Mode::Full => {
                            let (deterministic, steady) = (self.deterministic, self.steady);
                            let found = scope(id.clone(), &draft);
                            self.scope = Scope { deterministic, steady, ..found };
                        }
                        Some(Err(problems)) => {
                            // the texts so far, and the scenario
                            *sources = problems.sources;
                            problems.diagnostics.iter().for_each(|d| out.push(d.clone()));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

fn work(f: &mut Fields<'_>, sources: &Sources, id: SourceId, files: &Files) -> Option<Work> {
    let kind = f.choice("kind");
    if kind.span.is_none() && f.given("kind") {
        return None;
    }
    if let Some((id, at)) = f.text_at("re-run-of") {
        let sweep = ["scenario", "parameters", "variant", "schemes", "sizes", "seeds"];
        if sweep.iter().any(|key| f.given(key)) {
            let label = "it has no grid of its own";
            f.error(format!("this experiment uses the runs of `{id}`"), at, label);
        }
        return Some(Work::ReRun(id));
    }
    if kind.value == "flow-sizes" {
        return FlowSizes::read(f, files).map(Work::FlowSizes);
    }
    if let Some(item) = f.item("sizes") {
        f.error("`[sizes]` is for `kind = \"flow-sizes\"`", item.span, "");
    }
    Grid::of(f, sources, id).map(|grid| Work::Sweep(Box::new(grid)))
}

/// Reads `[quick]`.
pub(crate) fn quick(item: Option<&Item>, grid: &Grid, out: &mut Diagnostics) -> Quick {
    let mut f = Fields::new(&keys::QUICK, item, out);
    if !f.is_table() {
        return Quick::default();
    }
    let says = f.required("says");
    let variants = f.given("variants").then(|| {
        let labels: Vec<&str> = grid.variants.iter().map(|v| v.label.as_str()).collect();
        let chosen = f.names_at("variants");
        for (name, at) in &chosen {
            if !labels.contains(&name.as_str()) {
                f.unknown("variant", name, *at, &labels);
            }
        }
        chosen.into_iter().map(|(name, _)| name).collect()
    });
    Quick {
        says,
        seeds: seeds::read(&mut f, "seeds"),
        sets: variant::sets(&mut f, "set"),
        parameters: quick_parameters(&mut f, grid),
        variants,
        scenario: f.text_at("scenario"),
    }
}

fn quick_parameters(f: &mut Fields<'_>, grid: &Grid) -> Vec<(usize, Vec<Item>)> {
    let Some(item) = f.item("parameters") else { return Vec::new() };
    let mut f = Fields::open("parameters".to_owned(), &[], Some(item), f.out);
    let names: Vec<&str> = grid.parameters.iter().map(|p| p.name.as_str()).collect();
    let mut changed = Vec::new();
    for (name, at, item) in f.entries() {
        let Some(i) = names.iter().position(|n| n == name) else {
            f.unknown("parameter", name, *at, &names);
            continue;
        };
        let items = match &item.value {
            Value::List(items) => items.clone(),
            _ => vec![item.clone()],
        };
        if items.is_empty() {
            f.error(
                format!("parameter `{name}` has no values: there would be no runs"),
                item.span,
                "",
            );
        }
        if grid.parameters[i].values == Values::ByPoint {
            let any =
                |p: &Vec<(usize, Item)>| p.iter().any(|(at, v)| *at == i && listed(&items, v));
            if !grid.points.iter().any(any) {
                f.error(format!("no `[[point]]` has such a `{name}`"), item.span, "");
            }
        }
        changed.push((i, items));
    }
    changed
}

fn shown(item: &Item) -> String {
    item.value.text().unwrap_or_else(|| item.value.toml())
}

fn listed(items: &[Item], value: &Item) -> bool {
    items.iter().any(|item| same_value(&shown(item), &shown(value)))
}

impl Quick {
    fn apply(&self, grid: &mut Grid) {
        if let Some(seeds) = &self.seeds {
            grid.seeds = Some(seeds.clone());
        }
        grid.sets.extend(self.sets.iter().cloned());
        for (i, items) in &self.parameters {
            if grid.parameters[*i].values == Values::ByPoint {
                grid.points.retain(|p| p.iter().any(|(at, v)| at == i && listed(items, v)));
            } else {
                grid.parameters[*i].values = Values::Listed(items.clone());
            }
        }
        if let Some(labels) = &self.variants {
            grid.variants.retain(|v| labels.contains(&v.label));
        }
        if let Some(scenario) = &self.scenario {
            grid.scenario = scenario.clone();
        }
    }
}

/// More points than anybody names in claims.
const MOST_POINTS: u128 = 100_000;

fn scope(id: String, draft: &Draft) -> Scope {
    let grid = &draft.grid;
    let scenario = draft.scenario();
    let variants = match grid.variants.as_slice() {
        [] => vec![scenario.flow_control.scheme.value.title.to_owned()],
        some => some.iter().map(|v| v.label.clone()).collect(),
    };
    let points = match expand::count(grid) {
        0..MOST_POINTS => expand::points(grid),
        _ => Vec::new(),
    };
    Scope {
        id,
        variants,
        parameters: grid.parameters.iter().map(|p| p.name.clone()).collect(),
        points: points.iter().map(|p| p.iter().map(shown).collect()).collect(),
        classes: classes(draft),
        ports: scenario.report.ports.iter().map(|g| g.name.value.clone()).collect(),
        sizes: scenario.report.sizes.iter().map(|s| s.label.clone()).collect(),
        ..Scope::default()
    }
}

/// The classes of traffic, unless a change of the grid renames them.
fn classes(draft: &Draft) -> Option<Vec<String>> {
    let renamed = |c: &Change| {
        let path: Vec<&str> = c.path.iter().map(|(name, _)| name.as_str()).collect();
        path.first() == Some(&"traffic")
            && matches!(path.last(), Some(&"class" | &"traffic" | &"kind" | &"file"))
    };
    let grid = &draft.grid;
    match grid.variants.iter().flat_map(|v| &v.changes).any(renamed) {
        true => None,
        false => draft.first_cell().ok().map(|e| e.classes().to_vec()),
    }
}
