//! The sections whose keys are fixed, `[switch]` aside.

use super::fields::{At, Fields, Or, short};
use super::keys;
use super::tcp::{self, TcpSpec};
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use weir_core::{Bytes, Priority, Response, Time};
use weir_sim::config::{
    LinkConfig, NicConfig, NicDiscipline, ProbeConfig, Reliability, Stop, WindowConfig,
};

/// `[link]`.
pub(crate) fn link(item: Option<&Item>, out: &mut Diagnostics) -> LinkConfig {
    let mut f = Fields::new(&keys::LINK, item, out);
    let overhead = f.bytes("overhead");
    if overhead.value > Bytes::new(10_000) {
        let title = format!("an `overhead` of {} per frame is out of range", overhead.value);
        f.out.push(Diagnostic::error(title).maybe_at(overhead.span, "at most 10 KB"));
    }
    let bit_error_rate = f.number("bit-error-rate");
    if bit_error_rate.value > 1e-3 {
        let title = format!("a `bit-error-rate` of {} loses every frame", bit_error_rate.value);
        let warning = Diagnostic::warning(title).maybe_at(bit_error_rate.span, "");
        f.out.push(warning.help("Ethernet promises 1e-12 or better"));
    }
    let response = f.time_or_word("response").map(|r| match r {
        Or::Is(time) => Response::Fixed(time),
        Or::Word(_) => Response::Standard,
    });
    if let Response::Fixed(value) = response.value {
        short(&mut f, "response", &At { value, span: response.span });
    }
    LinkConfig {
        overhead: overhead.value,
        response: response.value,
        bit_error_rate: bit_error_rate.value,
    }
}

/// What `[nic]` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicSpec {
    /// The settings; the timeout is in `timeout`.
    pub config: NicConfig,
    /// The timeout; `None` to choose by whether packets can be lost.
    pub timeout: Option<Option<Time>>,
    /// Where the priority of ACKs was written.
    pub ack_priority_at: Option<Span>,
}

fn discipline(f: &mut Fields<'_>) -> NicDiscipline {
    let queues = f.choice("queues").value;
    let schedule = super::switch::schedule(f);
    if queues != "by-priority" {
        for key in ["weights", "quantum"] {
            if let Some(item) = f.item(key) {
                let title = format!("`{key}` needs `queues = \"by-priority\"`");
                let label = format!("a NIC with `{queues}` queues does not schedule by priority");
                f.out.push(Diagnostic::error(title).at(item.span, label));
            }
        }
    }
    let meanings = [
        ("per-flow", NicDiscipline::PerFlow),
        ("by-priority", NicDiscipline::ByPriority(schedule)),
        ("fifo", NicDiscipline::Fifo),
    ];
    f.one_of("queues", meanings).value
}

