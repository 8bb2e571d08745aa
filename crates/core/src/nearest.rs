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
    let word: Vec<char> = fold(word);
    if word.len() > LONGEST {
        return None;
    }
    let allowed = (word.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = fold(candidate);
        if other.len().abs_diff(word.len()) > allowed {
            continue;
        }
        let d = distance(&word, &other);
        if d <= allowed && best.is_none_or(|(least, _)| d < least) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// A longer word is not compared: it is no misspelt name, and comparing it would take long.
const LONGEST: usize = 64;

fn fold(word: &str) -> Vec<char> {
    word.chars().flat_map(char::to_lowercase).map(|c| if c == '_' { '-' } else { c }).collect()
}

/// Edit distance with swaps of neighbours (optimal string alignment).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut d = replace.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(before[j - 2] + 1);
            }
            row.push(d);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
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

    #[test]
    fn distance_counts_each_kind_of_slip_once() {
        let d = |a: &str, b: &str| distance(&fold(a), &fold(b));
        assert_eq!(d("abc", "abc"), 0);
        assert_eq!(d("abc", "acb"), 1); // swap
        assert_eq!(d("abc", "ab"), 1); // deletion
        assert_eq!(d("abc", "abxc"), 1); // insertion
        assert_eq!(d("abc", "axc"), 1); // replacement
        assert_eq!(d("", "abc"), 3);
    }
}
