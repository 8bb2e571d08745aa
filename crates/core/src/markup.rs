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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_write_cannot_break_out_of_the_markup() {
        assert_eq!(escape("<b a=\"x\">&\u{7}"), "&lt;b a=&quot;x&quot;&gt;&amp; ");
    }
}
