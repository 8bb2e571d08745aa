//! `[switch]`: memory, thresholds, queues, marking, watchdog.

use super::fields::{At, Fields, Or, short};
use super::{egress, keys, pipeline};
use crate::text::{Diagnostic, Diagnostics, Item, Span};
use weir_core::{Bytes, Priority, PrioritySet, Ratio};
use weir_fc::PrioritySchedule;
use weir_sim::config::{
    EcnAt, EcnConfig, EcnScale, IngressLimit, SwitchConfig, ThresholdConfig, WatchdogAction,
    WatchdogConfig,
};

/// Marking, before the congestion control is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// When the congestion control needs it.
    Auto,
    /// Never.
    Off,
    /// By a published parameter set, at the speed of each port.
    Profile(&'static str),
    /// Like this.
    On(EcnConfig),
}

/// What `[switch]` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchSpec {
    /// The settings; ECN is in `ecn`.
    pub config: SwitchConfig,
    /// Marking.
    pub ecn: Ecn,
    /// Where the limit or headroom was written.
    pub headroom_at: Option<Span>,
    /// Where the pause threshold was written.
    pub threshold_at: Option<Span>,
    /// Where the buffer was written.
    pub buffer_at: Option<Span>,
    /// Where the limits of egress queues were written.
    pub egress_at: Option<Span>,
    /// Where the lossless priorities were written.
    pub lossless_at: Option<Span>,
    /// Where marking was written.
    pub ecn_at: Option<Span>,
}

/// Reads the section.
pub(crate) fn read(item: Option<&Item>, out: &mut Diagnostics) -> SwitchSpec {
    let mut f = Fields::new(&keys::SWITCH, item, out);
    let pipeline = pipeline::read(&mut f);
    let mut buffer = buffer(&mut f);
    let lossless = f.wholes("lossless");
    let lossless_at = lossless.as_ref().and_then(|list| list.span);
    let lossless = lossless.map_or(PrioritySet::only(Priority::ALL[3]), |list| set(&list.value));
    let ecn_at = f.item("ecn").map(|item| item.span);
    let schedule = schedule(&mut f);
    let latency = f.time("latency");
    short(&mut f, "latency", &latency);
    let latency = latency.value;
    let (ecn, ecn_when) = ecn(&mut f);
    let watchdog = watchdog(&mut f);
    let given = thresholds(&mut f);
    if pipeline.is_some() {
        pipeline::check_thresholds(&mut f, &given.config, given.threshold_at);
        egress::check_pipelined(&mut f);
    }
    if let Some(inner) = given.buffer {
        if let (Some(span), Some(outer)) = (inner.span, buffer.span) {
            let twice = Diagnostic::error("`buffer` is given twice").at(span, "here");
            f.out.push(twice.context(outer, "and here"));
        }
        buffer = inner;
    }
    let (egress, egress_at) = egress::read(&mut f, buffer.value);
    let cell = egress::cell(&mut f);
    let spec = SwitchSpec {
        config: SwitchConfig {
            buffer: buffer.value,
            thresholds: given.config,
            headroom_pool: given.headroom_pool,
            egress: egress.filter(|_| pipeline.is_none()),
            cell: cell.filter(|_| pipeline.is_none()),
            lossless,
            schedule,
            ecn: None,
            ecn_scale: EcnScale::default(),
            ecn_at: ecn_when,
            latency,
            watchdog,
            pipeline: pipeline.as_ref().map(|p| p.config),
        },
        ecn,
        headroom_at: given.headroom_at,
        threshold_at: given.threshold_at,
        buffer_at: buffer.span,
        egress_at: pipeline.and_then(|p| p.egress_at).or(egress_at),
        lossless_at,
        ecn_at,
    };
    check_buffer(&spec, f.out);
    spec
}

/// `buffer`. A small number without a unit is no memory of a switch in bytes: the unit was
/// forgotten.
fn buffer(f: &mut Fields<'_>) -> At<Bytes> {
    const SMALL: Bytes = Bytes::new(65_536);
    let read = f.bytes_or_word("buffer").map(|b| match b {
        Or::Is(bytes) => bytes,
        Or::Word(_) => Bytes::MAX,
    });
    let text = f.item("buffer").and_then(|item| item.value.text()).unwrap_or_default();
    let bare = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    if bare && read.value > Bytes::ZERO && read.value < SMALL {
        let error = Diagnostic::error(format!("`buffer` is {text}, without a unit"));
        let label = format!("write `\"{text}KB\"` or `\"{text}MB\"`");
        let help = format!("`\"{text}B\"` is {}", read.value);
        f.out.push(error.maybe_at(read.span, label).help(help));
        return At { value: Bytes::MAX, span: read.span };
    }
    read
}

fn set(priorities: &[u64]) -> PrioritySet {
    priorities.iter().filter_map(|p| Priority::ALL.get(*p as usize)).copied().collect()
}

