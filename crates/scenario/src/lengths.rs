//! Cables given by their length instead of their delay: `length` for `delay`, `tor-length` for
//! `tor-delay`, and so on for every topology.

use super::args::Arg;
use super::fields::{At, Fields};
use crate::text::{Diagnostic, Diagnostics, Span};
use weir_core::param::FromText;
use weir_core::{Length, Time};
use weir_net::build::TopologyInfo;

/// No signal is faster than light in a vacuum: 3.336 ns for a metre.
const FASTEST: Time = Time::from_ps(3_335);

/// The key that takes a length in place of the delay `key`; `None` for other keys.
pub fn length_key(key: &str) -> Option<String> {
    key.strip_suffix("delay").map(|start| format!("{start}length"))
}

/// All keys of a topology: its parameters, and the lengths that can stand for its delays.
pub(crate) fn keys(info: &TopologyInfo) -> Vec<String> {
    let own = info.params.iter().map(|p| p.name.to_owned());
    own.chain(info.params.iter().filter_map(|p| length_key(p.name))).collect()
}

/// `per-metre`: how long a signal takes for a metre of cable.
pub(crate) fn per_metre(f: &mut Fields<'_>) -> At<Time> {
    let given = f.time("per-metre");
    if given.value < FASTEST || given.value > Time::from_us(1) {
        let title = format!("a `per-metre` of {} is out of range", given.value);
        let error = Diagnostic::error(title).maybe_at(given.span, "3.335 ns to 1 us");
        f.out.push(error.help("a metre takes light 3.34 ns in a vacuum and about 5 ns in glass"));
        return At::default(Length::PER_METRE);
    }
    given
}

/// The same parameters with every length turned into the delay it stands for. A link has one or the
/// other; if one was given on the command line and the other in the file, the former counts.
pub(crate) fn to_delays(args: Vec<Arg>, per_metre: &At<Time>, out: &mut Diagnostics) -> Vec<Arg> {
    let delays: Vec<(String, Span)> =
        args.iter().filter_map(|a| Some((length_key(&a.name)?, a.key))).collect();
    let mut used = false;
    let (mut all, mut lengths, mut replaced) = (Vec::new(), Vec::new(), Vec::new());
    for arg in args {
        let Some(start) = arg.name.strip_suffix("length") else {
            all.push(arg);
            continue;
        };
        used = true;
        let delay = format!("{start}delay");
        let other = delays.iter().find(|(length, _)| *length == arg.name);
        if other.is_some_and(|(_, at)| at.source > arg.key.source) {
            continue;
        }
        if other.is_some_and(|(_, at)| at.source < arg.key.source) {
            replaced.push(delay.clone());
        } else if other.is_some() {
            let title = format!("a link has a `{}` or a `{delay}`, not both", arg.name);
            out.push(Diagnostic::error(title).at(arg.key, "remove one of the two"));
            continue;
        }
        match Length::from_text(&arg.joined()) {
            Ok(length) => {
                let text = delay_text(length.delay(per_metre.value));
                let values = vec![At { value: text, span: Some(arg.span) }];
                lengths.push(Arg { name: delay, values, ..arg });
            }
            Err(error) => {
                out.push(Diagnostic::error(format!("`{}`: {error}", arg.name)).at(arg.span, ""));
            }
        }
    }
    if !used {
        unused(per_metre, out);
    }
    all.retain(|a: &Arg| !replaced.contains(&a.name));
    all.extend(lengths);
    all
}

/// A delay as its parameter is written.
fn delay_text(delay: Time) -> String {
    format!("{}ps", delay.as_ps())
}

/// A `per-metre` that no length uses.
pub(crate) fn unused(per_metre: &At<Time>, out: &mut Diagnostics) {
    if let Some(span) = per_metre.span {
        let warning = Diagnostic::warning("`per-metre` has no effect: no link has a length");
        out.push(warning.at(span, "").help("write `length = \"100m\"` instead of `delay`"));
    }
}
