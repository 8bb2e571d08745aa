//! Text inside XML and HTML.

use std::fmt::{self, Display, Formatter, Write};

/// HTML: tags stand in it as the program has them, everything else is escaped when it is put in.
///
/// [`html!`](crate::html) makes it, and is the only way to put text between tags.
///
/// ```
/// use weir_core::html;
/// let name = "<b>";
/// assert_eq!(html!("<td>{}</td>", name).to_string(), "<td>&lt;b&gt;</td>");
/// let cell = html!("<td>{text}</td>", text = name);
/// assert_eq!(html!("<tr>{}</tr>", cell).to_string(), "<tr><td>&lt;b&gt;</td></tr>");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Html(String);

impl Html {
    /// What was made by a program and not written by a user: a drawing, a style sheet, a script.
    pub fn made(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Adds more behind it.
    pub fn push(&mut self, more: &Self) {
        self.0.push_str(&more.0);
    }

    /// Whether there is nothing.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of a file.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Display for Html {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromIterator<Self> for Html {
    fn from_iter<I: IntoIterator<Item = Self>>(all: I) -> Self {
        let mut joined = Self::default();
        all.into_iter().for_each(|one| joined.push(&one));
        joined
    }
}

/// What may be put into [`Html`].
pub trait Markup {
    /// Writes it so that it means itself between tags and in quoted attributes.
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result;
}

impl Markup for Html {
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Markup for str {
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            // characters that XML does not allow at all
            c if c.is_control() && !matches!(c, '\n' | '\t') => f.write_char(' '),
            c => f.write_char(c),
        })
    }
}

impl Markup for String {
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.as_str().put(f)
    }
}

impl<T: Markup + ?Sized> Markup for &T {
    fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (**self).put(f)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => { $(impl Markup for $number {
        fn put(&self, f: &mut Formatter<'_>) -> fmt::Result {
            write!(f, "{self}")
        }
    })* };
}
numbers!(u32, u64, u128, usize, i64, f64);

/// One thing that [`html!`](crate::html) puts in.
#[doc(hidden)]
pub struct Put<'a, T: ?Sized>(pub &'a T);

impl<T: Markup + ?Sized> Display for Put<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.put(f)
    }
}

/// [`Html`](crate::markup::Html) of a template and what stands at each `{}` or `{name}`: texts are
/// escaped, numbers and other HTML stand as they are. All names are given: a variable that the
/// template would take by itself is refused by the compiler.
#[macro_export]
macro_rules! html {
    ($template:literal $(, $name:ident = $arg:expr)+ $(,)?) => {{
        const { $crate::markup::check_template($template, &[$(stringify!($name)),+]) };
        $crate::markup::Html::made(format!($template $(, $name = $crate::markup::Put(&$arg))+))
    }};
    ($template:literal $(, $arg:expr)* $(,)?) => {{
        const { $crate::markup::check_template($template, &[]) };
        $crate::markup::Html::made(format!($template $(, $crate::markup::Put(&$arg))*))
    }};
}

/// Stops the compiler where a template of [`html!`](crate::html) takes what it was not given.
#[doc(hidden)]
pub const fn check_template(template: &str, names: &[&str]) {
    let text = template.as_bytes();
    let mut i = 0;
    while i < text.len() {
        if text[i] == b'{' && i + 1 < text.len() && text[i + 1] == b'{' {
            i += 1;
        } else if text[i] == b'{' {
            let start = i + 1;
            while text[i] != b'}' {
                i += 1;
            }
            let number = i > start && text[start].is_ascii_digit();
            let mut known = i == start || number;
            let mut n = 0;
            while n < names.len() {
                known = known || is_at(text, start, i, names[n].as_bytes());
                n += 1;
            }
            assert!(known, "a name in the template is not among the arguments");
        }
        i += 1;
    }
}

const fn is_at(text: &[u8], start: usize, end: usize, name: &[u8]) -> bool {
    if name.len() != end - start {
        return false;
    }
    let mut i = 0;
    while i < name.len() {
        if text[start + i] != name[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Text that may stand in XML and HTML, between tags and in quoted attributes.
///
/// ```
/// assert_eq!(weir_core::markup::escape("<b> & \"c\""), "&lt;b&gt; &amp; &quot;c&quot;");
/// ```
pub fn escape(text: &str) -> String {
    Put(text).to_string()
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
    fn texts_are_escaped_and_html_is_not() {
        let row: Html = ["<", "x"].iter().map(|text| html!("<td>{}</td>", text)).collect();
        let page = html!("<table title=\"{title}\">{row}</table>", row = row, title = "a\"b");
        assert_eq!(page.into_string(), "<table title=\"a&quot;b\"><td>&lt;</td><td>x</td></table>");
        assert_eq!(html!("{{{}}} {}", 7u32, 0.5).to_string(), "{7} 0.5");
    }

    #[test]
    #[should_panic(expected = "not among the arguments")]
    fn a_template_takes_no_variable_by_itself() {
        check_template("<td>{name}</td>", &["title"]);
    }

    #[test]
    fn json_in_a_script_keeps_its_meaning_and_has_no_markup() {
        let json = "{\"k\":\"</script><!--<script>\"}";
        let safe = json_in_script(json);
        assert!(!safe.contains('<'), "{safe}");
        assert_eq!(safe.replace("\\u003c", "<"), json);
    }
}