/// `weights` and `quantum`, of a switch or a NIC.
pub(crate) fn schedule(f: &mut Fields<'_>) -> PrioritySchedule {
    let quantum = f.bytes("quantum");
    if quantum.value == Bytes::ZERO {
        let zero = Diagnostic::error("`quantum` is zero: nothing would ever be served");
        f.out.push(zero.maybe_at(quantum.span, "write at least one byte, such as `\"1500B\"`"));
    }
    let mut schedule = PrioritySchedule { quantum: quantum.value, ..Default::default() };
    if let Some(given) = f.wholes("weights") {
        match <[u64; Priority::COUNT]>::try_from(given.value.as_slice()) {
            Ok(weights) => schedule.weights = weights.map(|w| w as u32),
            Err(_) => {
                let n = given.value.len();
                let title = format!("`weights` has {n} entries: there are 8 priorities");
                f.out.push(Diagnostic::error(title).maybe_at(given.span, ""));
            }
        }
    }
    schedule
}

fn ecn(f: &mut Fields<'_>) -> (Ecn, EcnAt) {
    let mut e = match f.table("ecn") {
        Some(Or::Is(fields)) => fields,
        Some(Or::Word("off")) => return (Ecn::Off, EcnAt::default()),
        Some(Or::Word(name)) if name != "auto" => {
            return (Ecn::Profile(name), EcnAt::default());
        }
        _ => return (Ecn::Auto, EcnAt::default()),
    };
    for key in ["kmin", "kmax"] {
        if !e.given(key) {
            e.missing(key);
        }
    }
    let (kmin, kmax) = (e.optional_bytes("kmin"), e.optional_bytes("kmax"));
    let pmax = e.fraction("pmax");
    let at = e.one_of("at", [("dequeue", EcnAt::Dequeue), ("enqueue", EcnAt::Enqueue)]).value;
    if pmax.value.as_f64() > 1.0 {
        let title = format!("`pmax` is {}: a probability is at most 1", pmax.value);
        e.out.push(Diagnostic::error(title).maybe_at(pmax.span, ""));
    }
    let (Some(kmin), Some(kmax)) = (kmin, kmax) else { return (Ecn::Off, at) };
    if kmin.value > kmax.value {
        let label = format!("{} is above kmax ({})", kmin.value, kmax.value);
        e.out.push(Diagnostic::error("kmin must not be above kmax").maybe_at(kmin.span, label));
    }
    (Ecn::On(EcnConfig { kmin: kmin.value, kmax: kmax.value, pmax: pmax.value }), at)
}

fn watchdog(f: &mut Fields<'_>) -> Option<WatchdogConfig> {
    let Some(Or::Is(mut w)) = f.table("watchdog") else { return None };
    let actions = [
        ("drop", WatchdogAction::Drop),
        ("forward", WatchdogAction::Forward),
        ("alert", WatchdogAction::Alert),
    ];
    let action = w.one_of("action", actions).value;
    let (detect, restore) = (w.time("detect"), w.time("restore"));
    for (name, time) in [("detect", &detect), ("restore", &restore)] {
        if time.value == weir_core::Time::ZERO {
            let title = format!("`{name}` is zero: a watchdog needs a time above zero");
            w.out.push(Diagnostic::error(title).maybe_at(time.span, ""));
        }
    }
    Some(WatchdogConfig { detect: detect.value, restore: restore.value, action })
}

struct Given {
    config: ThresholdConfig,
    headroom_at: Option<Span>,
    threshold_at: Option<Span>,
    buffer: Option<At<Bytes>>,
    headroom_pool: Option<Bytes>,
}

