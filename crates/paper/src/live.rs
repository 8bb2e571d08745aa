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

use super::select::{self, Scope, Selector};
use weir_scenario::text::{Item, Table, Value};
use weir_sweep::reader::Reader;

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

const KEYS: &[&str] = &["variants", "at", "metric", "classes", "dilations", "runs"];
/// More runs or slower ones nobody waits for.
const MOST_RUNS: u64 = 1000;
const MOST_DILATION: u32 = 1_000_000;

impl LiveStudy {
    /// Reads `[live]`, when it is known what there is to select.
    pub(crate) fn read(r: &mut Reader<'_>, root: &Table, scope: &Scope) -> Option<Self> {
        let item = root.get("live")?;
        let table = r.table("[live]", item)?;
        r.refuse_unknown(table, "[live]", KEYS);
        if scope.analytic {
            r.error("this experiment has no runs that could be made live", item.span, "");
        }
        let variants = r.texts(table, "variants");
        for (name, at) in &variants {
            select::check_variant(r, name, *at, scope);
        }
        if variants.is_empty() {
            r.error("[live] needs `variants`", item.span, "");
        }
        let base = select::selector(r, table, &Selector::default(), scope);
        let mut classes = Vec::new();
        for (class, at) in r.texts(table, "classes") {
            match scope.classes.as_ref().filter(|k| !class.is_empty() && !k.contains(&class)) {
                Some(known) => r.unknown("class of traffic", &class, at, known),
                None => classes.push(class),
            }
        }
        if classes.is_empty() {
            classes.push(String::new());
        }
        let at = table.get("metric").map_or(item.span, |metric| metric.span);
        for class in &classes {
            let select = Selector { class: class.clone(), ..base.clone() };
            select::check_metric(r, &select, scope, at);
        }
        Some(Self {
            variants: variants.into_iter().map(|(name, _)| name).collect(),
            select: base,
            classes,
            dilations: dilations(r, table, item),
            runs: r.whole(table, "runs", MOST_RUNS).unwrap_or(1) as usize,
        })
    }
}

/// `dilations = [1000, 500]`.
fn dilations(r: &mut Reader<'_>, table: &Table, whole: &Item) -> Vec<u32> {
    let Some(item) = table.get("dilations") else {
        r.error("[live] needs `dilations`", whole.span, "such as [1000, 500, 2000]");
        return Vec::new();
    };
    let items = match &item.value {
        Value::List(items) if !items.is_empty() => items.as_slice(),
        _ => std::slice::from_ref(item),
    };
    let mut found = Vec::new();
    for item in items {
        let factor = item.value.text().and_then(|text| text.parse().ok());
        match factor.filter(|n| (1..=MOST_DILATION).contains(n)) {
            Some(factor) if found.contains(&factor) => {
                r.error(format!("a dilation of {factor} is given twice"), item.span, "");
            }
            Some(factor) => found.push(factor),
            None => {
                let title = format!("a dilation is a whole number from 1 to {MOST_DILATION}");
                r.error(title, item.span, "");
            }
        }
    }
    found
}
