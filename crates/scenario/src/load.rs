//! Loading: from a file or a name to an experiment that is checked.

use crate::experiment::{Built, Experiment, Variant, build};
use crate::text::{Diagnostic, Diagnostics};
use crate::{Files, Problems, Scenario, TopologySpec, builtin, checks};
use std::borrow::Cow;
use std::path::Path;
use weir_net::nearest;
use weir_sim::config::Routing;

/// How messages call a scenario that is not a file, and its name unless it has one.
const PIPED: &str = "stdin";

impl Experiment {
    /// Loads a scenario file or a built-in scenario, with `path=value` overrides.
    pub fn load(reference: &str, sets: &[String]) -> Result<Self, Problems> {
        let (name, text, files) = source(reference)?;
        Self::read(&name, &text, files, sets)
    }

    /// Reads a scenario from text.
    pub fn read(name: &str, text: &str, files: Files, sets: &[String]) -> Result<Self, Problems> {
        let (scenario, out) = Scenario::read(name, text, files, sets);
        Self::from_scenario(scenario, out, build)
    }

    /// Puts a scenario together that was read with the remarks `out`; `fabric` builds its network,
    /// or knows it already.
    pub(crate) fn from_scenario(
        scenario: Scenario,
        mut out: Diagnostics,
        fabric: impl FnOnce(&TopologySpec, Routing) -> Result<Built, Diagnostic>,
    ) -> Result<Self, Problems> {
        let sources = scenario.sources.clone();
        let mut made = Self::assemble(scenario, &mut out, fabric);
        if let Some(experiment) = &mut made {
            experiment.late = checks::all(experiment, &mut out);
        }
        out.sort();
        match made {
            Some(mut experiment) if !out.has_errors() => {
                experiment.warnings = out;
                Ok(experiment)
            }
            _ => Err(Problems { sources, diagnostics: out }),
        }
    }

    /// What is odd about a run besides [`Experiment::warnings`]: a congestion control that is not
    /// that of the file, and a scheme that cannot promise here what it promises elsewhere.
    pub fn warnings_about(&self, variant: Variant) -> Diagnostics {
        let mut out = checks::chosen_cc(self, variant);
        checks::floor(self, variant, &mut out);
        out
    }

    /// Faults that do not act under the scheme of a run that is not the scenario's own.
    pub fn idle_faults(&self, variant: Variant) -> Diagnostics {
        let mut out = Diagnostics::default();
        if variant.scheme.name != self.own_variant().scheme.name {
            checks::faults(self, variant, &mut out);
        }
        out
    }

    /// What to consider before its numbers are used for real switches; `weir check` says it.
    pub fn advice(&self, variant: Variant) -> Diagnostics {
        let mut out = Diagnostics::default();
        checks::response(self, variant, &mut out);
        out
    }
}

/// A scenario file or a built-in scenario: its name in messages, its text, and where it looks for
/// files.
pub fn source(reference: &str) -> Result<(String, Cow<'static, str>, Files), Problems> {
    if let Some(found) = builtin::find(reference) {
        let name = format!("{} (built in)", found.name);
        return Ok((name, Cow::Borrowed(found.text), Files::default()));
    }
    let path = Path::new(reference);
    let (text, beside) = Files::scenario(reference).map_err(|why| {
        let names = || builtin::all().map(|b| b.name);
        let all: Vec<&str> = names().collect();
        let error = Diagnostic::error(why).nearest(nearest(reference, names()));
        Problems::plain(error.help(format!("built-in scenarios: {}", all.join(", "))))
    })?;
    if !beside {
        // what came through a pipe lies in no directory and has no name
        return Ok((PIPED.to_owned(), Cow::Owned(text), Files::default()));
    }
    let files = Files::of(path.parent().map(Path::to_owned));
    files.note(path.to_owned());
    Ok((reference.to_owned(), Cow::Owned(text), files))
}