fn thresholds(f: &mut Fields<'_>) -> Given {
    let default = ThresholdConfig::AUTO;
    let plain = |config| Given {
        config,
        headroom_at: None,
        threshold_at: None,
        buffer: None,
        headroom_pool: None,
    };
    let mut t = match f.table("thresholds") {
        Some(Or::Is(fields)) => fields,
        Some(Or::Word("pool")) => return plain(ThresholdConfig::Pool),
        Some(Or::Word(_)) | None => return plain(default),
    };
    const STATIC: [&str; 3] = ["xoff", "xon", "limit"];
    const DYNAMIC: [&str; 5] = ["alpha", "reserve", "resume-offset", "headroom", "headroom-pool"];
    let wanted = |names: &[&'static str]| names.iter().copied().find(|n| t.given(n));
    if let (Some(fixed), Some(moving)) = (wanted(&STATIC), wanted(&DYNAMIC)) {
        let span = t.item(moving).map(|item| item.span);
        let mixed = Diagnostic::error("thresholds are either static or dynamic")
            .maybe_at(span, format!("`{moving}` is dynamic, `{fixed}` is static"))
            .help("write { xoff = \"75KB\", xon = \"45KB\" } or { alpha = \"1/8\" }");
        t.out.push(mixed);
        return plain(default);
    }
    let buffer = t.given("buffer").then(|| buffer(&mut t));
    let given = if wanted_any(&t, &DYNAMIC) { dynamic(&mut t) } else { fixed(&mut t) };
    Given { buffer, ..given }
}

fn wanted_any(t: &Fields<'_>, names: &[&str]) -> bool {
    names.iter().any(|n| t.given(n))
}

fn fixed(t: &mut Fields<'_>) -> Given {
    let (mut xoff, mut xon) = (t.bytes("xoff"), t.bytes("xon"));
    // One of the two alone keeps the paper's proportion of 45 to 75.
    let three_fifths = Ratio::new(3, 5).expect("five is not zero");
    match (xoff.span, xon.span) {
        (Some(_), None) => xon.value = Bytes::new(three_fifths.of(xoff.value.get())),
        (None, Some(_)) => xoff.value = Bytes::new(xon.value.get().saturating_mul(5) / 3),
        _ => {}
    }
    if xon.value >= xoff.value {
        let at = xon.span.or(xoff.span);
        let label = format!(
            "{} is not below xoff ({}): an ingress would resume without having drained",
            xon.value, xoff.value
        );
        let error = Diagnostic::error("xon must be below xoff").maybe_at(at, label);
        t.out.push(error.help("the OFC paper uses xoff 75 KB and xon 45 KB on 40 Gb/s links"));
    }
    let limit = t.bytes_or_word("limit");
    if let (Or::Is(bytes), Some(span)) = (limit.value, limit.span)
        && bytes < xoff.value
    {
        let label = format!(
            "{bytes} is below xoff ({}): packets would be dropped before the ingress pauses",
            xoff.value
        );
        let error = Diagnostic::error("`limit` must not be below xoff").at(span, label);
        t.out.push(error.help("`\"lossless\"` adds just the headroom that the links need"));
    }
    let config = ThresholdConfig::Static {
        xoff: xoff.value,
        xon: xon.value,
        limit: match limit.value {
            Or::Is(bytes) => IngressLimit::Bytes(bytes),
            Or::Word("unlimited") => IngressLimit::Unlimited,
            Or::Word(_) => IngressLimit::Lossless,
        },
    };
    Given {
        config,
        headroom_at: limit.span,
        threshold_at: xoff.span,
        buffer: None,
        headroom_pool: None,
    }
}

fn dynamic(t: &mut Fields<'_>) -> Given {
    let alpha = t.optional_fraction("alpha");
    if !t.given("alpha") {
        t.missing("alpha");
    }
    let shift = alpha.as_ref().and_then(|a| egress::shift_of(a.value));
    if let (Some(a), None) = (&alpha, shift) {
        let title =
            format!("`alpha` is {}, which is not a power of two from 1/256 to 128", a.value);
        let error = Diagnostic::error(title).maybe_at(a.span, "");
        t.out.push(error.help("switches shift instead of dividing: write 8, 2, 1, 1/2, 1/8, ..."));
    }
    let headroom = t.bytes_or_word("headroom");
    let config = ThresholdConfig::Dynamic {
        shift: shift.unwrap_or(3),
        reserve: t.bytes("reserve").value,
        resume_offset: t.bytes("resume-offset").value,
        headroom: match headroom.value {
            Or::Is(bytes) => Some(bytes),
            Or::Word(_) => None,
        },
    };
    let headroom_pool = match t.bytes_or_word("headroom-pool").value {
        Or::Is(pool) => Some(pool),
        Or::Word(_) => None,
    };
    let threshold_at = alpha.and_then(|a| a.span);
    Given { config, headroom_at: headroom.span, threshold_at, buffer: None, headroom_pool }
}

fn check_buffer(spec: &SwitchSpec, out: &mut Diagnostics) {
    let buffer = spec.config.buffer;
    let at = spec.buffer_at;
    if buffer == Bytes::ZERO {
        out.push(Diagnostic::error("`buffer` is zero: no packet would fit").maybe_at(at, ""));
    }
    match spec.config.thresholds {
        ThresholdConfig::Dynamic { .. } if buffer == Bytes::MAX => {
            let error = Diagnostic::error("dynamic thresholds are shares of a `buffer`");
            let error = error.maybe_at(spec.threshold_at, "a share of unlimited memory");
            out.push(error.help("add `buffer = \"12MB\"` to `[switch]`"));
        }
        ThresholdConfig::Static { xoff, limit, .. } => {
            let (what, value) = match limit {
                IngressLimit::Bytes(limit) if limit > buffer => ("limit", limit),
                _ if xoff > buffer => ("xoff", xoff),
                _ => return,
            };
            let place = if what == "xoff" { spec.threshold_at } else { spec.headroom_at };
            let label = format!("{value} does not fit into the buffer of {buffer}");
            let error = Diagnostic::error(format!("`{what}` is above the buffer"));
            let error = error.maybe_at(place.or(at), label);
            out.push(error.help("a full buffer drops before the threshold is reached"));
        }
        _ => {}
    }
}
