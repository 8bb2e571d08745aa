//! Experiments with other seeds or settings than their files state: `--seeds` and `--set`.
//!
//! Settings are applied after those of the grid and of `[quick]`, before those of variants and
//! points: a variant stays what its label says, and a column of a table is always true. Results
//! with changed settings have a directory of their own and are marked wherever they are shown.

use weir_scenario::hash::sha256;
use weir_scenario::text::{Diagnostics, Sources, read_override};
use weir_sweep::grid::{Change, Grid};

/// What is different from the experiments' files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Seeds instead of the experiments'.
    pub seeds: Option<Vec<u64>>,
    /// Values of the scenario as `--set` takes them, for all runs.
    pub sets: Vec<String>,
}

/// The longest name of a directory that is made of settings.
const LONGEST: usize = 80;

impl Overrides {
    /// Puts them into a grid; settings get sources of their own.
    pub(crate) fn apply(&self, grid: &mut Grid, sources: &mut Sources) -> Result<(), Diagnostics> {
        if let Some(seeds) = &self.seeds {
            grid.seeds = Some(seeds.clone());
        }
        let mut out = Diagnostics::default();
        for text in &self.sets {
            let Some((steps, item)) = read_override(text, sources, &mut out) else { continue };
            let path = steps.into_iter().map(|(name, at)| (name.to_owned(), at)).collect();
            grid.sets.push(Change { path, item });
        }
        if out.has_errors() { Err(out) } else { Ok(()) }
    }

    /// The settings in words, for pages and terminals; empty if there are none.
    pub fn words(&self) -> String {
        self.sets.join(", ")
    }

    /// A name for the directory of results with these settings; `None` without settings.
    pub fn slug(&self) -> Option<String> {
        if self.sets.is_empty() {
            return None;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '=' | '%');
        let whole = self.sets.join("+");
        let one = |set: &String| set.chars().map(|c| if plain(c) { c } else { '_' }).collect();
        let name = self.sets.iter().map(one).collect::<Vec<String>>().join("+");
        if name == whole && name.len() <= LONGEST {
            return Some(name);
        }
        // another name for other settings that would look the same
        let hash = sha256(self.sets.join("\n").as_bytes());
        let short: String = name.chars().take(LONGEST - 9).collect();
        Some(format!("{short}-{}", &hash[..8]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_a_directory_and_different_ones_never_the_same() {
        let slug = |sets: &[&str]| {
            let sets = sets.iter().map(|s| (*s).to_owned()).collect();
            Overrides { sets, seeds: None }.slug()
        };
        assert_eq!(slug(&[]), None);
        assert_eq!(slug(&["topology.rate=100Gbps"]).as_deref(), Some("topology.rate=100Gbps"));
        assert_eq!(slug(&["a.b=1", "c=2"]).as_deref(), Some("a.b=1+c=2"));
        let together = slug(&["a.b=1+c=2"]);
        assert!(together.is_some() && together != slug(&["a.b=1", "c=2"]), "{together:?}");
        let odd = ["a=../x", "a=.._x", "a=..\\x"].map(|s| slug(&[s]).expect("a name"));
        assert!(odd[0] != odd[1] && odd[0] != odd[2] && odd[1] != odd[2], "{odd:?}");
        assert!(odd.iter().all(|name| !name.contains(['/', '\\'])), "{odd:?}");
        let long = slug(&[&format!("a={}", "x".repeat(500))]).expect("a name");
        assert!(long.len() <= LONGEST, "{long}");
    }
}
