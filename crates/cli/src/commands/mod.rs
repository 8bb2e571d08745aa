//! The commands, one function each.

mod bench;
mod captures;
mod fct;
mod figure;
mod goal;
mod input;
mod list;
mod ns3;
mod outputs;
mod paper;
mod pcap;
mod simulate;
mod sweep;

pub(crate) use bench::bench;
pub(crate) use fct::fct;
pub(crate) use goal::goal;
pub(crate) use input::{check, topo, traffic};
pub(crate) use list::{
    completions, generate, man, patterns, scenarios, schema, schemes, topologies, workloads,
};
pub(crate) use ns3::{import_ns3, ns3};
pub(crate) use paper::{Paper, paper};
pub(crate) use pcap::import_pcap;
pub(crate) use simulate::{compare, run};
pub(crate) use sweep::{Sweep, sweep};
