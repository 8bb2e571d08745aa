//! The page of the explorer, as it is built from `web/`.

/// The page.
pub(crate) const INDEX: &str = include_str!("../assets/index.html");
/// Its program.
pub(crate) const SCRIPT: &str = include_str!("../assets/app.js");
/// Its looks.
pub(crate) const STYLE: &str = include_str!("../assets/app.css");
