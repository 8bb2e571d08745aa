//! Scenario text and what is wrong with it: sources, spans, diagnostics, and a tree of values
//! that knows where each of them was written.

mod diagnostic;
mod overrides;
mod source;
mod spelling;
mod tree;

pub use diagnostic::{Colour, Diagnostic, Diagnostics, one_line};
pub use source::{Source, SourceId, Sources, Span};
pub use tree::{Entry, Item, Table, Value};

pub use overrides::{
    apply as apply_override, put as put_at, read as read_override, steps as path_steps,
};
pub use spelling::{NAME_RULE, is_hidden, unfit_name};
pub use tree::{parse, parse_value};
