//! The line on which a value of a JSON file stands.

/// Lines of a valid JSON text, found by JSON pointers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// Pointer and line (from 1), in the order of the text.
    places: std::collections::BTreeMap<String, usize>,
}

/// A container that is being read: the pointer of what comes next in it.
struct Open {
    pointer: String,
    object: bool,
    index: usize,
}

impl Lines {
    /// Reads a text. One that is no JSON has some lines, or none; it never fails.
    pub(crate) fn of(text: &str) -> Self {
        let mut places = std::collections::BTreeMap::new();
        let (mut line, mut open): (usize, Vec<Open>) = (1, Vec::new());
        // the pointer of the value that comes next
        let mut next = String::new();
        let mut bytes = text.char_indices().peekable();
        while let Some((at, c)) = bytes.next() {
            match c {
                '\n' => line += 1,
                '{' | '[' => {
                    let object = c == '{';
                    open.push(Open { pointer: next.clone(), object, index: 0 });
                    if !object {
                        next = format!("{next}/0");
                        places.entry(next.clone()).or_insert(line);
                    }
                }
                '}' | ']' => drop(open.pop()),
                ',' => {
                    if let Some(now) = open.last_mut().filter(|o| !o.object) {
                        now.index += 1;
                        next = format!("{}/{}", now.pointer, now.index);
                        places.entry(next.clone()).or_insert(line);
                    }
                }
                '"' => {
                    let mut end = at + 1;
                    let mut escaped = false;
                    for (i, c) in bytes.by_ref() {
                        end = i;
                        match c {
                            '"' if !escaped => break,
                            '\n' => line += 1,
                            _ => {}
                        }
                        escaped = c == '\\' && !escaped;
                    }
                    let is_key = key_follows(text, end + 1);
                    if let Some(now) = open.last().filter(|o| o.object && is_key) {
                        let quoted = text.get(at..=end).unwrap_or("\"\"");
                        let key: String = serde_json::from_str(quoted).unwrap_or_default();
                        next = format!("{}{}", now.pointer, crate::finding::pointer(&[&key]));
                        places.entry(next.clone()).or_insert(line);
                    }
                }
                _ => {}
            }
        }
        Self { places }
    }

    /// The line of a pointer, or of the nearest thing above it.
    pub(crate) fn of_pointer(&self, pointer: &str) -> usize {
        let mut at = pointer;
        loop {
            if let Some(line) = self.places.get(at) {
                return *line;
            }
            match at.rsplit_once('/') {
                Some((above, _)) => at = above,
                None => return 1,
            }
        }
    }
}

fn key_follows(text: &str, from: usize) -> bool {
    text.get(from..).is_some_and(|rest| rest.trim_start().starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_on_their_lines() {
        let text = "{\n \"A\": {\n  \"x|y\": \"1\",\n  \"z\": [\n   \"a\"\n  ]\n },\n \"B\": {}\n}";
        let lines = Lines::of(text);
        let at = |p: &str| lines.of_pointer(p);
        assert_eq!([at("/A"), at("/A/x|y"), at("/A/z"), at("/B")], [2, 3, 4, 8]);
        // what is not there stands where it belongs
        assert_eq!(at("/A/missing"), 2);
        assert_eq!(at("/none"), 1);
    }

    #[test]
    fn text_that_is_no_json_does_no_harm() {
        for text in ["", "}", "]],,", "{\"a", "\"\\", "[[[[\"", "{\"é\":"] {
            Lines::of(text).of_pointer("/a");
        }
    }
}
