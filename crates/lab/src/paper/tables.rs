//! Temporary.
/// Numbers of a variant at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The variant.
    pub variant: String,
    /// Values of the parameters, as written.
    pub values: Vec<String>,
    /// By seed.
    pub seeds: Vec<(u64, f64)>,
}
