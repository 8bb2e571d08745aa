//! The configuration file: `KEY value` pairs in any order.

mod keys;

use crate::diag::Diagnostics;
use crate::text::{Words, shortened};
pub(crate) use keys::KEYS;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use weir_cc::dcqcn::DcqcnParams;
use weir_cc::dctcp::DctcpParams;
use weir_cc::hpcc::{HpccParams, Telemetry};
use weir_cc::none::NoneParams;
use weir_cc::timely::TimelyParams;
use weir_cc::{CcParams, WindowKind};
use weir_core::{Rate, Severity, Time};

/// CC_MODE, as far as it is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CcMode {
    /// 0: line rate.
    None,
    /// 1
    Dcqcn,
    /// 3
    Hpcc,
    /// 7
    Timely,
    /// 8
    Dctcp,
    /// A number without a meaning: line rate, as with 0.
    Unassigned(u32),
}

impl CcMode {
    /// Bytes of telemetry that every data packet and ACK carries.
    pub fn int_bytes(self) -> u32 {
        match self {
            Self::Timely => 8,
            Self::Hpcc => 42,
            Self::None | Self::Dcqcn | Self::Dctcp | Self::Unassigned(_) => 0,
        }
    }
}

/// A link that fails during the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDown {
    /// Microseconds after 2 s.
    pub after_us: u64,
    /// One end.
    pub a: u32,
    /// The other end.
    pub b: u32,
}

/// Everything that a configuration says. Defaults are those of the original for absent keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// ENABLE_QCN: switches mark packets.
    pub enable_qcn: bool,
    /// PACKET_PAYLOAD_SIZE: payload bytes of a full packet.
    pub payload: u32,
    /// TOPOLOGY_FILE.
    pub topology_file: PathBuf,
    /// FLOW_FILE.
    pub flow_file: PathBuf,
    /// TRACE_FILE: the nodes to trace.
    pub trace_file: PathBuf,
    /// TRACE_OUTPUT_FILE.
    pub trace_output: PathBuf,
    /// FCT_OUTPUT_FILE.
    pub fct_output: PathBuf,
    /// PFC_OUTPUT_FILE.
    pub pfc_output: PathBuf,
    /// QLEN_MON_FILE.
    pub qlen_output: PathBuf,
    /// SIMULATOR_STOP_TIME in seconds.
    pub stop: f64,
    /// CC_MODE.
    pub cc_mode: CcMode,
    /// ALPHA_RESUME_INTERVAL in us, the fraction dropped.
    pub alpha_resume_us: u64,
    /// RATE_DECREASE_INTERVAL in us, the fraction dropped.
    pub rate_decrease_us: u64,
    /// RP_TIMER in us, the fraction dropped.
    pub rp_timer_us: u64,
    /// CLAMP_TARGET_RATE.
    pub clamp_target_rate: bool,
    /// EWMA_GAIN.
    pub ewma_gain: f64,
    /// FAST_RECOVERY_TIMES.
    pub fast_recovery_times: u32,
    /// RATE_AI in bit/s.
    pub rate_ai: u64,
    /// RATE_HAI in bit/s.
    pub rate_hai: u64,
    /// MIN_RATE in bit/s.
    pub min_rate: u64,
    /// DCTCP_RATE_AI in bit/s.
    pub dctcp_rate_ai: u64,
    /// ERROR_RATE_PER_LINK.
    pub error_rate: f64,
    /// L2_CHUNK_SIZE in bytes.
    pub chunk_size: u64,
    /// L2_ACK_INTERVAL in bytes.
    pub ack_interval: u64,
    /// L2_BACK_TO_ZERO.
    pub back_to_zero: bool,
    /// HAS_WIN.
    pub has_win: bool,
    /// GLOBAL_T: use the largest RTT and BDP of the network for every flow.
    pub global_t: bool,
    /// VAR_WIN: scale the window with the rate.
    pub var_win: bool,
    /// FAST_REACT.
    pub fast_react: bool,
    /// U_TARGET.
    pub u_target: f64,
    /// MI_THRESH.
    pub mi_thresh: u32,
    /// INT_MULTI.
    pub int_multi: u32,
    /// MULTI_RATE.
    pub multi_rate: bool,
    /// SAMPLE_FEEDBACK.
    pub sample_feedback: bool,
    /// RATE_BOUND: pace at the rate; off, at line rate.
    pub rate_bound: bool,
    /// ACK_HIGH_PRIO: hosts' ACKs ignore pauses.
    pub ack_high_prio: bool,
    /// LINK_DOWN, unless its time is zero.
    pub link_down: Option<LinkDown>,
    /// ENABLE_TRACE.
    pub enable_trace: bool,
    /// KMIN_MAP: rate in bit/s to kB.
    pub kmin: BTreeMap<u64, u32>,
    /// KMAX_MAP: rate in bit/s to kB.
    pub kmax: BTreeMap<u64, u32>,
    /// PMAX_MAP: rate in bit/s to probability.
    pub pmax: BTreeMap<u64, f64>,
    /// BUFFER_SIZE in MiB per switch.
    pub buffer_mib: u32,
    /// QLEN_MON_START in ns.
    pub qlen_start: u64,
    /// QLEN_MON_END in ns.
    pub qlen_end: u64,
    /// PAUSE_TIME, the fraction dropped: zero makes every pause frame a resume.
    pub pause_time: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            enable_qcn: true,
            payload: 1000,
            topology_file: PathBuf::new(),
            flow_file: PathBuf::new(),
            trace_file: PathBuf::new(),
            trace_output: PathBuf::new(),
            fct_output: "fct.txt".into(),
            pfc_output: "pfc.txt".into(),
            qlen_output: PathBuf::new(),
            stop: 3.01,
            cc_mode: CcMode::Dcqcn,
            alpha_resume_us: 55,
            rate_decrease_us: 4,
            rp_timer_us: 0,
            clamp_target_rate: false,
            ewma_gain: 0.0,
            fast_recovery_times: 5,
            rate_ai: 0,
            rate_hai: 0,
            min_rate: 100_000_000,
            dctcp_rate_ai: 1_000_000_000,
            error_rate: 0.0,
            chunk_size: 0,
            ack_interval: 0,
            back_to_zero: false,
            has_win: true,
            global_t: true,
            var_win: false,
            fast_react: true,
            u_target: 0.95,
            mi_thresh: 5,
            int_multi: 1,
            multi_rate: true,
            sample_feedback: false,
            rate_bound: true,
            ack_high_prio: false,
            link_down: None,
            enable_trace: true,
            kmin: BTreeMap::new(),
            kmax: BTreeMap::new(),
            pmax: BTreeMap::new(),
            buffer_mib: 16,
            qlen_start: 2_000_000_000,
            qlen_end: 2_100_000_000,
            pause_time: 5,
        }
    }
}

