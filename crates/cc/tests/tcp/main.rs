//! TCP from outside: sequence traces of a sender alone, and two endpoints on a bad wire.

mod delivery;
mod docs;
mod pair;
mod recovery;
mod traces;
