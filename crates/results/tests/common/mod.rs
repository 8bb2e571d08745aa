//! What tests of scenarios share.

/// Six hosts send to a seventh through one switch, with further tables before and behind the
/// traffic.
pub(crate) fn incast(before: &str, behind: &str) -> String {
    format!(
        r#"
[topology]
kind = "star"
hosts = 7
rate = "1Gbps"

{before}

[[traffic]]
kind = "incast"
degree = 6
events = 1
per-second = 1000
to = "h6"
size = "60KB"
{behind}
"#
    )
}
