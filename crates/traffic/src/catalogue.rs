//! All patterns by name.

use crate::error::TrafficError;
use crate::params::{Entry, Names, Params, Reader};
use crate::pattern::{
    AllToAll, Burst, Constant, Flow, Incast, LongLived, OnOff, Pattern, Permutation, Poisson,
    Rounds, Split, all_to_all, burst, constant, flow, incast, list, long_lived, on_off,
    permutation, poisson, rounds, split,
};
use list::Table;
use weir_core::ClassId;
use weir_core::nearest;

type Read = fn(&mut Reader<'_>) -> Result<Box<dyn Pattern>, TrafficError>;

macro_rules! patterns {
    ($($module:ident: $pattern:ident,)*) => {
        &[$((&$module::ENTRY, |r| Ok(Box::new($pattern::read(r)?))),)*]
    };
}

const PATTERNS: &[(&Entry, Read)] = patterns! {
    flow: Flow,
    list: Table,
    burst: Burst,
    long_lived: LongLived,
    constant: Constant,
    poisson: Poisson,
    incast: Incast,
    on_off: OnOff,
    permutation: Permutation,
    all_to_all: AllToAll,
    rounds: Rounds,
    split: Split,
};

/// All patterns, documented.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    PATTERNS.iter().map(|&(entry, _)| entry)
}

/// Makes the pattern called `name` from parameters as text. `class` gives the id of a class.
pub fn build(
    name: &str,
    params: &Params,
    names: &dyn Names,
    class: &mut dyn FnMut(&str) -> Result<ClassId, TrafficError>,
) -> Result<Box<dyn Pattern>, TrafficError> {
    let Some(&(entry, read)) = PATTERNS.iter().find(|(entry, _)| entry.name == name) else {
        let known = || entries().map(|e| e.name);
        return Err(TrafficError::UnknownPattern {
            name: name.into(),
            nearest: nearest(name, known()).map(str::to_owned),
            known: known().collect(),
        });
    };
    let mut reader = Reader::new(entry, params, names, class)?;
    let pattern = read(&mut reader)?;
    debug_assert_eq!(reader.unread(), [""; 0], "`{name}` documents parameters that it ignores");
    Ok(pattern)
}
