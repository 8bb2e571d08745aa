//! What a comparison runs: rows that were asked for by file and command line, made concrete.
//!
//! ```text
//!   scenario + [[variant]] + --schemes + --variant  ──►  Lineup: an experiment per Setting
//! ```

use crate::captures::{Limits, Plan, Wanted};
use crate::reference::{Published, published};
use std::sync::Arc;
use weir_scenario::Window;
use weir_scenario::resolve::{Base, Fabrics};
use weir_scenario::text::{Diagnostic, Diagnostics, Sources};
use weir_scenario::variant::{self, VariantSpec};
use weir_scenario::{Experiment, Variant, load::source};
use weir_scenario::{Problems, control};
use weir_sim::config::EngineConfig;
use weir_sim::probe::RecordConfig;

/// One row: everything but the seed is settled.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What tables call it.
    pub label: String,
    /// The same for names of figures and files: lower case, without blanks, unique.
    pub id: String,
    /// What it runs.
    pub experiment: Arc<Experiment>,
    /// Scheme and algorithm, with a seed of zero.
    pub variant: Variant,
}

impl Setting {
    /// One of its runs.
    pub fn with_seed(&self, seed: u64) -> Variant {
        Variant { seed, ..self.variant }
    }
}

/// What was asked for on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// `path=value` changes of the scenario.
    pub sets: &'a [String],
    /// Schemes with the settings of the scenario.
    pub schemes: &'a [String],
    /// Variants: labels of the scenario's, or texts that [`weir_scenario::variant`] reads.
    pub variants: &'a [String],
    /// The congestion control of rows that do not name one.
    pub cc: Option<&'a str>,
    /// How to compute it; never changes a result.
    pub engine: EngineConfig,
    /// Whether switches and NICs send every packet the plain way; never changes a result.
    pub plain: bool,
    /// The time whose pauses are reported.
    pub window: Window,
    /// What is captured into files.
    pub captures: &'a [Wanted],
    /// How much of it is kept.
    pub capture_limits: Limits,
    /// Whether to keep where completion times went.
    pub blame: BlameWish,
    /// What is recorded over time.
    pub record: Option<RecordConfig>,
}

/// Whether to keep where completion times went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlameWish {
    /// It is not asked for.
    #[default]
    No,
    /// Unless the scenario has what blame cannot follow.
    IfPossible,
    /// It is asked for: a run that cannot keep it is an error.
    Yes,
}

impl BlameWish {
    /// What `--blame` asks for.
    pub const fn flag(given: bool) -> Self {
        if given { Self::Yes } else { Self::No }
    }
}

/// Which rows to run when the command line names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// The variants of the scenario, or every scheme if it has none.
    All,
    /// What `[flow-control]` says.
    Own,
}

/// A scenario and the rows of its comparison.
#[derive(Clone, Debug)]
pub struct Lineup {
    /// The scenario as it is.
    pub base: Arc<Experiment>,
    /// The rows; the first is what the others are compared with.
    pub settings: Vec<Setting>,
    /// What is odd about any of them.
    pub warnings: Diagnostics,
    /// The texts that warnings are about.
    pub sources: Sources,
    /// The scenario's published numbers.
    pub published: Vec<Published>,
}

impl Lineup {
    /// Loads a scenario file or a built-in scenario, and puts the rows together.
    pub fn load(
        reference: &str,
        request: &Request<'_>,
        otherwise: Otherwise,
    ) -> Result<Self, Problems> {
        let (name, text, files) = source(reference)?;
        let mut out = Diagnostics::default();
        let mut base = Base::read(&name, &text, files, request.sets, &mut out);
        let fabrics = Fabrics::default();
        let mut e = base.experiment(out, &fabrics)?;
        let published = published_of(&e, &base.sources)?;
        request.adjust(&mut e);
        let e = Arc::new(e);
        let specs = request.specs(&e, &mut base, otherwise)?;
        base.root.0.retain(|(key, ..)| key != "variant");
        let mut warnings = e.warnings.clone();
        let mut settings: Vec<Setting> = Vec::new();
        for spec in &specs {
            let (experiment, variant) = request.resolve(spec, &e, &base, &fabrics)?;
            experiment.warnings.iter().for_each(|w| warnings.push(w.clone()));
            experiment.warnings_about(variant).iter().for_each(|w| warnings.push(w.clone()));
            // among others, a row that faults do not concern is there to compare with
            if specs.len() == 1 {
                experiment.idle_faults(variant).iter().for_each(|w| warnings.push(w.clone()));
            }
            same_classes(spec, &e, &experiment, &base.sources)?;
            let id = slug(spec, &settings);
            settings.push(Setting { label: spec.label.clone(), id, experiment, variant });
        }
        Ok(Self { base: e, settings, warnings, sources: base.sources, published })
    }
}

/// The published numbers of a scenario, or what is wrong with them.
fn published_of(e: &Experiment, sources: &Sources) -> Result<Vec<Published>, Problems> {
    let mut diagnostics = Diagnostics::default();
    let published = published(&e.scenario.references, &mut diagnostics);
    match diagnostics.has_errors() {
        true => Err(Problems { sources: sources.clone(), diagnostics }),
        false => Ok(published),
    }
}

