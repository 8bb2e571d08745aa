//! What a traffic plan must know of the network: who can send, and how much fits.

use crate::error::TrafficError;
use crate::hosts::HostSet;
use weir_core::{NodeId, Rate, Ratio};

/// The hosts of a network and the capacities that loads refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fabric {
    hosts: HostSet,
    rates: Vec<Rate>,
    core_capacity: Option<u128>,
    cross_core: Option<Ratio>,
}

impl Fabric {
    /// Hosts and the rate of each one's NIC, in the same order, which is also the order in which
    /// streams are handed out. There is no core.
    pub fn new(hosts: &[NodeId], rates: Vec<Rate>) -> Result<Self, TrafficError> {
        if hosts.len() != rates.len() {
            let valid = format!("there is one rate for each of the {} hosts", hosts.len());
            return Err(TrafficError::value("rates", rates.len(), valid));
        }
        if let Some(i) = rates.iter().position(|r| r.as_bps() == 0) {
            let valid = format!("the NIC of {} has a rate above 0", hosts[i]);
            return Err(TrafficError::value("rates", rates[i], valid));
        }
        let hosts = HostSet::new("hosts", hosts)?;
        Ok(Self { hosts, rates, core_capacity: None, cross_core: None })
    }

    /// Hosts that all have the same NIC.
    pub fn uniform(hosts: &[NodeId], rate: Rate) -> Result<Self, TrafficError> {
        Self::new(hosts, vec![rate; hosts.len()])
    }

    /// Adds a core: the sum of the capacities of the core-layer links in one direction, bit/s,
    /// and the probability that a flow between two hosts drawn uniformly crosses it.
    pub fn with_core(mut self, capacity: u128, cross: Option<Ratio>) -> Result<Self, TrafficError> {
        if capacity == 0 {
            return Err(TrafficError::value(
                "core capacity",
                "0 b/s",
                "core links carry something",
            ));
        }
        if let Some(p) = cross.filter(|p| p.as_f64() <= 0.0 || p.as_f64() > 1.0) {
            let valid = "a probability is above 0 and at most 1";
            return Err(TrafficError::value("cross core", p, valid));
        }
        self.core_capacity = Some(capacity);
        self.cross_core = cross;
        Ok(self)
    }

    /// The hosts.
    pub fn hosts(&self) -> &HostSet {
        &self.hosts
    }

    /// The NIC rate of `node`, zero when it is no host.
    pub fn rate(&self, node: NodeId) -> Rate {
        self.hosts.position(node).map_or(Rate::from_bps(0), |i| self.rates[i])
    }

    /// Sum of the NIC rates of `hosts`, bit/s.
    pub fn capacity_of(&self, hosts: &HostSet) -> u128 {
        hosts.as_slice().iter().map(|&h| u128::from(self.rate(h).as_bps())).sum()
    }

    /// Sum of the capacities of the core links in one direction, bit/s.
    pub fn core_capacity(&self) -> Option<u128> {
        self.core_capacity
    }

    /// The probability that a flow between two hosts drawn uniformly crosses the core.
    pub fn cross_core(&self) -> Option<Ratio> {
        self.cross_core
    }

    /// Refuses a node that is no host.
    pub fn check_host(&self, parameter: &'static str, node: NodeId) -> Result<(), TrafficError> {
        match self.hosts.contains(node) {
            true => Ok(()),
            false => Err(TrafficError::NotAHost { parameter, node }),
        }
    }

    /// The hosts given for `parameter`, all hosts when none are given; refuses an empty list and
    /// nodes that are no hosts.
    pub fn select(
        &self,
        parameter: &'static str,
        chosen: Option<&[NodeId]>,
    ) -> Result<HostSet, TrafficError> {
        let set = match chosen {
            None => self.hosts.clone(),
            Some(hosts) => HostSet::new(parameter, hosts)?,
        };
        if set.is_empty() {
            return Err(TrafficError::value(parameter, "an empty list", "name at least one host"));
        }
        set.as_slice().iter().try_for_each(|&h| self.check_host(parameter, h))?;
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTS: [NodeId; 3] = [NodeId(4), NodeId(5), NodeId(9)];

    #[test]
    fn capacities_add_up() {
        let rates = vec![Rate::from_gbps(10), Rate::from_gbps(20), Rate::from_gbps(40)];
        let fabric = Fabric::new(&HOSTS, rates).unwrap();
        assert_eq!(fabric.capacity_of(fabric.hosts()), 70_000_000_000);
        let two = fabric.select("senders", Some(&[NodeId(9), NodeId(4)])).unwrap();
        assert_eq!(fabric.capacity_of(&two), 50_000_000_000);
        assert_eq!(fabric.rate(NodeId(5)), Rate::from_gbps(20));
    }

    #[test]
    fn nonsense_is_refused() {
        let fabric = Fabric::uniform(&HOSTS, Rate::from_gbps(1)).unwrap();
        let errors = [
            Fabric::new(&HOSTS, vec![Rate::from_gbps(1)]).unwrap_err(),
            Fabric::uniform(&HOSTS, Rate::from_bps(0)).unwrap_err(),
            Fabric::uniform(&[NodeId(1), NodeId(1)], Rate::from_gbps(1)).unwrap_err(),
            fabric.clone().with_core(0, None).unwrap_err(),
            fabric.clone().with_core(1, Ratio::new(3, 2)).unwrap_err(),
            fabric.select("senders", Some(&[NodeId(1)])).unwrap_err(),
            fabric.select("senders", Some(&[])).unwrap_err(),
        ];
        for (error, part) in errors.iter().zip([
            "each of the 3 hosts",
            "above 0",
            "n1 twice",
            "core links carry",
            "3/2",
            "`senders` names n1",
            "at least one host",
        ]) {
            assert!(error.to_string().contains(part), "{error} lacks {part:?}");
        }
    }
}
