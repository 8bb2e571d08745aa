//! The commands, one function each.

mod advise;
mod bench;
mod blame;
mod cabling;
mod captures;
mod diff;
mod explain;
mod export;
mod fct;
mod figure;
mod goal;
mod input;
mod lint;
mod list;
mod live;
#[cfg(target_os = "linux")]
mod live_run;
#[cfg(target_os = "linux")]
mod live_study;
mod log;
mod ns3;
mod outputs;
mod paper;
mod pcap;
mod record;
mod search;
mod simulate;
mod sonic;
mod sweep;
mod view;

pub(crate) use advise::advise;
pub(crate) use bench::bench;
pub(crate) use blame::blame;
pub(crate) use cabling::import_cabling;
pub(crate) use diff::{Diff, diff};
pub(crate) use explain::explain;
pub(crate) use export::export_perfetto;
pub(crate) use fct::fct;
pub(crate) use goal::goal;
pub(crate) use input::{check, topo, traffic};
pub(crate) use lint::{Lint, lint};
pub(crate) use list::{
    completions, generate, man, patterns, scenarios, schema, schemes, topologies, workloads,
};
pub(crate) use live::{Live, live};
pub(crate) use ns3::{import_ns3, ns3};
pub(crate) use paper::{Paper, paper};
pub(crate) use pcap::import_pcap;
pub(crate) use search::{Search, search};
pub(crate) use simulate::{compare, run};
pub(crate) use sonic::{import_sonic, sonic_check};
pub(crate) use sweep::{Sweep, sweep};
pub(crate) use view::view;
