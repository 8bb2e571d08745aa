//! Bisection that looks whether it may be believed.

use std::collections::BTreeMap;

/// Where a property changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// It holds from `keeps` on upwards; one below, `breaks` does not.
    Smallest {
        /// The smallest value that keeps it.
        keeps: usize,
        /// The value below.
        breaks: usize,
    },
    /// It holds up to `keeps`; one above, `breaks` does not.
    Largest {
        /// The largest value that keeps it.
        keeps: usize,
        /// The value above.
        breaks: usize,
    },
    /// It holds at both ends.
    Always,
    /// It holds at neither end.
    Never,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where the property changes.
    pub boundary: Boundary,
    /// All places that were tried, and whether the property held there.
    pub tried: BTreeMap<usize, bool>,
    /// Places where it is other than the boundary says: the property is not monotone.
    pub contradictions: Vec<usize>,
}

/// Finds where a property of the places `0..n` changes, and tries up to `probes` further places
/// for contradictions. The first error ends it.
///
/// # Panics
/// If there are fewer than two places.
pub fn bisect<E>(
    n: usize,
    probes: usize,
    mut holds: impl FnMut(usize) -> Result<bool, E>,
) -> Result<Found, E> {
    assert!(n >= 2, "a range has two ends");
    let mut tried = BTreeMap::new();
    let mut look = |i: usize, tried: &mut BTreeMap<usize, bool>| match tried.get(&i) {
        Some(&known) => Ok(known),
        None => {
            let found = holds(i)?;
            tried.insert(i, found);
            Ok(found)
        }
    };
    let ends = (look(0, &mut tried)?, look(n - 1, &mut tried)?);
    let boundary = match ends {
        (true, true) => Boundary::Always,
        (false, false) => Boundary::Never,
        (low_end, _) => {
            let (mut low, mut high) = (0, n - 1);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                match look(middle, &mut tried)? == low_end {
                    true => low = middle,
                    false => high = middle,
                }
            }
            match low_end {
                true => Boundary::Largest { keeps: low, breaks: high },
                false => Boundary::Smallest { keeps: high, breaks: low },
            }
        }
    };
    // evenly spaced, between those at the ends
    for k in 1..=probes {
        look(k * (n - 1) / (probes + 1), &mut tried)?;
    }
    let expected = |i: usize| match boundary {
        Boundary::Smallest { keeps, .. } => i >= keeps,
        Boundary::Largest { keeps, .. } => i <= keeps,
        Boundary::Always => true,
        Boundary::Never => false,
    };
    let contradictions = tried.iter().filter(|(i, holds)| expected(**i) != **holds);
    let contradictions = contradictions.map(|(i, _)| *i).collect();
    Ok(Found { boundary, tried, contradictions })
}

/// How often a property changes along a line of places; more than once is not monotone.
pub fn changes(line: impl IntoIterator<Item = bool>) -> usize {
    let all: Vec<bool> = line.into_iter().collect();
    all.windows(2).filter(|pair| pair[0] != pair[1]).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn search(line: &[bool], probes: usize) -> (Found, usize) {
        let mut runs = 0;
        let found = bisect(line.len(), probes, |i| {
            runs += 1;
            Ok::<bool, Infallible>(line[i])
        });
        (found.expect("no errors"), runs)
    }

    /// Every monotone property of up to 40 places, both ways round, against a look at all places.
    #[test]
    fn bisection_agrees_with_a_full_grid() {
        for n in 2..40 {
            for first in 0..=n {
                for rising in [true, false] {
                    let line: Vec<bool> = (0..n).map(|i| (i >= first) == rising).collect();
                    let (found, runs) = search(&line, 4);
                    let keeps = line.iter().position(|x| *x);
                    let last = line.iter().rposition(|x| *x);
                    let expected = match (line[0], line[n - 1]) {
                        (true, true) => Boundary::Always,
                        (false, false) => Boundary::Never,
                        (false, true) => {
                            let keeps = keeps.expect("the last one");
                            Boundary::Smallest { keeps, breaks: keeps - 1 }
                        }
                        (true, false) => {
                            let keeps = last.expect("the first one");
                            Boundary::Largest { keeps, breaks: keeps + 1 }
                        }
                    };
                    assert_eq!(found.boundary, expected);
                    assert!(found.contradictions.is_empty());
                    // two ends, one run per halving, four probes; nothing is run twice
                    let halvings = (n as f64).log2().ceil() as usize;
                    assert!(runs == found.tried.len() && runs <= 2 + halvings + 4);
                }
            }
        }
    }

    #[test]
    fn a_property_that_is_not_monotone_is_told() {
        // keeps in the middle only: both ends fail
        let island: Vec<bool> = (0..41).map(|i| (10..30).contains(&i)).collect();
        let (found, _) = search(&island, 8);
        assert_eq!(found.boundary, Boundary::Never);
        assert!(!found.contradictions.is_empty());
        assert!(found.contradictions.iter().all(|i| (10..30).contains(i)));
        // a gap above the boundary
        let gap: Vec<bool> = (0..101).map(|i| i >= 20 && !(60..80).contains(&i)).collect();
        let (found, _) = search(&gap, 8);
        assert!(!found.contradictions.is_empty(), "{found:?}");
        assert_eq!(changes(gap), 3);
    }
}
