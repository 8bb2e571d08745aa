//! From a grid file to a plan, or to everything that is wrong with it.

use super::expand;
use super::grid::Grid;
use super::plan::{Cell, Head, Plan};
use super::quantity::common_unit;
use std::path::{Component, Path};
use weir_scenario::experiment::Experiment;
use weir_scenario::resolve::{Base, Fabrics, Resolved};
use weir_scenario::text::{Diagnostic, Diagnostics, Item, Sources, parse, put_at};
use weir_scenario::variant::{self, Change, VariantSpec};
use weir_scenario::{Files, Problems, Scenario, builtin};

/// A grid and its scenario, read and found to make sense by themselves.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The grid.
    pub grid: Grid,
    base: Base,
    grid_text: String,
    scenario_text: String,
    scenario_file: String,
}

/// A plan with what it needs to be carried out anywhere.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// Files for the directory `input`: names and texts.
    pub inputs: Vec<(String, String)>,
    /// What is odd about its runs.
    pub warnings: Diagnostics,
    /// The texts that warnings are about.
    pub sources: Sources,
}

/// A variant at a point, put together.
#[derive(Debug)]
pub struct ResolvedCell {
    /// The label of the variant.
    pub variant: String,
    /// The parameters, as the grid writes them.
    pub values: Vec<String>,
    /// What is run.
    pub resolved: Resolved,
}

/// So many mistakes are enough to begin with.
const ENOUGH: usize = 20;

impl Draft {
    /// Reads a grid file and the scenario that it names.
    pub fn read(path: &str) -> Result<Self, Problems> {
        let plain = |why: String| Problems::plain(Diagnostic::error(why));
        let grid_text = Files::default().read(path).map_err(plain)?;
        let directory = Path::new(path).parent().unwrap_or(Path::new("")).to_owned();
        let mut sources = Sources::default();
        let mut out = Diagnostics::default();
        let id = sources.add(path, grid_text.as_str());
        match Grid::read(&sources, id, &mut out) {
            Some(grid) if !out.has_errors() => {
                Self::of(grid, grid_text, sources, &Files::of(Some(directory)))
            }
            _ => Err(Problems { sources, diagnostics: out }),
        }
    }

    /// A grid that was read from one of `sources`, with the scenario that it names: one of
    /// `files`, or a built-in one.
    pub fn of(
        grid: Grid,
        grid_text: String,
        mut sources: Sources,
        files: &Files,
    ) -> Result<Self, Problems> {
        let mut out = Diagnostics::default();
        let (name, scenario_file, scenario_text, files) = match scenario(&grid, files) {
            Ok(found) => found,
            Err(error) => {
                out.push(error);
                return Err(Problems { sources, diagnostics: out });
            }
        };
        let id = sources.add(name.as_str(), scenario_text.as_str());
        let mut root = parse(&sources, id, &mut out);
        // a grid without variants of its own has those of its scenario
        let theirs = variant::read_all(root.get("variant"), &mut out);
        root.0.retain(|(key, ..)| key != "variant");
        let mut grid = grid;
        if grid.variants.is_empty() {
            grid.variants = theirs;
        }
        if out.has_errors() {
            return Err(Problems { sources, diagnostics: out });
        }
        let base = Base { name, sources, root, files };
        Ok(Self { grid, base, grid_text, scenario_text, scenario_file })
    }

    /// The scenario with the changes that hold for all runs. What is wrong with it is found when
    /// cells are resolved.
    pub fn scenario(&self) -> Scenario {
        let (base, mut root) = (&self.base, self.base.root.clone());
        for change in &self.grid.sets {
            let steps: Vec<_> = change.path.iter().map(|(n, at)| (n.as_str(), *at)).collect();
            let _ = put_at(&mut root, &steps, change.item.clone());
        }
        let mut out = Diagnostics::default();
        Scenario::from_table(&base.name, &root, base.sources.clone(), base.files.clone(), &mut out)
    }

