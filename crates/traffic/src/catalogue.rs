//! All patterns by name.

use crate::error::TrafficError;
use crate::params::{Entry, Names, Params, Reader};
use crate::pattern::{
    AllToAll, Burst, Constant, Flow, Incast, LongLived, OnOff, Pattern, Permutation, Poisson,
    Rounds, Split, all_to_all, burst, constant, flow, incast, list, long_lived, on_off,
    permutation, poisson, rounds, split,
};
use list::ListPattern;
use weir_core::ClassId;
use weir_core::nearest;
use weir_core::registry::{Named, Registry};

/// Reads a pattern from its parameters.
pub type Read = fn(&mut Reader<'_>) -> Result<Box<dyn Pattern>, TrafficError>;

/// A pattern that scenarios can choose.
#[derive(Clone, Copy, Debug)]
pub struct PatternInfo {
    /// Its name, what it does and what it takes.
    pub entry: &'static Entry,
    /// Makes it from what a scenario says.
    pub read: Read,
}

impl Named for PatternInfo {
    fn name(&self) -> &str {
        self.entry.name
    }
}

macro_rules! patterns {
    ($($module:ident: $pattern:ident,)*) => {
        &[$(&PatternInfo { entry: &$module::ENTRY, read: |r| Ok(Box::new($pattern::read(r)?)) },)*]
    };
}

/// Every pattern; a program can add its own.
pub static PATTERNS: Registry<PatternInfo> = Registry::new(patterns! {
    flow: Flow,
    list: ListPattern,
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
});

/// All patterns, documented.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    PATTERNS.iter().map(|info| info.entry)
}

/// Makes the pattern called `name` from parameters as text. `class` gives the id of a class.
pub fn build(
    name: &str,
    params: &Params,
    names: &dyn Names,
    class: &mut dyn FnMut(&str) -> Result<ClassId, TrafficError>,
) -> Result<Box<dyn Pattern>, TrafficError> {
    let Some(PatternInfo { entry, read }) = PATTERNS.find(name) else {
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
