//! The event engine and the models it moves.
pub mod config;
pub mod outcome;
mod link; mod pool; mod probe; mod timers; mod tree; mod wire; mod switch { pub(crate) mod scheduler; }