    /// The first variant at the first point, put together.
    pub fn first_cell(&self) -> Result<Experiment, Problems> {
        let (grid, spec) = (&self.grid, self.grid.variants.first());
        let point = expand::points(grid).into_iter().next().unwrap_or_default();
        let all = changes(grid, spec, &expand::changes(grid, &point));
        Ok(self.base.resolve(&all, spec, &Fabrics::default())?.experiment)
    }

    /// The cells that `wanted` picks by the label of their variant and the values of the parameters
    /// as the grid writes them, put together; in the order of the grid.
    pub fn cells(
        &self,
        wanted: impl Fn(&str, &[String]) -> bool,
    ) -> Result<Vec<ResolvedCell>, Problems> {
        let (grid, fabrics) = (&self.grid, Fabrics::default());
        let mut cells = Vec::new();
        for spec in &grid.variants {
            for point in expand::points(grid) {
                let values: Vec<String> = point.iter().map(text).collect();
                if !wanted(&spec.label, &values) {
                    continue;
                }
                let all = changes(grid, Some(spec), &expand::changes(grid, &point));
                let resolved = self.base.resolve(&all, Some(spec), &fabrics)?;
                cells.push(ResolvedCell { variant: spec.label.clone(), values, resolved });
            }
        }
        Ok(cells)
    }

    /// How many runs there will be, with the seeds of the scenario if the grid has none.
    pub fn runs(&self) -> u128 {
        self.factors().iter().fold(1, |product, (n, _)| product.saturating_mul(*n))
    }

