//! What a row of a comparison is called in figures, and how it looks: the same everywhere.

use crate::findings::Comparison;
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

/// The look of scheme `name`: its place in the list of all schemes, so that it has the same colour
/// in every figure of every comparison. `variant` counts earlier rows of the same scheme.
fn style(name: &str, variant: usize) -> Style {
    let subject = SCHEMES.iter().position(|s| s.name == name).unwrap_or(SCHEMES.len());
    Style::new(subject, variant)
}

/// Names and looks of all rows, in their order.
pub(crate) fn looks(c: &Comparison<'_>) -> Vec<Look> {
    let schemes: Vec<&str> = c.groups.iter().map(|g| g.scheme.name).collect();
    let look = |(i, g): (usize, &crate::findings::Group<'_>)| {
        let scheme = g.scheme.name;
        let variant = schemes[..i].iter().filter(|s| **s == scheme).count();
        Look { id: g.id.clone(), name: g.label.clone(), style: style(scheme, variant) }
    };
    c.groups.iter().enumerate().map(look).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_has_a_colour_of_its_own() {
        for (i, a) in SCHEMES.iter().enumerate() {
            for b in &SCHEMES[..i] {
                assert_ne!(style(a.name, 0).paint, style(b.name, 0).paint, "{} {}", a.name, b.name);
            }
            assert_eq!(style(a.name, 0).paint, style(a.name, 1).paint);
            assert_ne!(style(a.name, 0).dash, style(a.name, 1).dash);
        }
    }
}
