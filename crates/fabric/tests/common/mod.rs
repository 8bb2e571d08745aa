//! Configurations in the form that SONiC's templates produce, written from the field tables.

use serde_json::{Map, Value, json};
use weir_fabric::{Finding, Host, Options, Switch, check};

/// What tells one switch of the test fabric from another.
pub(crate) struct Plan<'a> {
    pub(crate) name: &'a str,
    pub(crate) hwsku: &'a str,
    pub(crate) speed: u64,
    /// Port, metres, neighbour and its port.
    pub(crate) links: &'a [(&'a str, u64, &'a str, &'a str)],
    /// xon, xoff, size of the lossless profile.
    pub(crate) sizes: (u64, u64, u64),
    /// Shared headroom of the pool.
    pub(crate) shared: u64,
}

fn text(n: u64) -> Value {
    Value::String(n.to_string())
}

fn same(pairs: &[(u8, u8)]) -> Value {
    pairs.iter().map(|(a, b)| (a.to_string(), text(u64::from(*b)))).collect::<Map<_, _>>().into()
}

/// A whole configuration.
pub(crate) fn config(p: &Plan<'_>) -> Value {
    let mut port = Map::new();
    let (mut cable, mut pg, mut buffer_queue) = (Map::new(), Map::new(), Map::new());
    let (mut qos, mut queue, mut wd, mut neighbour) =
        (Map::new(), Map::new(), Map::new(), Map::new());
    wd.insert("GLOBAL".into(), json!({ "POLL_INTERVAL": "200" }));
    let cables: Vec<u64> = p.links.iter().map(|l| l.1).collect();
    let name = format!("pg_lossless_{}_{}m_profile", p.speed, cables[0]);
    for (at, metres, other, theirs) in p.links {
        port.insert(
            (*at).into(),
            json!({ "speed": p.speed.to_string(), "lanes": "1,2,3,4", "mtu": "9100",
                    "admin_status": "up", "alias": at }),
        );
        cable.insert((*at).into(), format!("{metres}m").into());
        pg.insert(format!("{at}|0"), json!({ "profile": "ingress_lossy_profile" }));
        pg.insert(format!("{at}|3-4"), json!({ "profile": name }));
        buffer_queue.insert(format!("{at}|0-2"), json!({ "profile": "q_lossy_profile" }));
        buffer_queue.insert(format!("{at}|3-4"), json!({ "profile": "egress_lossless_profile" }));
        qos.insert(
            (*at).into(),
            json!({ "pfc_enable": "3,4", "pfcwd_sw_enable": "3,4", "dscp_to_tc_map": "AZURE",
                    "tc_to_queue_map": "AZURE", "tc_to_pg_map": "AZURE",
                    "pfc_to_queue_map": "AZURE" }),
        );
        for q in 0..8 {
            let mut row = json!({ "scheduler": if q == 3 || q == 4 { "scheduler.1" }
                                               else { "scheduler.0" } });
            if q == 3 || q == 4 {
                row["wred_profile"] = "AZURE_LOSSLESS".into();
            }
            queue.insert(format!("{at}|{q}"), row);
        }
        wd.insert(
            (*at).into(),
            json!({ "action": "drop", "detection_time": "200", "restoration_time": "200" }),
        );
        neighbour.insert((*at).into(), json!({ "name": other, "port": theirs }));
    }
    let (xon, xoff, size) = p.sizes;
    let mut pool = json!({ "type": "ingress", "mode": "dynamic", "size": "13945824" });
    if p.shared > 0 {
        pool["xoff"] = text(p.shared);
    }
    let dscp: Vec<(u8, u8)> = (0..64)
        .map(|d| {
            (
                d,
                match d {
                    3 => 3,
                    4 => 4,
                    8 => 0,
                    5 => 2,
                    46 => 5,
                    48 => 6,
                    _ => 1,
                },
            )
        })
        .collect();
    json!({
        "DEVICE_METADATA": { "localhost": { "hostname": p.name, "hwsku": p.hwsku,
            "platform": "x86_64-test", "type": "ToRRouter", "buffer_model": "traditional" } },
        "PORT": port,
        "CABLE_LENGTH": { "AZURE": cable },
        "BUFFER_POOL": {
            "ingress_lossless_pool": pool,
            "egress_lossless_pool": { "type": "egress", "mode": "static", "size": "15982720" },
            "egress_lossy_pool": { "type": "egress", "mode": "dynamic", "size": "9243812" },
        },
        "BUFFER_PROFILE": {
            name: { "pool": "ingress_lossless_pool", "size": size.to_string(),
                    "xon": xon.to_string(), "xoff": xoff.to_string(), "dynamic_th": "0" },
            "ingress_lossy_profile": { "pool": "ingress_lossless_pool", "size": "0",
                                       "dynamic_th": "3" },
            "egress_lossless_profile": { "pool": "egress_lossless_pool", "size": "0",
                                         "static_th": "15982720" },
            "q_lossy_profile": { "pool": "egress_lossy_pool", "size": "0", "dynamic_th": "3" },
        },
        "BUFFER_PG": pg,
        "BUFFER_QUEUE": buffer_queue,
        "PORT_QOS_MAP": qos,
        "DSCP_TO_TC_MAP": { "AZURE": same(&dscp) },
        "TC_TO_QUEUE_MAP": { "AZURE": same(&[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5),
                                             (6, 6), (7, 7)]) },
        "TC_TO_PRIORITY_GROUP_MAP": { "AZURE": same(&[(0, 0), (1, 0), (2, 0), (3, 3), (4, 4),
                                                      (5, 0), (6, 0), (7, 7)]) },
        "MAP_PFC_PRIORITY_TO_QUEUE": { "AZURE": same(&[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4),
                                                       (5, 5), (6, 6), (7, 7)]) },
        "SCHEDULER": { "scheduler.0": { "type": "DWRR", "weight": "14" },
                       "scheduler.1": { "type": "DWRR", "weight": "15" } },
        "QUEUE": queue,
        "WRED_PROFILE": { "AZURE_LOSSLESS": {
            "ecn": "ecn_all", "wred_green_enable": "true", "wred_yellow_enable": "true",
            "wred_red_enable": "true", "green_min_threshold": "1048576",
            "green_max_threshold": "2097152", "green_drop_probability": "5",
            "yellow_min_threshold": "1048576", "yellow_max_threshold": "2097152",
            "yellow_drop_probability": "5", "red_min_threshold": "1048576",
            "red_max_threshold": "2097152", "red_drop_probability": "5" } },
        "PFC_WD": wd,
        "DEVICE_NEIGHBOR": neighbour,
        "VLAN": { "Vlan1000": { "vlanid": "1000" } },
    })
}

