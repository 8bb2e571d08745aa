//! What a row of a comparison is called in figures, and how it looks: the same everywhere.

use crate::comparison::{Comparison, Group};
use std::collections::BTreeMap;
use weir_fc::SCHEMES;
use weir_plot::Style;

/// Name and look of one row of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// For links and file names, unique in the comparison.
    pub id: String,
    /// As tables call it.
    pub name: String,
    /// Colour by scheme; rows of one scheme differ in dash, marker and fill.
    pub style: Style,
}

/// The looks of rows, by the names of their schemes: the colour is the place in the list of all
/// schemes, so that a scheme has the same one in every figure; rows of one scheme differ in dash,
/// marker and fill. A row without a scheme has the colour of its place.
pub fn styles<'a>(schemes: impl IntoIterator<Item = &'a str>) -> Vec<Style> {
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    let style = |(i, name): (usize, &str)| {
        let subject = SCHEMES.iter().position(|s| s.name == name).unwrap_or(i);
        let earlier = seen.entry(subject).or_default();
        *earlier += 1;
        Style::new(subject, *earlier - 1)
    };
    schemes.into_iter().enumerate().map(style).collect()
}

/// Colours of congestion controls over PFC: those of schemes that are rarely beside them.
const CONTROLS: [(&str, &str); 6] = [
    ("dcqcn", "ppfc"),
    ("timely", "gfc"),
    ("hpcc", "gpfc"),
    ("dctcp", "capfc"),
    ("swift", "ofc"),
    ("dcqcn-paper", "ffc"),
];

/// The scheme whose colour a scheme with a congestion control has: over PFC or without flow control
/// the congestion control is what rows differ in.
pub fn colour_of<'a>(scheme: &'a str, cc: &str) -> &'a str {
    let control = CONTROLS.iter().find(|(name, _)| *name == cc).map(|(_, like)| *like);
    match (scheme, control) {
        ("pfc" | "none", Some(like)) => like,
        _ => scheme,
    }
}

/// Names and looks of all rows, in their order.
pub(crate) fn looks(c: &Comparison<'_>) -> Vec<Look> {
    let cc = |g: &Group<'_>| g.runs.first().map_or("none", |r| r.variant.cc.name());
    let styles = styles(c.groups.iter().map(|g| colour_of(g.scheme.name, cc(g))));
    let rows = c.groups.iter().zip(styles);
    rows.map(|(g, style)| Look { id: g.id.clone(), name: g.label.clone(), style }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_has_a_colour_of_its_own() {
        let twice = SCHEMES.iter().chain(SCHEMES.iter()).map(|s| s.name);
        let styles = styles(twice);
        let (first, second) = styles.split_at(SCHEMES.len());
        for (i, a) in first.iter().enumerate() {
            let name = SCHEMES[i].name;
            assert!(first[..i].iter().all(|b| b.paint != a.paint), "{name}");
            assert_eq!(a.paint, second[i].paint);
            assert_ne!(a.dash, second[i].dash);
        }
    }

    #[test]
    fn congestion_controls_over_pfc_have_colours_of_their_own() {
        let over_pfc = CONTROLS.iter().map(|(cc, _)| colour_of("pfc", cc));
        let styles = styles(std::iter::once("pfc").chain(over_pfc));
        for (i, a) in styles.iter().enumerate() {
            assert!(styles[..i].iter().all(|b| b.paint != a.paint), "row {i}");
        }
        assert_eq!(colour_of("bfc", "dcqcn"), "bfc");
    }
}