    /// What this number is the product of.
    pub fn factors(&self) -> [(u128, &'static str); 3] {
        let variants = self.grid.variants.len().max(1) as u128;
        let seeds = self.grid.seeds.as_ref().map_or(1, Vec::len) as u128;
        [(variants, "variants"), (expand::count(&self.grid), "points"), (seeds, "seeds")]
    }

    /// Resolves all cells. Mistakes of several cells are reported together.
    pub fn plan(self) -> Result<Planned, Problems> {
        let grid = &self.grid;
        let specs: Vec<Option<&VariantSpec>> = match grid.variants.as_slice() {
            [] => vec![None],
            some => some.iter().map(Some).collect(),
        };
        let fabrics = Fabrics::default();
        let (mut cells, mut seeds) = (Vec::new(), grid.seeds.clone());
        let (mut errors, mut warnings) = (Diagnostics::default(), Diagnostics::default());
        let points = expand::points(grid);
        for spec in specs {
            for point in &points {
                let all = changes(grid, spec, &expand::changes(grid, point));
                match self.base.resolve(&all, spec, &fabrics) {
                    Ok(resolved) => {
                        seeds.get_or_insert(resolved.experiment.scenario.run.seeds.clone());
                        resolved.experiment.warnings.iter().for_each(|w| warnings.push(w.clone()));
                        let (scheme, cc) = (resolved.variant.scheme, resolved.variant.cc.name());
                        let label = spec.map_or(scheme.title, |s| &s.label).to_owned();
                        cells.push(cell(label, scheme.name, cc, point, &all, resolved.hash));
                    }
                    Err(p) => p.diagnostics.iter().for_each(|d| errors.push(d.clone())),
                }
                if errors.counts().0 >= ENOUGH {
                    break;
                }
            }
        }
        let inputs = match self.inputs() {
            Ok(inputs) => inputs,
            Err(error) => {
                errors.push(error);
                Vec::new()
            }
        };
        let sources = self.base.sources;
        if errors.has_errors() {
            errors.sort();
            return Err(Problems { sources, diagnostics: errors });
        }
        same_runs(&cells, &mut warnings);
        let names = columns(&self.grid, &cells);
        let mut head = Head::new(self.grid.name, self.grid.title, self.scenario_file, names);
        head.starts = self.grid.starts;
        let plan = Plan::new(head, cells, &seeds.unwrap_or_default());
        Ok(Planned { plan, inputs, warnings, sources })
    }

    /// The files of the scenario, so that the plan can be carried out elsewhere.
    fn inputs(&self) -> Result<Vec<(String, String)>, Diagnostic> {
        let mut inputs = vec![
            (self.scenario_file.clone(), self.scenario_text.clone()),
            ("grid.toml".to_owned(), self.grid_text.clone()),
        ];
        for name in self.base.files.names() {
            let inside = Path::new(&name).components().all(|c| matches!(c, Component::Normal(_)));
            if Path::new(&name).is_absolute() {
                continue;
            }
            if !inside || inputs.iter().any(|(taken, _)| *taken == name) {
                let title = format!("`{name}` cannot be copied into the directory of the plan");
                let help = "files of a sweep must be in the directory of its scenario or below it";
                return Err(Diagnostic::error(title).help(help));
            }
            let text = self.base.files.read(&name).map_err(Diagnostic::error)?;
            inputs.push((name, text));
        }
        Ok(inputs)
    }
}

/// The scenario of a grid: its name in messages, the name of its file, its text, and where it looks
/// for files.
fn scenario(grid: &Grid, files: &Files) -> Result<(String, String, String, Files), Diagnostic> {
    let (reference, at) = &grid.scenario;
    if let Some(found) = builtin::find(reference) {
        let file = format!("{}.toml", found.name);
        return Ok((format!("{reference} (built in)"), file, found.text.into(), Files::default()));
    }
    let path = files.path(reference);
    let text = files.text(reference).map_err(|why| {
        let names = || builtin::all().map(|b| b.name);
        let error =
            Diagnostic::error(why).at(*at, "").nearest(weir_net::nearest(reference, names()));
        let all: Vec<&str> = names().collect();
        error.help(format!("built-in scenarios: {}", all.join(", ")))
    })?;
    let file = path.file_name().map_or_else(|| "scenario.toml".into(), |n| n.to_string_lossy());
    let file = if file == "grid.toml" { "scenario.toml".into() } else { file.into_owned() };
    Ok((path.display().to_string(), file, text, files.beside(reference)))
}

/// A value as the grid writes it.
fn text(item: &Item) -> String {
    item.value.text().unwrap_or_else(|| item.value.toml())
}

fn cell(
    variant: String,
    scheme: &str,
    cc: &str,
    point: &[Item],
    all: &[Change],
    hash: String,
) -> Cell {
    Cell {
        variant,
        scheme: scheme.to_owned(),
        cc: cc.to_owned(),
        values: point.iter().map(text).collect(),
        set: all.iter().map(Change::set).collect(),
        hash,
    }
}

/// Warns of cells that are the same under different names: their runs are made once.
fn same_runs(cells: &[Cell], warnings: &mut Diagnostics) {
    let mut sorted: Vec<&Cell> = cells.iter().collect();
    sorted.sort_by_key(|c| &c.hash);
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].hash == pair[1].hash) {
        let name = |c: &Cell| [std::slice::from_ref(&c.variant), &c.values].concat().join(", ");
        let title = format!("({}) and ({}) are the same runs", name(pair[0]), name(pair[1]));
        let help =
            "their differences have no effect; they are run once and appear twice in the table";
        warnings.push(Diagnostic::warning(title).help(help));
    }
}

/// Names of the parameters' columns, with the unit where all values share one.
fn columns(grid: &Grid, cells: &[Cell]) -> Vec<String> {
    let column = |(i, name): (usize, &String)| {
        let unit = common_unit(cells.iter().map(|c| c.values[i].as_str()));
        format!("{name}{}", unit.map_or("", |u| u.suffix()))
    };
    grid.parameters.iter().map(|p| &p.name).enumerate().map(column).collect()
}

/// The changes of one variant at one point, in the order in which they are made: what holds for
/// all, then the variant's, then the point's, so that a column never lies.
fn changes(grid: &Grid, spec: Option<&VariantSpec>, point: &[Change]) -> Vec<Change> {
    let variant = spec.map_or(&[][..], |s| &s.changes);
    grid.sets.iter().chain(variant).chain(point).cloned().collect()
}
