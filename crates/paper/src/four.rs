//! The four outcomes of verdicts, counted.

use weir_stats::verdict::Judgement;

/// How many verdicts there are of each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Four {
    /// The interval is within the margin.
    pub reproduced: usize,
    /// The direction holds.
    pub same_direction: usize,
    /// The interval excludes the direction.
    pub not_reproduced: usize,
    /// The interval admits more than one of these.
    pub not_distinguishable: usize,
}

impl Four {
    /// Names of the outcomes as columns of tables have them.
    pub const COLUMNS: [&str; 4] =
        ["reproduced", "same_direction", "not_reproduced", "not_distinguishable"];

    /// Counts one more.
    pub fn add(&mut self, judgement: Judgement) {
        *match judgement {
            Judgement::Reproduced => &mut self.reproduced,
            Judgement::SameDirection(_) => &mut self.same_direction,
            Judgement::NotReproduced => &mut self.not_reproduced,
            Judgement::NotDistinguishable => &mut self.not_distinguishable,
        } += 1;
    }

    /// In the order of [`Self::COLUMNS`].
    pub const fn numbers(&self) -> [usize; 4] {
        [self.reproduced, self.same_direction, self.not_reproduced, self.not_distinguishable]
    }

    /// All of them.
    pub fn total(&self) -> usize {
        self.numbers().iter().sum()
    }

    /// In words.
    pub fn words(&self) -> String {
        let [yes, near, no, open] = self.numbers();
        format!(
            "{yes} reproduced, {near} in the same direction, {no} not reproduced, {open} not \
             distinguishable"
        )
    }

    /// Short, for cells of tables; empty if there are none.
    pub fn cell(&self) -> String {
        match self.total() {
            0 => String::new(),
            _ => self.numbers().map(|n| n.to_string()).join(" / "),
        }
    }

    /// Both together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self {
            reproduced: self.reproduced + other.reproduced,
            same_direction: self.same_direction + other.same_direction,
            not_reproduced: self.not_reproduced + other.not_reproduced,
            not_distinguishable: self.not_distinguishable + other.not_distinguishable,
        }
    }
}