/// After this many mistakes a file is no configuration.
const MOST_FINDINGS: usize = 50;

impl Config {
    /// Reads the text of a configuration; `path` is for messages. Warnings come with the result.
    pub fn parse(path: &Path, text: &str) -> Result<(Self, Diagnostics), Diagnostics> {
        let mut config = Self::default();
        let mut findings = Diagnostics::default();
        let mut words = Words::new(path, text);
        while let Some(key) = words.next() {
            if findings.0.len() == MOST_FINDINGS {
                let message =
                    format!("{MOST_FINDINGS} errors so far: this may not be a configuration file");
                findings.push(Severity::Error, (path, Some(key.line)), message, None);
                return Err(findings);
            }
            let Some(&(name, effect, set)) = KEYS.iter().find(|k| k.0 == key.text) else {
                let message = format!("there is no key `{}`", shortened(key.text));
                let help = keys::unknown(key.text);
                findings.push(Severity::Error, (path, Some(key.line)), message, help);
                while words.rest_of_line().is_some() {}
                continue;
            };
            match set(&mut config, &mut words) {
                Ok(()) => {}
                Err(mut error) => {
                    findings.0.append(&mut error.0);
                    while words.rest_of_line().is_some() {}
                    continue;
                }
            }
            if !effect && !findings.0.iter().any(|d| d.message.starts_with(name)) {
                let message =
                    format!("{name} never had an effect in the original and has none here");
                findings.push(Severity::Warning, (path, Some(key.line)), message, None);
            }
        }
        config.check(path, &mut findings);
        if findings.has_errors() { Err(findings) } else { Ok((config, findings)) }
    }

