//! Text inside XML and HTML.

/// Text that may stand in XML and HTML, between tags and in quoted attributes.
///
/// ```
/// assert_eq!(weir_core::markup::escape("<b> & \"c\""), "&lt;b&gt; &amp; &quot;c&quot;");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // characters that XML does not allow at all
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// JSON that may stand in a `<script>` element.
///
/// A `<` can occur in JSON only inside of strings, where it may as well be written as an escape
/// sequence. Without one, no text can end the element, begin a comment or begin another script.
///
/// ```
/// assert_eq!(weir_core::markup::json_in_script("[\"<!--\"]"), "[\"\\u003c!--\"]");
/// ```
pub fn json_in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_write_cannot_break_out_of_the_markup() {
        assert_eq!(escape("<b a=\"x\">&\u{7}"), "&lt;b a=&quot;x&quot;&gt;&amp; ");
    }

    #[test]
    fn json_in_a_script_keeps_its_meaning_and_has_no_markup() {
        let json = "{\"k\":\"</script><!--<script>\"}";
        let safe = json_in_script(json);
        assert!(!safe.contains('<'), "{safe}");
        assert_eq!(safe.replace("\\u003c", "<"), json);
    }
}
