//! All checks of a set of switches, and what they are told.

mod buffers;
mod headroom;
mod hosts;
mod links;
mod maps;
mod marking;
mod names;
mod pools;
mod reprofile;
mod tunnels;
mod watchdog;

use crate::asic::Asic;
use crate::code;
use crate::config::Switch;
use crate::finding::Finding;
use crate::host::Host;
use crate::lookup::Lookup;
pub use headroom::{Margin, margins, needs};
pub(crate) use links::pairs;
use weir_core::{Bytes, Length, Response, Time};

/// What is known besides the configurations.
#[derive(Clone, Debug)]
pub struct Options {
    /// The family of all switches; default: by their `platform` or `hwsku`.
    pub asic: Option<&'static Asic>,
    /// How long peers take to react.
    pub response: Response,
    /// Packet memory of a switch.
    pub memory: Option<Bytes>,
    /// The largest headroom of a port.
    pub max_headroom: Option<Bytes>,
    /// The lookup table of the traditional buffer model.
    pub lookup: Option<Lookup>,
    /// How long a signal takes for a metre.
    pub per_metre: Time,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            asic: None,
            response: Response::Standard,
            memory: None,
            max_headroom: None,
            lookup: None,
            per_metre: Length::PER_METRE,
        }
    }
}

impl Options {
    /// The family of a switch.
    pub fn asic_of(&self, switch: &Switch) -> Option<&'static Asic> {
        self.asic.or_else(|| Asic::of_device(&switch.device))
    }
}

/// Checks switches against each other and hosts against them. `findings` has what reading found,
/// and gets the rest; the gravest of a file come first.
pub fn check(
    switches: &[Switch],
    hosts: &[Host],
    options: &Options,
    mut findings: Vec<Finding>,
) -> Vec<Finding> {
    let out = &mut findings;
    for switch in switches {
        if switch.lossless_ports().is_empty() {
            let mut message = "no port enables PFC and no priority group has headroom".to_owned();
            if switch.ports.is_empty() {
                message.push_str("; there is no PORT table: is this a config_db.json?");
            }
            out.push(Finding::new(&code::SN105, switch.index, String::new(), message));
        }
        names::check(switch, out);
        buffers::check(switch, out);
        headroom::check(switch, options, out);
        pools::check(switch, options, out);
        maps::check(switch, out);
        marking::check(switch, out);
        watchdog::check(switch, out);
        tunnels::check(switch, out);
    }
    links::check(switches, out);
    maps::across(switches, out);
    hosts::check(switches, hosts, out);
    let order = |f: &Finding| (f.file, std::cmp::Reverse(f.severity()), f.code.code);
    findings.sort_by(|a, b| {
        let places = || crate::natural(&a.pointer, &b.pointer);
        order(a).cmp(&order(b)).then_with(places).then_with(|| a.message.cmp(&b.message))
    });
    findings.dedup();
    findings
}
