//! The keys of grid files as data, as those of scenarios are.

use weir_scenario::keys::{Key, Kind, Section, key};

/// Seeds, as they are written everywhere.
pub const SEEDS: Kind = Kind::Special("seeds such as `\"1..10\"` or `[1, 2, 5]`");
/// Changes of the scenario.
pub const SETS: Kind = Kind::Special("a table of keys of the scenario");
/// As many points as one may sample.
const MOST_POINTS: u64 = 10_000_000;
/// As many steps as a range may have.
const MOST_STEPS: u64 = 1_000_000;

/// The keys at the top of a grid file.
pub const GRID: &[Key] = &[
    key("name", Kind::Text, "", "Short name; default: that of the file."),
    key("title", Kind::Text, "", "One line for tables and pages."),
    key("notes", Kind::Text, "", "Notes for readers."),
    key(
        "scenario",
        Kind::Special("the path of a scenario file, or the name of a built-in scenario"),
        "",
        "The scenario to run.",
    ),
    key("seeds", SEEDS, "", "One run for each seed; default: the scenario's."),
    key("schemes", Kind::Names, "", "Variants that are schemes with default settings."),
    key("set", SETS, "", "Changes of the scenario for all runs."),
    key(
        "parameters",
        Kind::Special("a table with one table for each parameter"),
        "",
        "What is varied.",
    ),
    key("point", Kind::Special("a table with a value for each parameter"), "", "One point."),
    key("sample", Kind::Table(SAMPLE.keys, &[]), "", "How points are drawn from ranges."),
    key("variant", Kind::Special("a table"), "", "A row of the comparison."),
];

/// A table of `[parameters]`.
pub const PARAMETER: &[Key] = &[
    key(
        "key",
        Kind::Special("a key of the scenario, or a list of them"),
        "",
        "The value of the scenario that it changes.",
    ),
    key("values", Kind::Special("a list of values"), "", "All values."),
    key("from", Kind::Quantity, "", "The first value of a range."),
    key("to", Kind::Quantity, "", "The last value of a range."),
    key(
        "steps",
        Kind::Whole { min: 1, max: MOST_STEPS },
        "",
        "How many values a range has, both ends included.",
    ),
    key("scale", Kind::Choice(&["linear", "log"]), "linear", "How the values of a range lie."),
];

/// `[[point]]`; its keys are the parameters that have no values of their own.
pub const POINT: Section =
    Section { name: "point", repeated: true, doc: "Values of parameters.", keys: &[] };

/// `[sample]`.
pub const SAMPLE: Section = Section {
    name: "sample",
    repeated: false,
    doc: "Points that are drawn from the ranges of parameters.",
    keys: &[
        key("kind", Kind::Choice(&["grid", "random", "latin-hypercube"]), "grid", "How."),
        key("points", Kind::Whole { min: 1, max: MOST_POINTS }, "1", "How many."),
        key("seed", Kind::Whole { min: 1, max: u64::MAX }, "1", "Of the draw."),
    ],
};