/// `[nic]`.
pub(crate) fn nic(item: Option<&Item>, tcp: &TcpSpec, out: &mut Diagnostics) -> NicSpec {
    let mut f = Fields::new(&keys::NIC, item, out);
    let is_tcp = f.one_of("transport", [("roce", false), ("tcp", true)]).value;
    if is_tcp {
        tcp::refuse_others(&mut f);
    } else if let Some(span) = tcp.at {
        let warning = Diagnostic::warning("`[tcp]` has no effect: no host uses TCP").at(span, "");
        f.out.push(warning.help("add `transport = \"tcp\"` to `[nic]`"));
    }
    let discipline = discipline(&mut f);
    let payload = if is_tcp { tcp.mss.clone() } else { f.bytes("payload") };
    let mut header = f.bytes("header");
    if is_tcp && header.span.is_none() {
        header.value = tcp::HEADER;
    }
    let ack = f.bytes("ack");
    // packet sizes are 16-bit numbers in the model, as in Ethernet
    let frame = payload.value.saturating_add(header.value);
    if payload.value == Bytes::ZERO || frame > Bytes::new(65_000) {
        let name = if is_tcp { "mss" } else { "payload" };
        let title = format!("a `{name}` of {} is out of range", payload.value);
        let error = Diagnostic::error(title).maybe_at(payload.span.or(header.span), "");
        f.out.push(error.help("payload and header together take 1 B to 65 KB"));
    }
    // without overhead of links, which the simulator checks, one of 0 B takes no time
    if (is_tcp && ack.value == Bytes::ZERO) || ack.value > Bytes::new(65_000) {
        let title = format!("an `ack` of {} is out of range", ack.value);
        f.out.push(Diagnostic::error(title).maybe_at(ack.span, "an ACK takes 1 B to 65 KB"));
    }
    let window = f.bytes_or_word("window");
    if let (Or::Is(bytes), Some(span)) = (window.value, window.span)
        && bytes < payload.value
    {
        let label = format!("{bytes} is less than one packet ({})", payload.value);
        f.out.push(Diagnostic::error("no packet fits into `window`").at(span, label));
    }
    let timeout = match f.time_or_word("timeout") {
        At { value: Or::Word("auto"), .. } => None,
        At { value: Or::Word(_), .. } => Some(None),
        At { value: Or::Is(Time::ZERO), span } => {
            f.out.push(
                Diagnostic::error("a `timeout` of zero would retransmit forever")
                    .maybe_at(span, "write `\"never\"` to turn it off"),
            );
            None
        }
        At { value: Or::Is(time), .. } => Some(Some(time)),
    };
    let repairs =
        [("go-back-n", Reliability::GoBackN), ("selective-repeat", Reliability::SelectiveRepeat)];
    let repair = f.one_of("reliability", repairs).value;
    let reliability = if is_tcp { Reliability::Tcp } else { repair };
    let ack_priority = f.whole_or_word("ack-priority");
    let default = NicConfig::default();
    let (acks, acks_with_data) = match ack_priority.value {
        Or::Is(p) => (Priority::ALL[p as usize], false),
        Or::Word(_) => (default.ack_priority, is_tcp),
    };
    if let (Or::Word(_), false) = (ack_priority.value, is_tcp) {
        let error = Diagnostic::error("ACKs of RoCE cannot have the priority of their data");
        let error = error.maybe_at(ack_priority.span, "give a priority, 0 to 7");
        f.out.push(error.help("or add `transport = \"tcp\"` to `[nic]`"));
    }
    let nack_interval = f.time("nack-interval");
    if reliability == Reliability::SelectiveRepeat
        && let Some(span) = nack_interval.span
    {
        let title = "`nack-interval` has no effect with selective repeat";
        let warning = Diagnostic::warning(title).at(span, "only go-back-N uses it");
        f.out
            .push(warning.help("every packet out of order is answered by a NACK: remove this key"));
    }
    let reorder = f.whole("reorder");
    if reliability == Reliability::GoBackN
        && let Some(span) = reorder.span.filter(|_| reorder.value > 0)
    {
        let error = Diagnostic::error("`reorder` needs selective repeat");
        let error = error.at(span, "go-back-N takes packets in order only");
        f.out.push(error.help("add `reliability = \"selective-repeat\"`"));
    }
    let config = NicConfig {
        discipline,
        payload: payload.value,
        header: header.value,
        ack: ack.value,
        ack_priority: acks,
        acks_with_data,
        window: match window.value {
            Or::Is(bytes) => WindowConfig::Bytes(bytes),
            Or::Word("unlimited") => WindowConfig::Unlimited,
            Or::Word(_) => WindowConfig::FromCc,
        },
        timeout: None,
        reliability,
        nack_interval: nack_interval.value,
        reorder: reorder.value as u32,
    };
    NicSpec { config, timeout, ack_priority_at: ack_priority.span }
}

/// `[probe]`.
pub(crate) fn probe(item: Option<&Item>, out: &mut Diagnostics) -> ProbeConfig {
    let mut f = Fields::new(&keys::PROBE, item, out);
    let series = match f.time_or_word("series") {
        At { value: Or::Is(Time::ZERO), span } => {
            let error = Diagnostic::error("`series` is zero: samples need an interval");
            f.out.push(error.maybe_at(span, "write a time such as `\"1us\"`, or `\"off\"`"));
            None
        }
        At { value: Or::Is(interval), span } if interval < Time::from_ns(1) => {
            let title = format!("a `series` of {interval} would need too much memory for samples");
            f.out.push(Diagnostic::error(title).maybe_at(span, "at least 1 ns"));
            None
        }
        At { value: Or::Is(interval), .. } => Some(interval),
        At { value: Or::Word(_), .. } => None,
    };
    let warm_up = f.time("warm-up").value;
    let count_until = match f.time_or_word("count-until") {
        At { value: Or::Is(until), span } => {
            if until <= warm_up {
                let error = Diagnostic::error("`count-until` is not after `warm-up`");
                f.out.push(error.maybe_at(span, "no flow would count"));
            }
            Some(until)
        }
        At { value: Or::Word(_), .. } => None,
    };
    ProbeConfig {
        series,
        pause_events: f.whole("pause-events").value as usize,
        warm_up,
        count_until,
        capture: None,
        blame: false,
        record: None,
        own: weir_sim::probe::OWN.iter().map(|info| **info).collect(),
    }
}

