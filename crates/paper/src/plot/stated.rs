//! What a paper states, drawn in the figures: its values, and what its factors amount to.
//!
//! A claim is drawn where its metric, class, sizes, ports and point are those of a panel. A value
//! is drawn as it is; a ratio or a reduction of one variant against one other is drawn from the
//! other variant's mean here, and says so in its name.

use super::{Drawer, Key, estimate};
use crate::claim::{Claim, Expected, Operand, Rule};
use crate::figure::FigureKind;
use crate::select::Selector;
use weir_plot::style::{Marker, Style};
use weir_plot::{Across, Mark, Series, Shape};

/// Names of the two kinds of marks in legends and tables.
const VALUE: &str = "the paper's value";
const FACTOR: &str = "the paper's factor, from the other variant here";

/// The published number that a claim puts at an operand.
enum Stated<'c> {
    Value(f64),
    Times(&'c Operand, f64),
}

fn stated(claim: &Claim) -> Option<Stated<'_>> {
    let other = || claim.against.first().filter(|_| claim.against.len() == 1);
    if !claim.over.is_empty() {
        return None;
    }
    match &claim.rule {
        Rule::Value(Expected::One(paper)) => Some(Stated::Value(*paper)),
        Rule::Reduction(Expected::One(paper)) => Some(Stated::Times(other()?, 1.0 - paper)),
        Rule::Ratio { paper: Expected::One(paper), inverse } => {
            let factor = if *inverse { *paper } else { 1.0 / paper };
            Some(Stated::Times(other()?, factor))
        }
        _ => None,
    }
}

/// Whether an operand is about what a panel shows.
fn alike(a: &Selector, b: &Selector) -> bool {
    let parts = |s: &Selector| {
        [&s.metric, &s.class, &s.sizes, &s.ports, &s.table].map(|part| part.to_owned())
    };
    parts(a) == parts(b)
}

impl Drawer<'_> {
    /// Series of published values for a panel; none where the paper states nothing of it.
    pub(super) fn published(
        &self,
        select: &Selector,
        across: &Across,
        drawn: &[Series],
    ) -> Vec<Series> {
        let plain = matches!(self.spec.kind, FigureKind::Lines | FigureKind::Bars);
        if !plain || self.spec.relative_to.is_some() {
            return Vec::new();
        }
        let (mut values, mut factors): (Vec<Mark>, Vec<Mark>) = Default::default();
        for claim in self.stated {
            let Some(stated) = stated(claim) else { continue };
            for of in claim.of.iter().filter(|o| alike(&o.select, select)) {
                let Some((at, lane)) = self.place(of, select, across, drawn) else { continue };
                let mark = |value: f64| Mark { at, lane, value, note: claim.place.clone() };
                let (to, mark) = match &stated {
                    Stated::Value(paper) => (&mut values, Some(mark(*paper))),
                    Stated::Times(other, factor) => {
                        (&mut factors, self.mean(other).map(|mean| mark(mean * factor)))
                    }
                };
                let new = |m: &Mark| {
                    to.iter().all(|k| (k.at, k.lane, k.value) != (m.at, m.lane, m.value))
                };
                if let Some(mark) = mark.filter(new) {
                    to.push(mark);
                }
            }
        }
        // what was worked out from a number of ours does not look like what was published
        let kinds = [(VALUE, Marker::Diamond, values), (FACTOR, Marker::Triangle, factors)];
        kinds
            .into_iter()
            .filter(|(_, _, marks)| !marks.is_empty())
            .map(|(name, marker, marks)| {
                let style = Style { marker, ..Style::ALARM };
                Series { name: name.to_owned(), style, shape: Shape::Marks(marks) }
            })
            .collect()
    }

    /// The mean of an operand that has one number.
    fn mean(&self, o: &Operand) -> Option<f64> {
        let cells = self.numbers.select(&o.select);
        let mut own = cells.iter().filter(|c| c.variant == o.variant);
        let (first, second) = (own.next()?, own.next());
        estimate(first).filter(|_| second.is_none()).map(|e| e.mean)
    }

    /// Where an operand stands in a panel, if the panel shows it.
    fn place(
        &self,
        o: &Operand,
        select: &Selector,
        across: &Across,
        drawn: &[Series],
    ) -> Option<(f64, Option<(usize, usize)>)> {
        let (x, by) = (self.key(self.spec.across.as_ref()), self.key(self.spec.by.as_ref()));
        let of = |key: Key| match key {
            Key::Variant => Some(o.variant.clone()),
            Key::Parameter(i) => self.value_of(&self.parameters[i], o),
        };
        let shown = |key: Key, value: &str| match key {
            Key::Variant => self.shown.iter().any(|(label, _)| label == value),
            Key::Parameter(_) => true,
        };
        // the other parameters are fixed by the panel
        let fixed = |(i, name): (usize, &String)| {
            let free = [x, by].iter().any(|k| matches!(k, Key::Parameter(p) if *p == i));
            free || self.value_of(name, o)
                == select.at.iter().find(|a| a.0 == *name).map(|a| a.1.clone())
                || self.only(name, o, select)
        };
        if !self.parameters.iter().enumerate().all(fixed) {
            return None;
        }
        let (at, series) = (of(x)?, of(by)?);
        if !shown(x, &at) || !shown(by, &series) || !shown(Key::Variant, &o.variant) {
            return None;
        }
        let along = match across {
            Across::Values(_) => weir_sweep::quantity::Quantity::read(&at)?.number,
            Across::Names { names, .. } | Across::Rows { names } => {
                names.iter().position(|n| *n == at)? as f64
            }
        };
        let bars: Vec<&Series> =
            drawn.iter().filter(|s| matches!(s.shape, Shape::Bars(_))).collect();
        let lane = (bars.len() > 1).then(|| {
            let name = self.series_name(by, &series);
            bars.iter().position(|s| s.name == name).map(|i| (i, bars.len()))
        });
        match lane {
            Some(None) => None,
            other => Some((along, other.flatten())),
        }
    }

    /// The value of a parameter that an operand is about.
    fn value_of(&self, name: &str, o: &Operand) -> Option<String> {
        o.select.at.iter().find(|a| a.0 == name).map(|a| a.1.clone())
    }

    /// Whether a parameter that neither names has one value only, as those that go with others.
    fn only(&self, name: &str, o: &Operand, select: &Selector) -> bool {
        let silent = select.at.iter().all(|a| a.0 != name);
        let cells = self.numbers.select(&Selector { at: o.select.at.clone(), ..select.clone() });
        let Some(i) = self.parameters.iter().position(|p| p == name) else { return false };
        silent && cells.windows(2).all(|pair| pair[0].values[i] == pair[1].values[i])
    }
}
