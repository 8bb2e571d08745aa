//! Parameters and checks that several patterns share.

use super::Pair;
use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::flow::FlowSpec;
use crate::load::{Intensity, LoadRef};
use crate::params::{Fallback, Kind, Param, Reader, params};
use crate::text::Share;
use weir_core::Time;

/// The parameters of patterns over given pairs of hosts.
pub(crate) const PAIRS: &[Param] = params! {
    "senders" Kind::Hosts, Fallback::Required, "the hosts that send, one flow each";
    "receivers" Kind::Hosts, Fallback::Required,
        "the host that receives all flows, or one host for each sender";
    "path" Kind::Path, Fallback::Absent("left to routing"), "static path to take";
    "start" Kind::Time(&[]), Fallback::Is("0s"), "when the flows start";
};

/// When sources cease to send.
pub(crate) const STOP: &[Param] = params! {
    "stop" Kind::Time(&[]), Fallback::Absent("the end of the run"), "when the sources stop sending";
};

/// The parameters of patterns with a load.
pub(crate) const INTENSITY: &[Param] = params! {
    "load" Kind::Fraction, Fallback::Absent("what the arrivals make"),
        "offered payload as a share of the capacity that `load-ref` names";
    "load_ref" Kind::Choice(&["host", "core", "core-exact"]), Fallback::Is("host"),
        "what a load of 1 fills: the senders' NICs; the core links in one direction as if all \
         flows crossed the core; or those links by the flows that do cross it";
    "per_second" Kind::Number, Fallback::Absent("what `load` or `mean-gap` makes"),
        "arrivals per second";
    "mean_gap" Kind::Time(&[]), Fallback::Absent("what `load` or `per-second` makes"),
        "mean time between arrivals";
    "rate_of" Kind::Choice(&["network", "host"]), Fallback::Is("network"),
        "whose arrivals `per-second` or `mean-gap` counts: those of all hosts together, or of each \
         sender (incast events: of each receiver)";
};

/// The parameters of patterns that go on for some time.
pub(crate) const SPAN: &[Param] = params! {
    "start" Kind::Time(&[]), Fallback::Is("0s"), "when arrivals begin";
    "stop" Kind::Time(&[]), Fallback::Absent("the end of the traffic"), "when arrivals cease";
};

/// When flows start.
pub(crate) const START: &[Param] = params! {
    "start" Kind::Time(&[]), Fallback::Is("0s"), "when the flows start";
};

/// Who takes part.
pub(crate) const HOSTS: &[Param] = params! {
    "hosts" Kind::Hosts, Fallback::Absent("all hosts"), "the hosts that take part";
};

/// Who sends to whom.
pub(crate) const ENDS: &[Param] = params! {
    "senders" Kind::Hosts, Fallback::Absent("all hosts"), "the hosts that send";
    "receivers" Kind::Hosts, Fallback::Absent("all hosts"),
        "the hosts that receive; never the sender itself";
};

/// How large flows are.
pub(crate) const SIZES: &[Param] = params! {
    "size" Kind::Sizes, Fallback::Required, "payload of the flows";
    "scale" Kind::Fraction, Fallback::Is("1"),
        "factor for the sizes of a table; `1/10` divides them by ten";
};

/// Reads `load` and `load_ref`, or `per_second` or `mean_gap` with `rate_of`.
pub(crate) fn read_intensity(r: &mut Reader<'_>) -> Result<Intensity, TrafficError> {
    let words =
        [("host", LoadRef::Host), ("core", LoadRef::Core), ("core-exact", LoadRef::CoreExact)];
    let reference = r.choice("load_ref", &words)?;
    let load: Option<Share> = r.optional("load")?;
    let rate: Option<f64> = r.optional("per_second")?;
    let gap: Option<Time> = r.optional("mean_gap")?;
    let each = r.choice("rate_of", &[("network", false), ("host", true)])?;
    let per_second = |rate| match each {
        true => Intensity::PerSecondEach(rate),
        false => Intensity::PerSecond(rate),
    };
    let wrong = |name, found: &str, valid: &str| Err(TrafficError::value(name, found, valid));
    match (load, rate, gap) {
        (Some(_), None, None) if each => {
            wrong("rate_of", "`host` with `load`", "it needs `per_second` or `mean_gap`")
        }
        (Some(Share(load)), None, None) => Ok(Intensity::Load { load, reference }),
        (None, Some(_), None) | (None, None, Some(_)) if r.given("load_ref") => {
            wrong("load_ref", "given without `load`", "it needs `load`")
        }
        (None, Some(rate), None) => Ok(per_second(rate)),
        (None, None, Some(Time::ZERO)) => {
            wrong("mean_gap", "0s", "arrivals have some time between them")
        }
        (None, None, Some(gap)) => Ok(per_second(1e12 / gap.as_ps() as f64)),
        (None, None, None) => {
            wrong("load", "not given", "give either `load` or `per_second` or `mean_gap`")
        }
        (Some(_), ..) => {
            let found =
                if rate.is_some() { "given with `per_second`" } else { "given with `mean_gap`" };
            wrong("load", found, "give either `load` or `per_second` or `mean_gap`")
        }
        (None, Some(_), Some(_)) => {
            let valid = "give either `per_second` or `mean_gap`";
            wrong("mean_gap", "given with `per_second`", valid)
        }
    }
}

/// Refuses pairs that cannot talk.
pub(crate) fn check_pairs(pairs: &[Pair], fabric: &Fabric) -> Result<(), TrafficError> {
    if pairs.is_empty() {
        return Err(TrafficError::value("senders", "an empty list", "name at least one host"));
    }
    for pair in pairs {
        fabric.check_host("senders", pair.src)?;
        fabric.check_host("receivers", pair.dst)?;
        if pair.src == pair.dst {
            return Err(TrafficError::ToItself { host: pair.src });
        }
    }
    Ok(())
}

/// Refuses a stop that is not after the start.
pub(crate) fn check_stop(start: Time, stop: Option<Time>) -> Result<(), TrafficError> {
    match stop.filter(|&stop| stop <= start) {
        None => Ok(()),
        Some(stop) => {
            Err(TrafficError::value("stop", stop, format!("it comes after the start, {start}")))
        }
    }
}

/// Refuses a flow that cannot be carried.
pub(crate) fn check_flow(flow: &FlowSpec, fabric: &Fabric) -> Result<(), TrafficError> {
    fabric.check_host("src", flow.src)?;
    fabric.check_host("dst", flow.dst)?;
    if flow.src == flow.dst {
        return Err(TrafficError::ToItself { host: flow.src });
    }
    if flow.size.get() == 0 {
        return Err(TrafficError::value("size", flow.size, "a flow carries at least 1 B"));
    }
    if let Some(rate) = flow.rate.filter(|r| r.as_bps() == 0) {
        return Err(TrafficError::value("rate", rate, "a constant-rate source sends above 0 b/s"));
    }
    check_stop(flow.start, flow.stop)
}