impl Request<'_> {
    fn adjust(&self, e: &mut Experiment) {
        e.engine = self.engine;
        e.shortcuts = !self.plain;
        e.window = self.window;
        e.blame = match self.blame {
            BlameWish::No => false,
            BlameWish::IfPossible => e.receivers.is_empty(),
            BlameWish::Yes => true,
        };
        // what does not exist is complained of where the files are known
        let plan = Plan::new(self.captures, &e.topology).unwrap_or_default();
        e.record = self.record;
        e.capture = plan.capture(self.capture_limits, self.window);
    }

    /// The rows that are to be run, as written.
    fn specs(
        &self,
        e: &Experiment,
        base: &mut Base,
        otherwise: Otherwise,
    ) -> Result<Vec<VariantSpec>, Problems> {
        let mut out = Diagnostics::default();
        let mut specs = Vec::new();
        for name in self.schemes {
            let flag = if otherwise == Otherwise::Own { "--scheme" } else { "--schemes" };
            let id = base.sources.add(flag, name.as_str());
            specs.push(VariantSpec::of_scheme(name, id.span(0..name.len())));
        }
        for text in self.variants {
            let theirs = &e.scenario.variants;
            if let Some(known) = theirs.iter().find(|v| v.label == text.trim()) {
                specs.push(known.clone());
            } else if is_label(text, theirs) {
                out.push(no_variant(text, theirs, &mut base.sources));
            } else {
                specs.extend(variant::parse(text, &mut base.sources, &mut out));
            }
        }
        if specs.is_empty() && !out.has_errors() {
            let theirs = &e.scenario.variants;
            let all = || weir_fc::SCHEMES.iter().map(|s| s.name).collect::<Vec<_>>();
            let names = match otherwise {
                Otherwise::All if !theirs.is_empty() => return Ok(theirs.clone()),
                Otherwise::All => all(),
                Otherwise::Own => vec![e.scenario.flow_control.scheme.value.name],
            };
            let id = base.sources.add("--schemes", "");
            let spec = |name: &str| VariantSpec::of_scheme(name, id.span(0..0));
            return Ok(names.into_iter().map(spec).collect());
        }
        variant::check(&specs, &mut out);
        match out.has_errors() {
            true => Err(Problems { sources: base.sources.clone(), diagnostics: out }),
            false => Ok(specs),
        }
    }

    /// A row made concrete. Rows that change nothing share the scenario's own experiment.
    fn resolve(
        &self,
        spec: &VariantSpec,
        e: &Arc<Experiment>,
        base: &Base,
        fabrics: &Fabrics,
    ) -> Result<(Arc<Experiment>, Variant), Problems> {
        let problems = |diagnostics| Problems { sources: base.sources.clone(), diagnostics };
        let found = match spec.changes.is_empty() {
            true => base.choose(e, Some(spec)).map(|variant| (Arc::clone(e), variant)),
            false => base.resolve(&spec.changes, Some(spec), fabrics).map(|resolved| {
                let mut experiment = resolved.experiment;
                self.adjust(&mut experiment);
                (Arc::new(experiment), resolved.variant)
            }),
        };
        let (experiment, mut variant) = found.map_err(|p| {
            let mut named = Diagnostics::default();
            for d in p.diagnostics.iter() {
                let plain = e.scenario.variants.is_empty() && self.variants.is_empty();
                let label = || format!("in variant `{}`", spec.label);
                named.push(if plain { d.clone() } else { d.clone().help(label()) });
            }
            Problems { sources: p.sources, diagnostics: named }
        })?;
        if let (Some(name), None) = (self.cc, &spec.cc) {
            let found = control::find_cc(name);
            let usable = found.and_then(|cc| experiment.check_cc(cc).map(|()| cc));
            variant.cc = usable.map_err(|d| {
                let mut out = Diagnostics::default();
                out.push(d);
                problems(out)
            })?;
        }
        Ok((experiment, variant))
    }
}

/// Whether a text can only be meant as the label of one of the scenario's variants.
fn is_label(text: &str, theirs: &[VariantSpec]) -> bool {
    let plain = !text.contains([':', '=', ',']);
    plain && !theirs.is_empty() && weir_fc::scheme(text.trim()).is_none()
}

fn no_variant(text: &str, theirs: &[VariantSpec], sources: &mut Sources) -> Diagnostic {
    let id = sources.add("--variant", text);
    let labels: Vec<&str> = theirs.iter().map(|v| v.label.as_str()).collect();
    Diagnostic::error(format!("the scenario has no variant `{}`", text.trim()))
        .at(id.span(0..text.len()), "")
        .nearest(weir_net::nearest(text.trim(), labels.iter().copied()))
        .help(format!("its variants are {}", labels.join(", ")))
}

/// Refuses a row whose classes of traffic are others than the scenario's: nothing could be
/// compared.
fn same_classes(
    spec: &VariantSpec,
    base: &Experiment,
    e: &Experiment,
    sources: &Sources,
) -> Result<(), Problems> {
    if base.classes() == e.classes() {
        return Ok(());
    }
    let title = format!("variant `{}` has other classes of traffic than the scenario", spec.label);
    let help = format!("{} instead of {}", e.classes().join(", "), base.classes().join(", "));
    let mut diagnostics = Diagnostics::default();
    diagnostics.push(Diagnostic::error(title).at(spec.at, "nothing could be compared").help(help));
    Err(Problems { sources: sources.clone(), diagnostics })
}

/// The label as the name of a file; a scheme that stands for itself has its own name.
fn slug(spec: &VariantSpec, before: &[Setting]) -> String {
    let scheme = spec.scheme.as_ref().and_then(|(name, _)| weir_fc::scheme(name));
    let mut slug = match scheme.filter(|s| s.title == spec.label) {
        Some(scheme) => scheme.name.to_owned(),
        None => {
            let lower = spec.label.to_lowercase();
            let words = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_');
            words.filter(|w| !w.is_empty()).collect::<Vec<_>>().join("-")
        }
    };
    if slug.is_empty() {
        slug = "variant".into();
    }
    let taken = |id: &str| before.iter().any(|s| s.id == id);
    let numbered = (2..).map(|n| format!("{slug}-{n}"));
    std::iter::once(slug.clone()).chain(numbered).find(|id| !taken(id)).expect("numbers go on")
}
