pub mod config;
pub mod outcome;
