//! What is measured along the way. Probes belong to a node; they are merged when the run ends.

pub(crate) mod held;
pub(crate) mod late;
pub(crate) mod length;
pub(crate) mod series;
pub(crate) mod tables;
