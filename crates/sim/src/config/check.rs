//! Settings that do not go together, or with which no model can work.

use super::{Config, PipelineConfig, Reliability, Stop, ThresholdConfig, WindowConfig};
use crate::error::SimError;
use crate::tree::HORIZON;
use weir_cc::CcKind;
use weir_core::{Bytes, Time};

impl Config {
    /// Refuses settings that no model can work with.
    pub(crate) fn check(&self) -> Result<(), SimError> {
        check(self)
    }
}

fn check(config: &Config) -> Result<(), SimError> {
    let setting = |what, value: String, valid| Err(SimError::Setting { what, value, valid });
    let frame = config.nic.max_frame();
    if frame > Bytes::new(u64::from(u16::MAX)) {
        return Err(SimError::FrameTooLarge(frame));
    }
    if config.nic.payload == Bytes::ZERO {
        return setting("payload", "0 B".into(), "a packet carries at least one byte");
    }
    let free = config.nic.ack == Bytes::ZERO && config.link.overhead > Bytes::ZERO;
    if free || config.nic.ack.get() > u64::from(u16::MAX) {
        let valid = "1 to 65535 B, or 0 B where `overhead` of links is 0 B, too";
        return setting("ack", config.nic.ack.to_string(), valid);
    }
    if !(0.0..1.0).contains(&config.link.bit_error_rate) {
        let value = config.link.bit_error_rate.to_string();
        return setting("bit-error-rate", value, "a probability from 0 to below 1");
    }
    if config.link.overhead.get() > u64::from(u16::MAX) {
        return setting("overhead", config.link.overhead.to_string(), "at most 65535 B");
    }
    if let Stop::At(t) = config.stop
        && t > HORIZON
    {
        return setting("until", t.to_string(), "a run lasts at most 2^46 ps, about 70 s");
    }
    config.probes.check()?;
    config.faults.iter().try_for_each(|fault| fault.check())?;
    config.receivers.iter().try_for_each(|receiver| receiver.check())?;
    if config.probes.blame && !config.receivers.is_empty() {
        let value = "asked for beside hosts that take data in slowly".into();
        return setting("blame", value, "it cannot follow data that waits in a receiver");
    }
    check_transport(config)?;
    if let Some(pipeline) = config.switch.pipeline {
        check_pipeline(config, &pipeline)?;
    }
    if let Some(shortest) = config.switch.shortest_egress()
        && shortest < config.nic.max_frame()
    {
        let valid = "an egress queue holds at least one full frame";
        return setting("egress limit", shortest.to_string(), valid);
    }
    if let Some(ecn) = config.switch.ecn
        && ecn.kmin > ecn.kmax
    {
        return setting("kmin", ecn.kmin.to_string(), "kmin must not be above kmax");
    }
    Ok(())
}

/// Settings of hosts that do not go together.
fn check_transport(config: &Config) -> Result<(), SimError> {
    let setting = |what, value: String, valid| Err(SimError::Setting { what, value, valid });
    let nic = &config.nic;
    if nic.reliability != Reliability::Tcp {
        return match nic.acks_with_data {
            true => setting(
                "ack-priority",
                "data".into(),
                "only TCP's ACKs can have the priority of their data",
            ),
            false => Ok(()),
        };
    }
    if config.cc.kind() != Some(CcKind::None) {
        let valid = "TCP is its own congestion control: `none`";
        return setting("congestion control", config.cc.name().into(), valid);
    }
    if nic.window != WindowConfig::FromCc {
        let valid = "TCP has a congestion window and a receive window of its own";
        return setting("window", format!("{:?}", nic.window), valid);
    }
    if let Some(timeout) = nic.timeout {
        let valid = "TCP has a timer of its own, which starts from `rto_min`";
        return setting("timeout", timeout.to_string(), valid);
    }
    Ok(())
}

/// A processor takes at least a picosecond per packet.
const MAX_PROCESSOR_RATE: u64 = 1_000_000_000_000;

/// Settings that a pipelined switch cannot work with.
fn check_pipeline(config: &Config, pipeline: &PipelineConfig) -> Result<(), SimError> {
    let setting = |what, value: String, valid| Err(SimError::Setting { what, value, valid });
    if config.switch.latency != Time::ZERO {
        let value = config.switch.latency.to_string();
        return setting(
            "latency",
            value,
            "a pipelined switch has `delay` in `[switch.pipeline]` instead",
        );
    }
    if matches!(config.switch.thresholds, ThresholdConfig::Dynamic { .. }) {
        return setting("thresholds", "dynamic".into(), "those of a pipelined switch are static");
    }
    if pipeline.rate == 0 || pipeline.rate > MAX_PROCESSOR_RATE {
        let valid = "1 to 10^12 packets per second";
        return setting("processor rate", pipeline.rate.to_string(), valid);
    }
    if config.switch.egress.is_some() {
        let valid = "a pipelined switch has `egress` in `[switch.pipeline]` instead";
        return setting("egress", "thresholds".into(), valid);
    }
    if let Some(cell) = config.switch.cell {
        return setting("cell", cell.bytes().to_string(), "a pipelined switch counts bytes");
    }
    let frame = config.nic.max_frame();
    let longest = config.switch.longest_egress().unwrap_or(Bytes::MAX);
    if longest < frame {
        let valid = "an egress queue holds at least one full frame";
        return setting("egress limit", longest.to_string(), valid);
    }
    Ok(())
}