    /// What must hold between keys.
    fn check(&self, path: &Path, findings: &mut Diagnostics) {
        for (key, file) in [("TOPOLOGY_FILE", &self.topology_file), ("FLOW_FILE", &self.flow_file)]
        {
            if file.as_os_str().is_empty() {
                findings.push(Severity::Error, (path, None), format!("{key} is missing"), None);
            }
        }
        if self.back_to_zero && self.chunk_size == 0 {
            let message = "L2_BACK_TO_ZERO 1 needs L2_CHUNK_SIZE";
            let help = "the original divides by it; 4000 is usual".to_string();
            findings.push(Severity::Error, (path, None), message, help);
        }
        let timers = [
            ("ALPHA_RESUME_INTERVAL", self.alpha_resume_us, 1),
            ("RATE_DECREASE_INTERVAL", self.rate_decrease_us, 4),
            ("RP_TIMER", self.rp_timer_us, 300),
        ];
        for (key, us, usual) in timers {
            if self.cc_mode == CcMode::Dcqcn && us == 0 {
                let message = format!(
                    "{key} is missing or below 1 us: the simulation does not advance after a mark"
                );
                let help = format!("{usual} is usual; the original does not end either");
                findings.push(Severity::Warning, (path, None), message, help);
            }
        }
        if let CcMode::Unassigned(mode) = self.cc_mode {
            let message =
                format!("CC_MODE {mode} has no meaning: flows send at line rate, as with 0");
            let help = keys::CC_MODES.to_string();
            findings.push(Severity::Warning, (path, None), message, help);
        }
        if self.buffer_mib >= 4096 {
            let (all, left) = (self.buffer_mib, self.buffer_mib % 4096);
            let message =
                format!("BUFFER_SIZE {all} is taken as {left}: bytes are counted modulo 2^32");
            let help = "write MiB per switch, below 4096".to_string();
            findings.push(Severity::Warning, (path, None), message, help);
        }
        if self.ack_interval == 0 {
            let message = "L2_ACK_INTERVAL is 0: senders ignore ACKs and no flow finishes";
            let help = "1 acknowledges every packet".to_string();
            findings.push(Severity::Warning, (path, None), message, help);
        }
    }

    /// What limits the bytes in flight.
    pub fn window(&self) -> WindowKind {
        match (self.has_win, self.var_win) {
            (false, _) => WindowKind::None,
            (true, false) => WindowKind::Static,
            (true, true) => WindowKind::Variable,
        }
    }

    /// The congestion control with its parameters.
    pub fn congestion_control(&self) -> CcParams {
        let window = self.window();
        let rate = Rate::from_bps;
        match self.cc_mode {
            CcMode::None | CcMode::Unassigned(_) => CcParams::None(NoneParams { window }),
            CcMode::Dcqcn => CcParams::Dcqcn(DcqcnParams {
                g: self.ewma_gain,
                alpha_timer: Time::from_us(self.alpha_resume_us),
                decrease_timer: Time::from_us(self.rate_decrease_us),
                increase_timer: Time::from_us(self.rp_timer_us),
                fast_recovery: self.fast_recovery_times,
                ai: rate(self.rate_ai).into(),
                hai: rate(self.rate_hai).into(),
                min_rate: rate(self.min_rate),
                clamp: self.clamp_target_rate,
                cnp_interval: Time::ZERO,
                window,
            }),
            CcMode::Hpcc => CcParams::Hpcc(HpccParams {
                eta: self.u_target,
                max_stage: self.mi_thresh,
                ai: rate(self.rate_ai).into(),
                min_rate: rate(self.min_rate),
                fast_react: self.fast_react,
                multi_rate: self.multi_rate,
                sample_feedback: self.sample_feedback,
                telemetry: Telemetry::Packed { multi: self.int_multi },
                window,
            }),
            CcMode::Timely => CcParams::Timely(TimelyParams {
                ai: rate(self.rate_ai).into(),
                hai: rate(self.rate_hai).into(),
                min_rate: rate(self.min_rate),
                window,
                ..TimelyParams::default()
            }),
            CcMode::Dctcp => CcParams::Dctcp(DctcpParams {
                g: self.ewma_gain,
                ai: rate(self.dctcp_rate_ai),
                min_rate: rate(self.min_rate),
                window,
            }),
        }
    }

    /// Wire bytes that a data packet adds to its payload.
    pub fn data_overhead(&self) -> u32 {
        14 + 20 + 8 + 6 + self.cc_mode.int_bytes()
    }

    /// Wire bytes of an ACK or NACK.
    pub fn ack_size(&self) -> u32 {
        (14 + 20 + 12 + self.cc_mode.int_bytes()).max(60)
    }
}

#[cfg(test)]
mod tests;
