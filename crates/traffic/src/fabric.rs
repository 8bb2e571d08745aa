//! What a traffic plan must know of the network: who can send, and how much fits.

use crate::error::TrafficError;
use weir_core::{NodeId, Rate, Ratio};

/// The hosts of a network and the capacities that loads refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fabric {
    /// The hosts, in the order streams are handed out.
    pub hosts: Vec<NodeId>,
    /// The NIC rate of each host, in the same order.
    pub host_rates: Vec<Rate>,
    /// Sum of the capacities of the core-layer links in one direction, bit/s. `None` where
    /// there is no core.
    pub core_capacity: Option<u128>,
    /// The probability that a flow between two hosts drawn uniformly crosses the core.
    pub cross_core: Option<Ratio>,
}

impl Fabric {
    /// Hosts with one NIC rate and no core.
    pub fn uniform(hosts: Vec<NodeId>, rate: Rate) -> Self {
        let host_rates = vec![rate; hosts.len()];
        Self { hosts, host_rates, core_capacity: None, cross_core: None }
    }

    /// Position of `node` among the hosts.
    pub fn position(&self, node: NodeId) -> Option<usize> {
        self.hosts.iter().position(|&h| h == node)
    }

    /// The NIC rate of `node`, zero when it is no host.
    pub fn rate(&self, node: NodeId) -> Rate {
        self.position(node).map_or(Rate::from_bps(0), |i| self.host_rates[i])
    }

    /// Sum of all NIC rates, bit/s.
    pub fn host_capacity(&self) -> u128 {
        self.host_rates.iter().map(|r| u128::from(r.as_bps())).sum()
    }

    /// Refuses a node that is no host.
    pub(crate) fn check_host(
        &self,
        parameter: &'static str,
        node: NodeId,
    ) -> Result<(), TrafficError> {
        match self.position(node) {
            Some(_) => Ok(()),
            None => Err(TrafficError::NotAHost { parameter, node }),
        }
    }
}
