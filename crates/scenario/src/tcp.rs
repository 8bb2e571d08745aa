//! `[tcp]`: what hosts do whose transport is TCP.

use super::args;
use super::fields::{At, Fields};
use super::keys;
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use weir_cc::tcp::{EcnMode, TcpParams};
use weir_core::Bytes;

/// What `[tcp]` says.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpSpec {
    /// The parameters.
    pub params: TcpParams,
    /// Payload of a full segment.
    pub mss: At<Bytes>,
    /// Where the section stands.
    pub at: Option<Span>,
}

/// Headers and checksum of a TCP segment: Ethernet 18 B, IPv4 and TCP 20 B each.
pub(crate) const HEADER: Bytes = Bytes::new(58);

/// Reads `[tcp]`.
pub(crate) fn read(item: Option<&Item>, out: &mut Diagnostics) -> TcpSpec {
    let section = &keys::TCP;
    let mut f = Fields::open(section.header(), section.keys, item, out);
    let profiles = [("linux", TcpParams::default()), ("detail", TcpParams::reorder_resistant())];
    let mut params = f.one_of("profile", profiles).value;
    let mss = f.bytes("mss");
    let known = TcpParams::PARAMS.iter().chain(section.keys).map(|p| p.name);
    let known: Vec<&str> = known.collect();
    let given = args::read(f.rest(), &section.header(), &known, f.out);
    for arg in &given {
        if let Some(Err(error)) = params.set(&arg.name, &arg.joined()) {
            f.out.push(Diagnostic::error(error.to_string()).at(arg.span, ""));
        }
    }
    let place = |name: &str| given.iter().find(|a| a.name == name).map(|a| a.span);
    if params.rto_min > params.rto_max {
        let (least, most) = (params.rto_min, params.rto_max);
        let error = Diagnostic::error("`rto-min` is above `rto-max`");
        let at = place("rto-min").or(place("rto-max"));
        f.out.push(error.maybe_at(at, format!("rto-min {least}, rto-max {most}")));
    }
    let idle = [
        ("ack-delay", params.ack_every.get() == 1, "every segment is acknowledged at once"),
        ("dctcp-gain", params.ecn != EcnMode::Dctcp, "`ecn` is not `dctcp`"),
    ];
    for (name, does_nothing, why) in idle {
        if let (Some(span), true) = (place(name), does_nothing) {
            let title = format!("`{name}` does nothing");
            f.out.push(Diagnostic::warning(title).at(span, why));
        }
    }
    TcpSpec { params, mss, at: f.span }
}

/// Refuses what is said in `[nic]` about another transport.
pub(crate) fn refuse_others(f: &mut Fields<'_>) {
    for (key, instead) in [
        ("payload", "write `mss` in `[tcp]`: it is the payload of a full segment"),
        ("reliability", "remove it: TCP has its own loss recovery"),
        ("window", "remove it: `receive-window` in `[tcp]` limits TCP's windows"),
        ("timeout", "remove it: `rto-min` in `[tcp]` is the lower limit of TCP's timeout"),
        ("nack-interval", "remove it: TCP sends no NACKs"),
    ] {
        if let Some(item) = f.item(key) {
            let error = Diagnostic::error(format!("`{key}` does not apply to TCP"));
            f.out.push(error.at(item.span, "`transport` is `tcp`").help(instead));
        }
    }
}
