//! How much traffic: loads and arrival rates.

use crate::error::TrafficError;
use crate::fabric::Fabric;
use crate::hosts::HostSet;

/// What a load of 1 fills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LoadRef {
    /// The NICs of the senders (HPCC).
    #[default]
    Host,
    /// The core links in one direction, as if every flow crossed the core (BFC, FlowSail).
    Core,
    /// The core links in one direction, counting only the flows that cross the core.
    CoreExact,
}

/// How much traffic a pattern offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Intensity {
    /// As a share of a capacity: 0.6 is 60 %.
    Load {
        /// The share.
        load: f64,
        /// Of what.
        reference: LoadRef,
    },
    /// Arrivals (flows, or incast events) per second, all hosts together.
    PerSecond(f64),
    /// Arrivals per second of each host that counts: of each sender, or, for incast events, of each
    /// receiver.
    PerSecondEach(f64),
}

/// What a pattern offers to the network on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// Flows per second, all hosts together.
    pub flows_per_second: f64,
    /// Payload bits per second, all hosts together.
    pub bits_per_second: f64,
}

impl Intensity {
    /// Arrivals per second of `mean_bytes` each, all hosts together. A load is one of `senders`, a
    /// rate of each host one of each of `hosts`.
    pub fn per_second(
        self,
        fabric: &Fabric,
        senders: &HostSet,
        hosts: &HostSet,
        mean_bytes: f64,
    ) -> Result<f64, TrafficError> {
        let (parameter, value) = match self {
            Self::Load { load, .. } => ("load", load),
            Self::PerSecond(rate) | Self::PerSecondEach(rate) => ("per_second", rate),
        };
        if !(value.is_finite() && value > 0.0) {
            return Err(TrafficError::value(parameter, value, "a number above 0"));
        }
        let per_second = match self {
            Self::Load { load, reference } => {
                load * capacity(reference, fabric, senders)? / (mean_bytes * 8.0)
            }
            Self::PerSecond(rate) => rate,
            Self::PerSecondEach(rate) => rate * hosts.len() as f64,
        };
        // Once in 200 days is the longest gap the clock can hold, one per picosecond the shortest.
        if !(1e-7..=1e12).contains(&per_second) {
            let valid =
                format!("it makes {per_second:e} arrivals per second, outside 1e-7 to 1e12");
            return Err(TrafficError::value(parameter, value, valid));
        }
        Ok(per_second)
    }
}

/// The capacity that a load of 1 fills, bit/s.
fn capacity(reference: LoadRef, fabric: &Fabric, senders: &HostSet) -> Result<f64, TrafficError> {
    let missing = |value, valid: &str| TrafficError::value("load_ref", value, valid);
    let core = |value| {
        let valid = "this fabric has no core layer, refer the load to `host`";
        fabric.core_capacity().map(|c| c as f64).ok_or_else(|| missing(value, valid))
    };
    match reference {
        LoadRef::Host => Ok(fabric.capacity_of(senders) as f64),
        LoadRef::Core => core("core"),
        LoadRef::CoreExact => {
            let valid = "how many flows cross the core is not known here, use `core` or `host`";
            let crossing = fabric.cross_core().ok_or_else(|| missing("core-exact", valid))?;
            Ok(core("core-exact")? / crossing.as_f64())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::{Sizes, builtin_table};
    use weir_core::{NodeId, Rate, Ratio};

    /// FlowSail's fabric: 1024 servers at 100 Gb/s, 512 core links of 100 Gb/s in one direction,
    /// pods of 128 servers, so that 896 of a server's 1023 peers lie across the core.
    fn flowsail() -> Fabric {
        let hosts: Vec<NodeId> = (0..1024).map(NodeId).collect();
        let fabric = Fabric::uniform(&hosts, Rate::from_gbps(100)).unwrap();
        fabric.with_core(51_200_000_000_000, Ratio::new(896, 1023)).unwrap()
    }

    fn rate(intensity: Intensity, mean: f64) -> Result<f64, TrafficError> {
        let fabric = flowsail();
        intensity.per_second(&fabric, fabric.hosts(), fabric.hosts(), mean)
    }

    #[test]
    fn flowsails_rates_at_60_percent_are_reached() {
        let load = |reference| Intensity::Load { load: 0.6, reference };
        let mean = |name| Sizes::table(builtin_table(name).unwrap()).mean();
        // 0.6 * 51.2e12 / (62 228.78 * 8) = 61.7e6 and / (1 711 250 * 8) = 2.24e6
        let web_server = rate(load(LoadRef::Core), mean("webserver")).unwrap();
        assert!((web_server / 61.7e6 - 1.0).abs() < 1e-3, "{web_server}");
        let web_search = rate(load(LoadRef::Core), mean("websearch")).unwrap();
        assert!((web_search / 2.244e6 - 1.0).abs() < 1e-3, "{web_search}");
        // only 87.59 % of the flows cross the core, so as many more are needed
        let exact = rate(load(LoadRef::CoreExact), mean("websearch")).unwrap();
        assert!((web_search / exact - 0.8759).abs() < 1e-4, "{exact}");
        // the servers have twice the capacity of the core
        let host = rate(load(LoadRef::Host), mean("websearch")).unwrap();
        assert!((host / web_search - 2.0).abs() < 1e-9, "{host}");
    }

    #[test]
    fn a_load_that_is_no_positive_number_is_refused() {
        for load in [0.0, -0.5, f64::NAN, f64::INFINITY] {
            let error = rate(Intensity::Load { load, reference: LoadRef::Host }, 1000.0);
            let message = error.unwrap_err().to_string();
            assert!(message.contains("`load`") && message.contains("above 0"), "{message}");
            let error = rate(Intensity::PerSecond(load), 1000.0).unwrap_err();
            assert!(error.to_string().contains("`per_second`"), "{error}");
        }
        let error = rate(Intensity::PerSecond(1e30), 1000.0).unwrap_err();
        assert!(error.to_string().contains("1e12"), "{error}");
    }

    #[test]
    fn a_core_load_needs_a_core() {
        let fabric = Fabric::uniform(&[NodeId(0), NodeId(1)], Rate::from_gbps(1)).unwrap();
        for reference in [LoadRef::Core, LoadRef::CoreExact] {
            let load = Intensity::Load { load: 0.5, reference };
            let error = load.per_second(&fabric, fabric.hosts(), fabric.hosts(), 1e3).unwrap_err();
            assert!(error.to_string().contains("`host`"), "{error}");
        }
    }
}
