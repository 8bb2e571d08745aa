//! What schemes keep in their switches.

use weir_core::Bytes;
use weir_sim::outcome::Outcome;

/// A table of a scheme, over all switches.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSummary {
    /// Its name.
    pub name: &'static str,
    /// Bytes per switch: mean over time, switches and runs.
    pub mean: f64,
    /// The most bytes seen in one switch.
    pub max: u64,
}

impl TableSummary {
    /// The bytes of a hash table that takes the most entries seen at the load factor a switch
    /// allows.
    pub fn at_load_factor(&self) -> Bytes {
        Bytes::new((self.max * 100).div_ceil(weir_fc::ofc::LOAD_FACTOR_PERCENT))
    }

    /// The tables of a scheme in these runs, all together.
    pub fn of<'a>(outcomes: impl IntoIterator<Item = &'a Outcome>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let mut switches = 0;
        for switch in outcomes.into_iter().flat_map(|o| &o.switches) {
            switches += 1;
            for t in &switch.tables {
                match all.iter_mut().find(|a| a.name == t.name) {
                    Some(a) => {
                        a.mean += t.mean;
                        a.max = a.max.max(t.max);
                    }
                    None => all.push(Self { name: t.name, mean: t.mean, max: t.max }),
                }
            }
        }
        all.iter_mut().for_each(|a| a.mean /= f64::from(switches));
        all
    }
}
