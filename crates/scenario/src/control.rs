//! `[flow-control]` and `[congestion-control]`: a choice from a catalogue, its parameters, and
//! parameters for the choices that a comparison may make instead.

use super::args::{self, Arg};
use super::fields::{At, Fields};
use super::keys;
use crate::text::{Diagnostic, Diagnostics, Entry, Item};
use weir_cc::{CcKind, CcParams};
use weir_fc::{SCHEMES, SchemeInfo, Values, refresh};
use weir_net::nearest;
use weir_sim::config::Scheme;

/// The scheme of `[flow-control]`, and values for every scheme that was given some.
#[derive(Clone, Debug)]
pub struct FlowControlSpec {
    /// The scheme that `weir run` uses.
    pub scheme: At<&'static SchemeInfo>,
    values: Vec<(&'static str, Values)>,
}

impl FlowControlSpec {
    /// A scheme with the values given for it.
    pub fn with(&self, info: &'static SchemeInfo) -> Scheme {
        let given = self.values.iter().find(|(name, _)| *name == info.name);
        Scheme { info, values: given.map(|(_, v)| v.clone()).unwrap_or_default() }
    }
}

/// The scheme called `name`, or what to say instead.
pub fn find_scheme(name: &str) -> Result<&'static SchemeInfo, Diagnostic> {
    weir_fc::scheme(name).ok_or_else(|| {
        let names: Vec<&str> = SCHEMES.iter().map(|s| s.name).collect();
        Diagnostic::error(format!("there is no scheme `{name}`"))
            .nearest(nearest(name, names.iter().copied()))
            .help(format!("the schemes are {}", names.join(", ")))
    })
}

/// The algorithm called `name`, or what to say instead.
pub fn find_cc(name: &str) -> Result<CcKind, Diagnostic> {
    let names: Vec<&str> = CcKind::all().map(CcKind::name).collect();
    name.parse().map_err(|_| {
        Diagnostic::error(format!("there is no congestion control `{name}`"))
            .nearest(nearest(name, names.iter().copied()))
            .help(format!("the algorithms are {}", names.join(", ")))
    })
}

/// Reads `[flow-control]`.
pub fn flow_control(item: Option<&Item>, out: &mut Diagnostics) -> FlowControlSpec {
    let section = &keys::FLOW_CONTROL;
    let mut f = Fields::open(section.header(), section.keys, item, out);
    let default = weir_fc::scheme("pfc").expect("PFC is in the catalogue");
    let scheme = match f.text("scheme") {
        None => At::default(default),
        Some(name) => match find_scheme(&name.value) {
            Ok(info) => At { value: info, span: name.span },
            Err(error) => {
                f.out.push(error.maybe_at(name.span, ""));
                return FlowControlSpec { scheme: At::default(default), values: Vec::new() };
            }
        },
    };
    let names: Vec<&str> = SCHEMES.iter().map(|s| s.name).collect();
    let (tables, own) = args::split_tables(f.rest(), &names);
    let mut spec = FlowControlSpec { scheme, values: Vec::new() };
    let info = spec.scheme.value;
    let header = format!("[flow-control] scheme = \"{}\"", info.name);
    let own = args::read(own.into_iter(), &header, &names_of(info), f.out);
    spec.add(info, &own, f.out);
    for (name, table) in tables {
        let info = weir_fc::scheme(name).expect("tables are split by scheme names");
        let header = format!("[flow-control.{name}]");
        let given = args::read(table.0.iter(), &header, &names_of(info), f.out);
        spec.add(info, &given, f.out);
    }
    spec
}

fn names_of(info: &SchemeInfo) -> Vec<&'static str> {
    info.params.iter().map(|p| p.name).collect()
}

