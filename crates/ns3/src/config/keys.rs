//! The keys there are, and what each does to the configuration.

use super::{CcMode, Config, LinkDown};
use crate::diag::Diagnostics;
use crate::text::{Words, integer, number, rate};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Reads a key's value.
pub(crate) type Setter = fn(&mut Config, &mut Words<'_>) -> Result<(), Diagnostics>;

macro_rules! keys {
    ($( $name:ident, $effect:literal, |$c:ident, $w:ident| $body:expr; )*) => {
        /// Every key: its name, whether it has an effect, and how it is read.
        pub(crate) const KEYS: &[(&str, bool, Setter)] = &[$(
            (stringify!($name), $effect, |$c, $w| {
                $body;
                Ok(())
            }),
        )*];
    };
}

fn flag(w: &mut Words<'_>) -> Result<bool, Diagnostics> {
    w.parse("a switch", |t| integer::<u32>(t).map_err(|_| "write 0 or 1".into())).map(|v| v != 0)
}

fn whole<T: std::str::FromStr>(w: &mut Words<'_>) -> Result<T, Diagnostics> {
    w.parse("a whole number", integer)
}

fn real(w: &mut Words<'_>) -> Result<f64, Diagnostics> {
    w.parse("a number", number)
}

fn bps(w: &mut Words<'_>) -> Result<u64, Diagnostics> {
    w.parse("a rate", rate)
}

fn file(w: &mut Words<'_>) -> Result<PathBuf, Diagnostics> {
    w.expect("the name of a file").map(|word| word.text.into())
}

/// Microseconds, written with or without a fraction, which is dropped.
fn micros(w: &mut Words<'_>) -> Result<u64, Diagnostics> {
    w.parse("a time in microseconds", |t| match number(t)? {
        us if us < 1e12 => Ok(us as u64),
        _ => Err("write a number of microseconds below 10^12".into()),
    })
}

/// `n rate value rate value ...`
fn map<T>(
    w: &mut Words<'_>,
    into: &mut BTreeMap<u64, T>,
    what: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<(), Diagnostics> {
    let n: u32 = w.parse("the number of pairs", integer)?;
    for i in 1..=n {
        let rate = w.parse(&format!("the rate of pair {i} of {n} in bit/s"), integer)?;
        into.insert(rate, w.parse(&format!("the {what} of pair {i} of {n}"), &read)?);
    }
    Ok(())
}

/// The numbers with a meaning.
pub(super) const CC_MODES: &str = "0 is none, 1 DCQCN, 3 HPCC, 7 TIMELY, 8 DCTCP";

/// Without reference runs of HPCC-PINT nothing could show that its results are the original's.
const NO_PINT: &str = "10 is HPCC-PINT, which is not supported: its switches compute with \
    approximate logarithms, its hosts draw from the C library's rand(), and there is no run of \
    the original to compare with; 3 is HPCC with full telemetry";

fn cc_mode(text: &str) -> Result<CcMode, String> {
    match integer::<u32>(text) {
        Ok(0) => Ok(CcMode::None),
        Ok(1) => Ok(CcMode::Dcqcn),
        Ok(3) => Ok(CcMode::Hpcc),
        Ok(7) => Ok(CcMode::Timely),
        Ok(8) => Ok(CcMode::Dctcp),
        Ok(10) => Err(NO_PINT.into()),
        Ok(other) => Ok(CcMode::Unassigned(other)),
        Err(_) => Err(CC_MODES.into()),
    }
}

keys! {
    ENABLE_QCN, true, |c, w| c.enable_qcn = flag(w)?;
    USE_DYNAMIC_PFC_THRESHOLD, false, |_c, w| flag(w)?;
    PACKET_PAYLOAD_SIZE, true, |c, w| c.payload = w.parse("a payload in bytes", |t| {
        match integer::<u32>(t) {
            Ok(n) if (1..=1_000_000).contains(&n) => Ok(n),
            _ => Err("write 1 to 1000000; 1000 is usual".into()),
        }
    })?;
    DATA_RATE, false, |_c, w| w.expect("a rate")?;
    LINK_DELAY, false, |_c, w| w.expect("a delay")?;
    TOPOLOGY_FILE, true, |c, w| c.topology_file = file(w)?;
    FLOW_FILE, true, |c, w| c.flow_file = file(w)?;
    TRACE_FILE, true, |c, w| c.trace_file = file(w)?;
    TRACE_OUTPUT_FILE, true, |c, w| c.trace_output = file(w)?;
    FCT_OUTPUT_FILE, true, |c, w| c.fct_output = file(w)?;
    PFC_OUTPUT_FILE, true, |c, w| c.pfc_output = file(w)?;
    SIMULATOR_STOP_TIME, true, |c, w| c.stop = w.parse("a time in seconds", |t| match number(t)? {
        s if s < 1e6 => Ok(s),
        _ => Err("write seconds below 10^6".into()),
    })?;
    CC_MODE, true, |c, w| c.cc_mode = w.parse("a supported congestion control", cc_mode)?;
    ALPHA_RESUME_INTERVAL, true, |c, w| c.alpha_resume_us = micros(w)?;
    RATE_DECREASE_INTERVAL, true, |c, w| c.rate_decrease_us = micros(w)?;
    RP_TIMER, true, |c, w| c.rp_timer_us = micros(w)?;
    CLAMP_TARGET_RATE, true, |c, w| c.clamp_target_rate = flag(w)?;
    EWMA_GAIN, true, |c, w| c.ewma_gain = real(w)?;
    FAST_RECOVERY_TIMES, true, |c, w| c.fast_recovery_times = whole(w)?;
    RATE_AI, true, |c, w| c.rate_ai = bps(w)?;
    RATE_HAI, true, |c, w| c.rate_hai = bps(w)?;
    MIN_RATE, true, |c, w| c.min_rate = bps(w)?;
    DCTCP_RATE_AI, true, |c, w| c.dctcp_rate_ai = bps(w)?;
    ERROR_RATE_PER_LINK, true, |c, w| c.error_rate = real(w)?;
    L2_CHUNK_SIZE, true, |c, w| c.chunk_size = u64::from(whole::<u32>(w)?);
    L2_ACK_INTERVAL, true, |c, w| c.ack_interval = u64::from(whole::<u32>(w)?);
    L2_BACK_TO_ZERO, true, |c, w| c.back_to_zero = flag(w)?;
    HAS_WIN, true, |c, w| c.has_win = flag(w)?;
    GLOBAL_T, true, |c, w| c.global_t = whole::<u32>(w)? == 1;
    VAR_WIN, true, |c, w| c.var_win = flag(w)?;
    FAST_REACT, true, |c, w| c.fast_react = flag(w)?;
    U_TARGET, true, |c, w| c.u_target = real(w)?;
    MI_THRESH, true, |c, w| c.mi_thresh = whole(w)?;
    INT_MULTI, true, |c, w| c.int_multi = w.parse("a multiplier", |t| match integer::<u32>(t) {
        Ok(n) if (1..=1000).contains(&n) => Ok(n),
        _ => Err("write 1 to 1000: the NIC rate in units of 25 Gb/s".into()),
    })?;
    MULTI_RATE, true, |c, w| c.multi_rate = flag(w)?;
    SAMPLE_FEEDBACK, true, |c, w| c.sample_feedback = flag(w)?;
    PINT_LOG_BASE, true, |_c, w| real(w)?;
    PINT_PROB, true, |_c, w| real(w)?;
    RATE_BOUND, true, |c, w| c.rate_bound = flag(w)?;
    ACK_HIGH_PRIO, true, |c, w| c.ack_high_prio = flag(w)?;
    LINK_DOWN, true, |c, w| {
        let after_us = w.parse("a time in microseconds", |t| match integer::<u64>(t) {
            Ok(us) if us < 1_000_000_000_000 => Ok(us),
            _ => Err("write whole microseconds below 10^12; 0 is never".into()),
        })?;
        let (a, b) = (whole(w)?, whole(w)?);
        c.link_down = (after_us > 0).then_some(LinkDown { after_us, a, b });
    };
    ENABLE_TRACE, true, |c, w| c.enable_trace = flag(w)?;
    KMAX_MAP, true, |c, w| map(w, &mut c.kmax, "threshold in kB", integer)?;
    KMIN_MAP, true, |c, w| map(w, &mut c.kmin, "threshold in kB", integer)?;
    PMAX_MAP, true, |c, w| map(w, &mut c.pmax, "probability", number)?;
    BUFFER_SIZE, true, |c, w| c.buffer_mib = w.parse("a buffer in MiB", |t| {
        integer(t).map_err(|_| "write MiB per switch, below 4096".into())
    })?;
    QLEN_MON_FILE, true, |c, w| c.qlen_output = file(w)?;
    QLEN_MON_START, true, |c, w| c.qlen_start = whole(w)?;
    QLEN_MON_END, true, |c, w| c.qlen_end = whole(w)?;
    PAUSE_TIME, true, |c, w| c.pause_time = real(w)? as u32;
}

/// Keys of descendants of the original, with their home.
const ELSEWHERE: &[(&str, &str)] = &[
    ("ENABLE_PFC", "conweave-ns3"),
    ("ENABLE_IRN", "conweave-ns3"),
    ("LB_MODE", "conweave-ns3"),
    ("FIXED_WIN", "the ns-3.39 port"),
    ("BASE_RTT", "the ns-3.39 port"),
];

/// What to say about a key that does not exist.
pub(super) fn unknown(key: &str) -> Option<String> {
    if let Some((_, home)) = ELSEWHERE.iter().find(|(name, _)| *name == key) {
        return Some(format!("this is a key of {home}, whose files are not supported"));
    }
    weir_core::nearest(key, KEYS.iter().map(|k| k.0)).map(|k| format!("did you mean {k}?"))
}
