//! The papers inside the program.

/// Files of `papers/` inside the program, by path.
pub static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/papers.rs"));

/// Names of the papers inside the program.
pub fn built_in() -> Vec<&'static str> {
    FILES.iter().filter_map(|(path, _)| path.strip_suffix("/paper.toml")).collect()
}

/// The experiments of all papers inside the program, as their files name them.
pub(crate) fn experiments() -> Vec<&'static str> {
    let other = ["/paper.toml", "/claims.toml", "/discussion.toml", ".scenario.toml"];
    let own = |path: &str| path.ends_with(".toml") && !other.iter().any(|o| path.ends_with(o));
    let id = |text: &'static str| {
        let line = text.lines().find_map(|line| line.strip_prefix("id = \""))?;
        line.split_once('"').map(|(id, _)| id)
    };
    FILES.iter().filter(|(path, _)| own(path)).filter_map(|(_, text)| id(text)).collect()
}
