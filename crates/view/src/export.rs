//! The explorer and its recordings as one file that needs no server.

use crate::assets;
use crate::library::{Entry, Manifest};
use sha2::{Digest, Sha256};

/// How the page names its program and its looks.
const SCRIPT_TAG: &str = r#"<script defer src="app.js"></script>"#;
const STYLE_TAG: &str = r#"<link rel="stylesheet" href="app.css">"#;

/// One page with everything in it. It asks no server for anything, and its policy lets it run its
/// own program and nothing else.
pub fn page(entries: &[Entry]) -> String {
    // the end of an element within a program would end the element around it
    let script = assets::SCRIPT.replace("</script", "<\\/script").replace("<!--", "<\\!--");
    let style = assets::STYLE.replace("</style", "<\\/style");
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data: blob:; \
         base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    let policy = format!(r#"<meta http-equiv="Content-Security-Policy" content="{policy}">"#);
    let mut data = block("manifest", &Manifest::new(entries).json());
    for (i, entry) in entries.iter().enumerate() {
        data += &block(&format!("run-{i}"), &entry.file);
    }
    let program = format!("{data}<script>{script}</script>");
    let page = assets::INDEX.replacen("<head>", &format!("<head>\n{policy}"), 1);
    let page = page.replacen(STYLE_TAG, &format!("<style>{style}</style>"), 1);
    // it runs where it stands: after everything that it looks for
    let page = page.replacen(SCRIPT_TAG, "", 1);
    match page.rfind("</body>") {
        Some(at) => format!("{}{program}\n{}", &page[..at], &page[at..]),
        None => page + &program,
    }
}

fn hash(text: &str) -> String {
    base64(&Sha256::digest(text.as_bytes()))
}

/// Data that a browser keeps but does not run.
fn block(id: &str, bytes: &[u8]) -> String {
    format!("<script type=\"application/octet-stream\" id=\"{id}\">{}</script>\n", base64(bytes))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let place = (bits >> (18 - 6 * digit)) as usize & 63;
            text.push(if digit <= chunk.len() { char::from(DIGITS[place]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_rfc() {
        let all = ["", "f", "fo", "foo", "foob", "fooba", "foobar"].map(|t| base64(t.as_bytes()));
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        assert_eq!(all, expected);
    }

    #[test]
    fn the_page_names_its_program_and_looks_as_an_export_expects() {
        assert!(assets::INDEX.contains(SCRIPT_TAG), "{SCRIPT_TAG}");
        assert!(assets::INDEX.contains(STYLE_TAG), "{STYLE_TAG}");
        assert!(assets::INDEX.contains("<head>") && assets::INDEX.contains("</body>"));
    }

    /// The hashes of the policy are those of what stands between the tags, and there is no other
    /// program, no style attribute and no address of another place in the page's own markup.
    #[test]
    fn the_policy_of_an_exported_page_allows_its_own_program_only() {
        let page = page(&[]);
        let between = |open: &str, close: &str| {
            let from = page.find(open).expect(open) + open.len();
            &page[from..from + page[from..].find(close).expect(close)]
        };
        let script = hash(between("<script>", "</script>"));
        let style = hash(between("<style>", "</style>"));
        assert!(page.contains(&format!("script-src 'sha256-{script}'")));
        assert!(page.contains(&format!("style-src 'sha256-{style}'")));
        assert!(!page.contains("unsafe-inline") && !page.contains("src=\"app.js\""));
        assert!(!assets::INDEX.contains(" style=") && !assets::INDEX.contains("http"));
    }
}
