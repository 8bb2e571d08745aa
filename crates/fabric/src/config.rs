//! A `config_db.json` as typed tables.
//!
//! Tables and fields that are not used here are ignored. A value that is not what its field allows
//! becomes a finding with the place of the value, and counts as not given.

mod read;
mod row;
mod tables;

use crate::finding::Finding;
use crate::locate::Lines;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
pub use tables::{
    Direction, Group, Map8, Pool, Port, Profile, QosMap, Queue, Tunnel, Watchdog, Wred,
};

/// One switch: its file, read.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Its name: `hostname`, or that of the file.
    pub name: String,
    /// The file.
    pub file: String,
    /// Its number among the files.
    pub index: usize,
    /// The file as JSON.
    pub root: Value,
    /// `platform` and `hwsku`.
    pub device: String,
    /// Whether the buffer model is dynamic.
    pub dynamic_model: bool,
    /// Whether it is one of a pair of top-of-rack switches.
    pub dual_tor: bool,
    /// `PORT`.
    pub ports: BTreeMap<String, Port>,
    /// `CABLE_LENGTH` in metres.
    pub cables: BTreeMap<String, u64>,
    /// `BUFFER_POOL`.
    pub pools: BTreeMap<String, Pool>,
    /// `BUFFER_PROFILE`.
    pub profiles: BTreeMap<String, Profile>,
    /// `BUFFER_PG` by port and group.
    pub groups: BTreeMap<(String, u8), Group>,
    /// `BUFFER_QUEUE` by port and queue.
    pub queue_buffers: BTreeMap<(String, u8), Group>,
    /// `PORT_QOS_MAP`.
    pub qos: BTreeMap<String, QosMap>,
    /// Maps by table and name.
    pub maps: BTreeMap<(String, String), Map8>,
    /// `QUEUE` by port and queue.
    pub queues: BTreeMap<(String, u8), Queue>,
    /// `SCHEDULER`: type and weight.
    pub schedulers: BTreeMap<String, (String, u64)>,
    /// `WRED_PROFILE`.
    pub wred: BTreeMap<String, Wred>,
    /// `PFC_WD` by port.
    pub watchdogs: BTreeMap<String, Watchdog>,
    /// `POLL_INTERVAL` of `PFC_WD|GLOBAL` in ms.
    pub poll: Option<u64>,
    /// `DEVICE_NEIGHBOR`: the switch or host and its port.
    pub neighbours: BTreeMap<String, (String, String)>,
    /// Kinds of neighbours, by name.
    pub neighbour_types: BTreeMap<String, String>,
    /// `LOSSLESS_TRAFFIC_PATTERN`: MTU.
    pub lossless_mtu: u64,
    /// `LOSSLESS_TRAFFIC_PATTERN`: share of small packets, and its place.
    pub small_packets: Option<(u64, String)>,
    /// `over_subscribe_ratio`.
    pub oversubscription: u64,
    /// `TUNNEL`.
    pub tunnels: BTreeMap<String, Tunnel>,
    pub(crate) lines: Lines,
}

impl Switch {
    /// Reads a file. `Err`: it is no JSON object.
    pub fn read(
        index: usize,
        file: &str,
        text: &str,
        findings: &mut Vec<Finding>,
    ) -> Result<Self, String> {
        let root: Value = serde_json::from_str(text)
            .map_err(|e| format!("{file}:{}:{}: not JSON: {e}", e.line(), e.column()))?;
        if !root.is_object() {
            return Err(format!("{file}: not a config_db: the file must be a JSON object"));
        }
        Ok(read::switch(index, file, root, Lines::of(text), findings))
    }

    /// The line of a place in the file.
    pub fn line(&self, pointer: &str) -> usize {
        self.lines.of_pointer(pointer)
    }

    /// Whether ports share a headroom pool.
    pub fn shares_headroom(&self) -> bool {
        let of_pool = self.pools.values().any(|p| p.direction.ingress() && p.xoff > 0);
        of_pool || self.oversubscription > 0
    }

    /// The settings of a port for QoS: its own, with those of `global` where it has none.
    pub fn qos_of(&self, port: &str) -> QosMap {
        let global = self.qos.get("global").cloned().unwrap_or_default();
        let own = self.qos.get(port).cloned().unwrap_or_default();
        own.over(global)
    }

    /// The priorities for which a port sends and honours PAUSE.
    pub fn pfc(&self, port: &str) -> BTreeSet<u8> {
        self.qos_of(port).pfc.unwrap_or_default()
    }

    /// Where a map of a table sends `from`; a map that is not there sends everything to itself.
    pub fn mapped(&self, table: &str, name: Option<&String>, from: u8) -> Option<u8> {
        match name {
            None => Some(from),
            Some(name) => {
                let map = self.maps.get(&(table.to_owned(), name.clone()))?;
                map.0.get(&from).copied()
            }
        }
    }

    /// The priority group that stores the traffic of a PFC priority.
    pub fn group_of(&self, port: &str, priority: u8) -> u8 {
        let qos = self.qos_of(port);
        let table = "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP";
        self.mapped(table, qos.pfc_to_pg.as_ref(), priority).unwrap_or(priority)
    }

    /// The queue that a PAUSE of a priority stops.
    pub fn queue_of(&self, port: &str, priority: u8) -> u8 {
        let qos = self.qos_of(port);
        let table = "MAP_PFC_PRIORITY_TO_QUEUE";
        self.mapped(table, qos.pfc_to_queue.as_ref(), priority).unwrap_or(priority)
    }

    /// The profile of a priority group, where it has one that exists.
    pub fn profile_of(&self, port: &str, group: u8) -> Option<(&str, &Profile)> {
        let name = self.groups.get(&(port.to_owned(), group))?.profile.as_deref()?;
        self.profiles.get_key_value(name).map(|(name, profile)| (name.as_str(), profile))
    }

    /// Ports that have PFC or a group with headroom.
    pub fn lossless_ports(&self) -> BTreeSet<&str> {
        let by_pfc = self.ports.keys().filter(|p| !self.pfc(p).is_empty());
        let by_group = self.groups.iter().filter(|((port, _), group)| {
            let profile = group.profile.as_ref().and_then(|name| self.profiles.get(name));
            self.ports.contains_key(port) && profile.is_some_and(|p| p.xoff > 0)
        });
        by_pfc.chain(by_group.map(|((port, _), _)| port)).map(String::as_str).collect()
    }
}

#[cfg(test)]
mod tests;