impl FlowControlSpec {
    fn add(&mut self, info: &'static SchemeInfo, given: &[Arg], out: &mut Diagnostics) {
        let at = match self.values.iter().position(|(name, _)| *name == info.name) {
            Some(at) => at,
            None => {
                self.values.push((info.name, Values::new()));
                self.values.len() - 1
            }
        };
        for arg in given {
            let param = info.params.iter().find(|p| p.name == arg.name);
            let param = param.expect("unknown names were refused");
            if let Err(error) = self.values[at].1.set(param, &arg.joined()) {
                out.push(Diagnostic::error(error.to_string()).at(arg.span, param.doc));
            } else if param.name == refresh::REFRESH.name
                && let Some(every) = self.values[at].1.time(param)
                && let Err(error) = refresh::check_longest(every)
            {
                out.push(Diagnostic::error(error.to_string()).at(arg.span, param.doc));
            }
        }
    }
}

/// The algorithm of `[congestion-control]`, and parameters for those that were given some.
#[derive(Clone, Debug, PartialEq)]
pub struct CongestionControlSpec {
    /// The algorithm that runs unless another is asked for.
    pub algorithm: At<CcKind>,
    params: Vec<CcParams>,
}

impl CongestionControlSpec {
    /// An algorithm with the parameters given for it.
    pub fn with(&self, kind: CcKind) -> CcParams {
        let given = self.params.iter().find(|p| p.kind() == Some(kind));
        given.cloned().unwrap_or_else(|| CcParams::new(kind))
    }
}

/// Reads `[congestion-control]`.
pub fn congestion_control(item: Option<&Item>, out: &mut Diagnostics) -> CongestionControlSpec {
    let section = &keys::CONGESTION_CONTROL;
    let mut f = Fields::open(section.header(), section.keys, item, out);
    let algorithm = match f.text("algorithm") {
        None => At::default(CcKind::None),
        Some(name) => match find_cc(&name.value) {
            Ok(kind) => At { value: kind, span: name.span },
            Err(error) => {
                f.out.push(error.maybe_at(name.span, ""));
                let algorithm = At::default(CcKind::None);
                return CongestionControlSpec { algorithm, params: Vec::new() };
            }
        },
    };
    let names: Vec<&str> = CcKind::all().map(CcKind::name).collect();
    let (tables, own) = args::split_tables(f.rest(), &names);
    let mut spec = CongestionControlSpec { algorithm, params: Vec::new() };
    let kind = spec.algorithm.value;
    let header = format!("[congestion-control] algorithm = \"{}\"", kind.name());
    spec.add(kind, own.into_iter(), &header, f.out);
    for (name, table) in tables {
        let kind = find_cc(name).expect("tables are split by algorithm names");
        spec.add(kind, table.0.iter(), &format!("[congestion-control.{name}]"), f.out);
    }
    spec
}

impl CongestionControlSpec {
    fn add<'a>(
        &mut self,
        kind: CcKind,
        entries: impl Iterator<Item = &'a Entry>,
        header: &str,
        out: &mut Diagnostics,
    ) {
        let mut params = self.with(kind);
        let mut names: Vec<&str> = kind.params().iter().map(|p| p.name).collect();
        if !kind.profiles().is_empty() {
            names.push("profile");
        }
        let (profile, others): (Vec<Arg>, Vec<Arg>) =
            args::read(entries, header, &names, out).into_iter().partition(|a| a.name == "profile");
        for arg in profile {
            match CcParams::profile(kind, &arg.joined()) {
                Ok(set) => params = set,
                Err(error) => {
                    let near = nearest(&arg.joined(), kind.profiles().iter().copied());
                    out.push(Diagnostic::error(error.to_string()).at(arg.span, "").nearest(near));
                }
            }
        }
        for arg in others {
            if let Err(error) = params.set(&arg.name, &arg.joined()) {
                out.push(Diagnostic::error(error.to_string()).at(arg.span, ""));
            }
        }
        self.params.retain(|p| p.kind() != Some(kind));
        self.params.push(params);
    }
}
