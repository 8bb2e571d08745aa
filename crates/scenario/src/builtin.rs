//! The scenarios that come with Weir.

/// A scenario inside the program.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// What to call it on the command line.
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! builtin {
    ($($name:literal,)*) => {
        &[$(BuiltIn {
            name: $name,
            text: include_str!(concat!("../scenarios/", $name, ".toml")),
        },)*]
    };
}

/// Those to start from, the default of `weir compare` first.
pub const BUILT_IN: &[BuiltIn] = builtin![
    "ofc-fig1",
    "incast",
    "ring-deadlock",
    "dumbbell",
    "leaf-spine",
    "all-reduce",
    "training",
    "lossy",
    "flowsail-fig8",
    "flowsail-efficiency",
    "ffc-incast",
    "slow-receiver",
];

/// Experiments of papers at their full size, which take minutes.
pub const LARGE: &[BuiltIn] = builtin!["flowsail-fig10",];

/// Those that `weir bench` times, in its order; they can be run like the others.
pub const BENCHMARKS: &[BuiltIn] =
    builtin!["bench-fat-tree", "bench-permutation", "bench-incast", "bench-flowsail",];

/// All of them, those to start from first.
pub fn all() -> impl Iterator<Item = &'static BuiltIn> {
    BUILT_IN.iter().chain(LARGE).chain(BENCHMARKS)
}

/// The one called `name`.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    all().find(|b| b.name == name)
}
