//! `[[slow-receiver]]`: hosts that take data in more slowly than it comes.

use crate::fields::{At, Fields, Or};
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use crate::{Files, ScenarioNames, keys};
use weir_core::{Bytes, NodeId, PortId, Rate, Time};
use weir_net::{Topology, nearest};
use weir_sim::config::{Hop, LinkConfig, SlowReceiver, headroom};
use weir_traffic::params::Names;

/// Slow receivers by the names of the hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverSpec {
    /// Hosts, or groups of hosts.
    pub hosts: Vec<At<String>>,
    rate: Rate,
    from: Time,
    to: Option<Time>,
    every: Option<Time>,
    xoff: Bytes,
    xon: Bytes,
    buffer: Option<Bytes>,
    prevention: Option<Time>,
}

/// Reads a `[[slow-receiver]]`.
pub(crate) fn read(item: &Item, out: &mut Diagnostics) -> Option<ReceiverSpec> {
    let mut f = Fields::new(&keys::SLOW_RECEIVER, Some(item), out);
    if !f.given("hosts") {
        f.missing("hosts");
    }
    let hosts = f.names("hosts");
    let (from, to, every) = (f.time("from"), f.time_or_word("to"), f.optional_time("every"));
    let (xoff, xon, buffer) = (f.bytes("xoff"), f.bytes("xon"), f.optional_bytes("buffer"));
    let limit = f.time_or_word("storm-prevention");
    let rate = f.rate("rate").value;
    let mut wrong = |at: Option<Span>, title: &str, label: String| {
        f.out.push(Diagnostic::error(title).maybe_at(at, label));
        None
    };
    let time = |of: &At<Or<Time>>| match of.value {
        Or::Is(time) => Some(time),
        Or::Word(_) => None,
    };
    let (end, prevention) = (time(&to), time(&limit));
    if end.is_some_and(|end| end <= from.value) {
        let label = format!("it becomes slow at {}", from.value);
        return wrong(to.span, "`to` must be later than `from`", label);
    }
    if let Some(every) = &every {
        let lasts = end.map(|end| end - from.value);
        if lasts.is_none_or(|lasts| every.value <= lasts) {
            let lasts = lasts.map_or_else(|| "for ever: write `to`".into(), |t| t.to_string());
            let title = "`every` must be longer than the time from `from` to `to`";
            return wrong(every.span, title, format!("it is slow {lasts}"));
        }
    }
    if xon.value >= xoff.value {
        let label = format!("xoff is {}", xoff.value);
        return wrong(xon.span.or(xoff.span), "`xon` must be below `xoff`", label);
    }
    if let Some(buffer) = buffer.as_ref().filter(|b| b.value < xoff.value) {
        let label = format!("xoff is {}", xoff.value);
        return wrong(buffer.span, "`buffer` must have room for `xoff`", label);
    }
    if prevention == Some(Time::ZERO) {
        return wrong(limit.span, "`storm-prevention` must be above zero", "or \"off\"".into());
    }
    Some(ReceiverSpec {
        hosts: hosts?,
        rate,
        from: from.value,
        to: end,
        every: every.map(|e| e.value),
        xoff: xoff.value,
        xon: xon.value,
        buffer: buffer.map(|b| b.value),
        prevention,
    })
}

/// What decides how much still arrives after a PAUSE.
pub(crate) struct Links<'a> {
    /// The largest frame.
    pub frame: Bytes,
    /// How long a switch takes.
    pub latency: Time,
    /// What all links have in common.
    pub link: &'a LinkConfig,
}

/// Finds the hosts of slow receivers.
pub(crate) fn find(
    specs: &[ReceiverSpec],
    links: &Links<'_>,
    files: &Files,
    topology: &Topology,
    out: &mut Diagnostics,
) -> Vec<SlowReceiver> {
    let mut found: Vec<SlowReceiver> = Vec::new();
    for spec in specs {
        // paths are complained of where flows take them
        let names = ScenarioNames::new(topology, &[], files, out);
        for entry in &spec.hosts {
            let Some(hosts) = names.hosts(&entry.value) else {
                let known = names.known_hosts();
                let title = format!("there is no host or switch `{}`", entry.value);
                let near = nearest(&entry.value, known.iter().map(String::as_str));
                out.push(Diagnostic::error(title).maybe_at(entry.span, "").nearest(near));
                continue;
            };
            for host in hosts {
                if found.iter().any(|r| r.host == host) {
                    let title = format!("`{}` is a slow receiver twice", topology.name(host));
                    out.push(Diagnostic::error(title).maybe_at(entry.span, "once is enough"));
                    continue;
                }
                found.push(spec.of(host, links, topology));
            }
        }
    }
    found
}

impl ReceiverSpec {
    fn of(&self, host: NodeId, links: &Links<'_>, topology: &Topology) -> SlowReceiver {
        let Self { rate, from, to, every, xoff, xon, buffer, prevention, .. } = *self;
        let need = |port: usize| {
            let link = topology.link(topology.port(host, PortId::from_index(port)).link);
            let hop = Hop { latency: links.latency, ..Hop::new(links.frame) };
            headroom(link.rate, link.delay, &hop, links.link)
        };
        let ports = 0..topology.ports(host).len();
        let room: Bytes = ports.map(|port| need(port) + links.frame).sum();
        let buffer = buffer.unwrap_or(xoff.saturating_add(room));
        SlowReceiver { host, rate, from, to, every, buffer, xoff, xon, prevention }
    }

    /// "h0 takes nothing in from 50 us to 1 ms", for listings.
    pub fn describe(&self) -> String {
        let hosts: Vec<&str> = self.hosts.iter().map(|h| h.value.as_str()).collect();
        let rate = match self.rate.as_bps() {
            0 => "nothing".into(),
            _ => self.rate.to_string(),
        };
        let mut text = format!("{} takes in {rate} from {}", hosts.join(", "), self.from);
        if let Some(to) = self.to {
            text += &format!(" to {to}");
        }
        if let Some(every) = self.every {
            text += &format!(", again every {every}");
        }
        text += &format!(", xoff {}, xon {}", self.xoff, self.xon);
        if let Some(limit) = self.prevention {
            text += &format!(", pauses at most {limit}");
        }
        text
    }
}
