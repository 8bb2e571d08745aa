//! Whole plans, from parameters to flows.

mod catalogue;
mod common;
mod offered_load;
mod same_traffic;
