//! `[live]` of an experiment: which of its runs are made again on real frames, beside the
//! simulation.
//!
//! ```toml
//! [live]
//! variants = ["PFC", "OFC"]
//! at = { burst = "30us" }          # parameters without a value here are gone through
//! metric = "fct_max_ps"            # shown of each class, beside the paper's number
//! classes = ["victim", "congested"]
//! dilations = [1000, 500, 2000]    # the first is compared with the simulation, the others with it
//! runs = 10
//! ```
//!
//! This crate only reads it and puts the cells together ([`crate::live_cells`]): the runs are made
//! by `weir live study`.

use super::keys;
use super::select::{self, Scope, Selector};
use weir_scenario::Fields;

/// What is run live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveStudy {
    /// Labels of variants.
    pub variants: Vec<String>,
    /// The metric, and the points that are run.
    pub select: Selector,
    /// The classes of traffic whose metric is shown; an empty text is all flows.
    pub classes: Vec<String>,
    /// The first is compared with the simulation.
    pub dilations: Vec<u32>,
    /// So many runs of each that kept their time.
    pub runs: usize,
}

impl LiveStudy {
    /// Reads `[live]`, when it is known what there is to select.
    pub(crate) fn read(f: &mut Fields<'_>, scope: &Scope) -> Option<Self> {
        let item = f.item("live")?;
        let mut f = Fields::new(&keys::LIVE, Some(item), f.out);
        if !f.is_table() {
            return None;
        }
        if scope.analytic {
            f.error("this experiment has no runs that could be made live", item.span, "");
        }
        f.require("variants");
        let variants = f.names_at("variants");
        for (name, at) in &variants {
            select::check_variant(&mut f, name, Some(*at), scope);
        }
        let base = select::selector(&mut f, &Selector::default(), scope);
        let mut classes = Vec::new();
        for (class, at) in f.names_at("classes") {
            match scope.classes.as_ref().filter(|k| !class.is_empty() && !k.contains(&class)) {
                Some(known) => f.unknown("class of traffic", &class, at, known),
                None => classes.push(class),
            }
        }
        if classes.is_empty() {
            classes.push(String::new());
        }
        let at = f.place("metric");
        for class in &classes {
            let select = Selector { class: class.clone(), ..base.clone() };
            select::check_metric(&mut f, &select, scope, at);
        }
        Some(Self {
            variants: variants.into_iter().map(|(name, _)| name).collect(),
            select: base,
            classes,
            dilations: dilations(&mut f),
            runs: f.whole("runs").value as usize,
        })
    }
}

/// `dilations = [1000, 500]`.
fn dilations(f: &mut Fields<'_>) -> Vec<u32> {
    f.require("dilations");
    let written = f.wholes("dilations").map_or_else(Vec::new, |all| all.value);
    let mut found: Vec<u32> = Vec::new();
    for factor in written.into_iter().map(|factor| factor as u32) {
        if found.contains(&factor) {
            f.error(format!("a dilation of {factor} is given twice"), f.place("dilations"), "");
        } else {
            found.push(factor);
        }
    }
    found
}
