//! "Did you mean ...?"

/// The candidate most like `text`, if any is close enough to be what was meant: at most one edit
/// for every three letters, and at least two are forgiven.
pub(crate) fn nearest<'a>(
    text: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // A name longer than any of ours by far is no misspelling; this also bounds the work.
    if text.len() > 64 {
        return None;
    }
    let text = text.to_lowercase().replace(['_', ' '], "-");
    let limit = (text.chars().count() / 3).max(2);
    candidates
        .into_iter()
        .map(|c| (distance(&text, &c.to_lowercase().replace('_', "-")), c))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// The number of letters to insert, delete or replace to turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
    }

    #[test]
    fn a_misspelling_finds_its_name_and_nonsense_does_not() {
        let names = ["websearch", "webserver", "alistorage"];
        assert_eq!(nearest("web_serach", names), Some("websearch"));
        assert_eq!(nearest("WebServer", names), Some("webserver"));
        assert_eq!(nearest("quux", names), None);
        assert_eq!(nearest(&"w".repeat(1000), names), None);
    }
}