/// A leaf of 100 Gb/s ports: two servers at 5 m, named profile for 5 m; Spectrum-2 sizes.
pub(crate) fn leaf() -> Value {
    config(&Plan {
        name: "leaf1",
        hwsku: "ACS-MSN3700",
        speed: 100_000,
        links: &[
            ("Ethernet0", 5, "server1", "eth0"),
            ("Ethernet4", 5, "server2", "eth0"),
            ("Ethernet8", 5, "spine1", "Ethernet0"),
        ],
        sizes: (19_456, 108_544, 128_000),
        shared: 0,
    })
}

/// The spine that it leads to.
pub(crate) fn spine() -> Value {
    config(&Plan {
        name: "spine1",
        hwsku: "ACS-MSN3700",
        speed: 100_000,
        links: &[("Ethernet0", 5, "leaf1", "Ethernet8"), ("Ethernet4", 5, "server3", "eth0")],
        sizes: (19_456, 108_544, 128_000),
        shared: 0,
    })
}

/// Reads and checks; the memory is given, so that nothing is unknown.
pub(crate) fn check_all(values: &[Value], hosts: &[Host], options: Options) -> Vec<Finding> {
    let (mut switches, mut findings) = (Vec::new(), Vec::new());
    for (i, value) in values.iter().enumerate() {
        let (file, text) = (format!("switch{i}.json"), value.to_string());
        let switch = Switch::read(i, &file, &text, &mut findings).expect("a JSON object");
        switches.push(switch);
    }
    check(&switches, hosts, &options, findings)
}

/// Options that know the memory.
pub(crate) fn options() -> Options {
    Options { memory: Some(weir_core::Bytes::new(42_000_000)), ..Options::default() }
}