/// What `[run]` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// When to stop.
    pub stop: Stop,
    /// Where that was written.
    pub stop_at: Option<Span>,
    /// No flow starts at or after.
    pub traffic_until: Option<Time>,
    /// One run for each seed.
    pub seeds: Vec<u64>,
    /// Whether loss is a result.
    pub allow_loss: bool,
}

/// `[run]`.
pub(crate) fn run(item: Option<&Item>, out: &mut Diagnostics) -> RunSpec {
    let mut f = Fields::new(&keys::RUN, item, out);
    let until = f.time_or_word("until");
    let stop = match until.value {
        Or::Is(Time::ZERO) => {
            let error = Diagnostic::error("`until` is zero: nothing would be simulated");
            f.out.push(error.maybe_at(until.span, ""));
            Stop::Drained
        }
        Or::Is(time) if time > weir_sim::HORIZON => {
            let error = Diagnostic::error(format!(
                "`until` is {time}: a run simulates at most {}",
                weir_sim::HORIZON
            ));
            f.out.push(error.maybe_at(until.span, ""));
            Stop::Drained
        }
        Or::Is(time) => Stop::At(time),
        Or::Word(_) => Stop::Drained,
    };
    let traffic_until = match f.time_or_word("traffic-until").value {
        Or::Is(time) => Some(time),
        Or::Word(_) => None,
    };
    let seeds = seeds(&mut f);
    let allow_loss = f.bool("allow-loss").value;
    RunSpec { stop, stop_at: until.span, traffic_until, seeds, allow_loss }
}

fn seeds(f: &mut Fields<'_>) -> Vec<u64> {
    let Some(given) = f.wholes("seeds") else { return vec![1] };
    let mut sorted = given.value.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if given.value.is_empty() || sorted.len() != given.value.len() {
        let title = if given.value.is_empty() {
            "`seeds` is empty: there would be no run"
        } else {
            "`seeds` has a seed twice: the two runs would be the same"
        };
        f.out.push(Diagnostic::error(title).maybe_at(given.span, ""));
        return vec![1];
    }
    given.value
}

/// A link that fails, by the names of its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureSpec {
    /// The ends.
    pub ends: [At<String>; 2],
    /// When.
    pub down: Time,
    /// Until.
    pub up: Option<Time>,
}

/// `[[failure]]`.
pub(crate) fn failure(item: &Item, out: &mut Diagnostics) -> Option<FailureSpec> {
    let mut f = Fields::new(&keys::FAILURE, Some(item), out);
    for key in ["link", "down"] {
        if !f.given(key) {
            f.missing(key);
        }
    }
    let ends = f.names("link")?;
    let down = f.optional_time("down")?;
    let up = f.time_or_word("up");
    let Ok(ends) = <[_; 2]>::try_from(ends) else {
        let span = f.item("link").map(|item| item.span);
        let error = Diagnostic::error("`link` names the two nodes that it joins");
        f.out.push(error.maybe_at(span, "such as `[\"leaf0\", \"spine1\"]`"));
        return None;
    };
    let up = match up.value {
        Or::Is(time) if time <= down.value => {
            let label = format!("it fails at {}", down.value);
            let error = Diagnostic::error("`up` must be later than `down`");
            f.out.push(error.maybe_at(up.span, label));
            return None;
        }
        Or::Is(time) => Some(time),
        Or::Word(_) => None,
    };
    Some(FailureSpec { ends, down: down.value, up })
}

/// A path by the names of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSpec {
    /// The name of the path.
    pub name: At<String>,
    /// Every node.
    pub nodes: Vec<At<String>>,
    /// Where the nodes were written.
    pub span: Option<Span>,
}

/// `[[path]]`.
pub(crate) fn path(item: &Item, out: &mut Diagnostics) -> Option<PathSpec> {
    let mut f = Fields::new(&keys::PATH, Some(item), out);
    let name = f.required_text("name");
    if !f.given("nodes") {
        f.missing("nodes");
    }
    let span = f.item("nodes").map(|item| item.span);
    let nodes = f.names("nodes")?;
    Some(PathSpec { name: name?, nodes, span })
}
