//! "Did you mean ...?": the closest known word to a misspelt one.

/// The candidate closest to `word`, if one is close enough to be what was meant.
///
/// Closeness is the number of single-letter insertions, deletions, replacements and swaps of
/// neighbours, ignoring case and the difference between `-` and `_`. At most a third of the
/// word (and at least one letter) may be wrong. Ties go to the earlier candidate.
///
/// ```
/// use weir_core::nearest;
/// assert_eq!(nearest("spnie0", ["leaf0", "spine0"]), Some("spine0"));
/// assert_eq!(nearest("banana", ["leaf0", "spine0"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = fold(word);
    let letters = word.chars().count();
    if letters > LONGEST {
        return None;
    }
    let allowed = (letters / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = fold(candidate);
        if other.chars().count().abs_diff(letters) > allowed {
            continue;
        }
        let d = strsim::osa_distance(&word, &other);
        if d <= allowed && best.is_none_or(|(least, _)| d < least) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// A longer word is not compared: it is no misspelt name, and comparing it would take long.
const LONGEST: usize = 64;

fn fold(word: &str) -> String {
    word.to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_word() {
        let words = ["hosts", "rate", "delay", "hosts_per_tor"];
        for (typo, meant) in [
            ("host", "hosts"),
            ("rtae", "rate"),
            ("Delay", "delay"),
            ("hosts-per-tor", "hosts_per_tor"),
            ("hosts_pr_tors", "hosts_per_tor"),
        ] {
            assert_eq!(nearest(typo, words), Some(meant), "{typo}");
        }
    }

    #[test]
    fn an_unrelated_word_finds_nothing() {
        assert_eq!(nearest("bandwidth", ["hosts", "rate", "delay"]), None);
        assert_eq!(nearest("", ["hosts"]), None);
        assert_eq!(nearest(&"x".repeat(1000), ["hosts"]), None);
    }

    /// A third of four letters is one slip, whichever it is.
    #[test]
    fn each_kind_of_slip_counts_once() {
        for slip in ["abdc", "abc", "abxcd", "axcd"] {
            assert_eq!(nearest(slip, ["abcd"]), Some("abcd"), "{slip}");
        }
        assert_eq!(nearest("axyd", ["abcd"]), None, "two letters are wrong");
    }
}
