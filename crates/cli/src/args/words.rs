//! Arguments whose values are the words of a type.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use weir_core::Word;

/// Reads one of these values. The help lists them with the first paragraphs of what they mean.
pub(crate) fn one_of<T: Word + Send + Sync + 'static>(
    values: impl IntoIterator<Item = T>,
) -> impl TypedValueParser<Value = T> {
    let possible = values.into_iter().map(|value| {
        let first = value.meaning().split("\n\n").next().unwrap_or_default();
        let lines: Vec<&str> = first.lines().map(str::trim).collect();
        PossibleValue::new(value.word()).help(lines.join(" ").trim_end_matches('.').to_owned())
    });
    PossibleValuesParser::new(possible).try_map(|word| T::from_text(&word))
}
