//! Broken configurations: each is a clean one with one thing changed, and the finding is asserted
//! with its place.

mod common;

use common::{check_all, leaf, options, spine};
use serde_json::{Value, json};
use weir_core::Bytes;
use weir_fabric::{Asic, Host, Lookup, Options};

/// Sets a value at a JSON pointer, or adds it.
fn set(root: &mut Value, pointer: &str, value: Value) {
    let (above, key) = pointer.rsplit_once('/').expect("a pointer");
    let key = key.replace("~1", "/").replace("~0", "~");
    let above = root.pointer_mut(above).unwrap_or_else(|| panic!("nothing at {above}"));
    above.as_object_mut().expect("an object").insert(key, value);
}

fn remove(root: &mut Value, pointer: &str) {
    let (above, key) = pointer.rsplit_once('/').expect("a pointer");
    let above = root.pointer_mut(above).expect("a place");
    above.as_object_mut().expect("an object").remove(key).expect("something to remove");
}

/// What one change of the leaf leads to.
struct Case {
    code: &'static str,
    /// Part of the place.
    at: &'static str,
    /// Part of the message.
    says: &'static str,
    change: fn(&mut Value),
}

const PROFILE: &str = "/BUFFER_PROFILE/pg_lossless_100000_5m_profile";

fn cases() -> Vec<Case> {
    let case = |code, at, says, change| Case { code, at, says, change };
    vec![
        case("SN101", "/PORT/Ethernet0/speed", "fast", |c| {
            set(c, "/PORT/Ethernet0/speed", json!("fast"));
        }),
        case("SN101", "/CABLE_LENGTH/AZURE/Ethernet0", "40 feet", |c| {
            set(c, "/CABLE_LENGTH/AZURE/Ethernet0", json!("40 feet"));
        }),
        case("SN101", "/PFC_WD/Ethernet0/detection_time", "100 to 5000", |c| {
            set(c, "/PFC_WD/Ethernet0/detection_time", json!("50"));
        }),
        case("SN101", "/PFC_WD/Ethernet0/restoration_time", "100 to 60000", |c| {
            set(c, "/PFC_WD/Ethernet0/restoration_time", json!("90000"));
        }),
        case("SN101", "/PFC_WD/GLOBAL/POLL_INTERVAL", "100 to 1000", |c| {
            set(c, "/PFC_WD/GLOBAL/POLL_INTERVAL", json!("3000"));
        }),
        case("SN101", "/BUFFER_PG/Ethernet0|4-3", "PORT|RANGE", |c| {
            set(c, "/BUFFER_PG/Ethernet0|4-3", json!({ "profile": "NULL" }));
        }),
        case("SN101", "dynamic_th", "-8 to 7", |c| {
            set(c, &format!("{PROFILE}/dynamic_th"), json!("8"));
        }),
        case("SN101", "/PORT/Ethernet0/mtu", "68 to 9216", |c| {
            set(c, "/PORT/Ethernet0/mtu", json!("91000"));
        }),
        case("SN101", "/PORT/Ethernet0/lanes", "1,2,3,4", |c| {
            set(c, "/PORT/Ethernet0/lanes", json!("1,2,,x"));
        }),
        case("SN101", "/PORT/Ethernet0/admin_status", "up, down", |c| {
            set(c, "/PORT/Ethernet0/admin_status", json!("upp"));
        }),
        case("SN101", "/DEVICE_METADATA/localhost/buffer_model", "dynamic", |c| {
            set(c, "/DEVICE_METADATA/localhost/buffer_model", json!("dynamik"));
        }),
        case("SN101", "/PFC_WD/Ethernet0/pfc_stat_history", "enable, disable", |c| {
            set(c, "/PFC_WD/Ethernet0/pfc_stat_history", json!("on"));
        }),
        case("SN101", "/SCHEDULER/scheduler.0/pir", "a whole number", |c| {
            set(c, "/SCHEDULER/scheduler.0/pir", json!("10G"));
        }),
        case("SN103", "/BUFFER_PG/Ethernt0|3-4", "did you mean `Ethernet0`", |c| {
            let row = c["BUFFER_PG"]["Ethernet0|3-4"].clone();
            set(c, "/BUFFER_PG/Ethernt0|3-4", row);
        }),
        case("SN103", "/PFC_WD/Ethernet99", "PORT has no `Ethernet99`", |c| {
            set(c, "/PFC_WD/Ethernet99", json!({ "action": "drop" }));
        }),
        case("SN103", "/CABLE_LENGTH/AZURE/Ethernet99", "PORT has no", |c| {
            set(c, "/CABLE_LENGTH/AZURE/Ethernet99", json!("5m"));
        }),
        case("SN103", "/PORT_QOS_MAP/Ethernet0/dot1p_to_tc_map", "`GONE`", |c| {
            set(c, "/DOT1P_TO_TC_MAP", json!({ "AZURE": { "3": "3" } }));
            set(c, "/PORT_QOS_MAP/Ethernet0/dot1p_to_tc_map", json!("GONE"));
        }),
        case("SN103", "/PORT_QOS_MAP/Ethernet0/scheduler", "`GONE`", |c| {
            set(c, "/PORT_QOS_MAP/Ethernet0/scheduler", json!("GONE"));
        }),
        case("SN103", "/TUNNEL/MuxTunnel0/encap_tc_to_dscp_map", "`GONE`", |c| {
            let tunnel = json!({ "encap_tc_to_dscp_map": "GONE" });
            set(c, "/TUNNEL", json!({ "MuxTunnel0": tunnel }));
        }),
        case("SN103", "/BUFFER_PORT_INGRESS_PROFILE_LIST/Ethernet0", "`gone`", |c| {
            let list = json!({ "profile_list": "ingress_lossy_profile,gone" });
            set(c, "/BUFFER_PORT_INGRESS_PROFILE_LIST", json!({ "Ethernet0": list }));
        }),
        case("SN306", "/BUFFER_PORT_EGRESS_PROFILE_LIST/Ethernet0", "an egress pool", |c| {
            let list = json!({ "profile_list": "q_lossy_profile,ingress_lossy_profile" });
            set(c, "/BUFFER_PORT_EGRESS_PROFILE_LIST", json!({ "Ethernet0": list }));
        }),
        case("SN102", "/BUFFER_POOL/ingress_lossless_pool", "`mode`", |c| {
            remove(c, "/BUFFER_POOL/ingress_lossless_pool/mode");
        }),
        case("SN103", "/BUFFER_PG/Ethernet0|3-4/profile", "`gone`", |c| {
            set(c, "/BUFFER_PG/Ethernet0|3-4", json!({ "profile": "gone" }));
        }),
        case("SN103", "/PORT_QOS_MAP/Ethernet0/tc_to_pg_map", "`BLUE`", |c| {
            set(c, "/PORT_QOS_MAP/Ethernet0/tc_to_pg_map", json!("BLUE"));
        }),
        case("SN103", "/QUEUE/Ethernet0|3/wred_profile", "`GONE`", |c| {
            set(c, "/QUEUE/Ethernet0|3/wred_profile", json!("GONE"));
        }),
        case("SN104", "/PORT/Ethernet0/mtu", "9100", |c| {
            set(c, "/PORT/Ethernet0/mtu", json!(9100));
        }),
        case("SN201", "_5m_profile/xoff", "B too little", |c| {
            // 25 216 B of response alone are more
            set(c, &format!("{PROFILE}/xoff"), json!("20480"));
            set(c, &format!("{PROFILE}/xon"), json!("9216"));
        }),
        case("SN202", "/PORT_QOS_MAP/Ethernet0/pfc_enable", "priority 3", |c| {
            remove(c, "/BUFFER_PG/Ethernet0|3-4");
        }),
        case("SN203", "/BUFFER_PG/Ethernet0|3-4/profile", "no xoff", |c| {
            set(c, "/BUFFER_PG/Ethernet0|3-4/profile", json!("ingress_lossy_profile"));
        }),
        case("SN204", "_5m_profile/size", "below xon + xoff", |c| {
            set(c, &format!("{PROFILE}/size"), json!("19456"));
        }),
        case("SN205", "_5m_profile/xon", "swapped", |c| {
            set(c, &format!("{PROFILE}/xon"), json!("108544"));
            set(c, &format!("{PROFILE}/xoff"), json!("19456"));
        }),
        case("SN206", "_5m_profile/xon", "are 0", |c| {
            set(c, &format!("{PROFILE}/xon"), json!("0"));
        }),
        case("SN207", "/PORT/Ethernet0", "is for 100000 Mb/s and 5 m", |c| {
            set(c, "/CABLE_LENGTH/AZURE/Ethernet0", json!("300m"));
        }),
        case("SN210", "/CABLE_LENGTH", "Ethernet0", |c| {
            remove(c, "/CABLE_LENGTH/AZURE/Ethernet0");
        }),
        case("SN211", "small_packet_percentage", "50 %", |c| {
            let pattern = json!({ "mtu": "1024", "small_packet_percentage": "50" });
            set(c, "/LOSSLESS_TRAFFIC_PATTERN", json!({ "AZURE": pattern }));
        }),
        case("SN212", "_5m_profile/xoff", "to spare", |c| {
            set(c, &format!("{PROFILE}/xoff"), json!("612140"));
            set(c, &format!("{PROFILE}/size"), json!("700000"));
        }),
        case("SN214", "_5m_profile/xoff", "the rule gives 108544 B", |c| {
            set(c, &format!("{PROFILE}/xoff"), json!("51200"));
        }),
        case("SN301", "/BUFFER_POOL/ingress_lossless_pool/size", "42000000 B", |c| {
            set(c, "/BUFFER_POOL/ingress_lossless_pool/size", json!("45000000"));
        }),
        // 6 groups with 128 000 B each leave 41 232 000 B
        case("SN301", "/BUFFER_POOL/ingress_lossless_pool/size", "less 768000 B", |c| {
            set(c, "/BUFFER_POOL/ingress_lossless_pool/size", json!("41500000"));
        }),
        case("SN303", "/BUFFER_POOL/ingress_lossless_pool/size", "guaranteed", |c| {
            set(c, "/BUFFER_POOL/ingress_lossless_pool/size", json!("500000"));
        }),
        case("SN304", "/BUFFER_POOL/ingress_lossless_pool/xoff", "one group needs", |c| {
            set(c, "/BUFFER_POOL/ingress_lossless_pool/xoff", json!("50000"));
        }),
        case(
            "SN305",
            "/BUFFER_POOL/ingress_lossless_pool/xoff",
            "over_subscribe_ratio is 2",
            |c| {
                set(c, "/BUFFER_POOL/ingress_lossless_pool/xoff", json!("150000"));
                let defaults = json!({ "default_dynamic_th": "0", "over_subscribe_ratio": "2" });
                set(c, "/DEFAULT_LOSSLESS_BUFFER_PARAMETER", json!({ "AZURE": defaults }));
            },
        ),
        case("SN306", "/BUFFER_PG/Ethernet0|0/profile", "egress_lossy_pool", |c| {
            set(c, "/BUFFER_PG/Ethernet0|0/profile", json!("q_lossy_profile"));
        }),
        case("SN307", "/BUFFER_POOL/egress_lossy_pool/percentage", "percentage", |c| {
            set(c, "/BUFFER_POOL/egress_lossy_pool/percentage", json!("50"));
        }),
        case("SN308", "_5m_profile", "both", |c| {
            set(c, &format!("{PROFILE}/static_th"), json!("100000"));
        }),
        case("SN309", "_5m_profile/dynamic_th", "alpha = 1/8", |c| {
            set(c, &format!("{PROFILE}/dynamic_th"), json!("3"));
        }),
        case("SN310", "/BUFFER_QUEUE/Ethernet0|3-4/profile", "static_th", |c| {
            set(c, "/BUFFER_PROFILE/egress_lossless_profile/static_th", json!("100000"));
        }),
        case("SN403", "/BUFFER_PG/Ethernet0|3-4", "group 4", |c| {
            set(c, "/PORT_QOS_MAP/Ethernet0/pfc_enable", json!("3"));
        }),
        case("SN404", "/PORT/Ethernet0/pfc_asym", "Ethernet0", |c| {
            set(c, "/PORT/Ethernet0/pfc_asym", json!("on"));
        }),
        case("SN405", "/PORT/Ethernet0/link_pause", "link pause", |c| {
            set(c, "/PORT/Ethernet0/link_pause", json!("on"));
        }),
        case("SN501", "/PORT_QOS_MAP/Ethernet0/tc_to_pg_map", "stored in group 0", |c| {
            set(c, "/TC_TO_PRIORITY_GROUP_MAP/AZURE/3", json!("0"));
        }),
        case("SN502", "/PORT_QOS_MAP/Ethernet0/tc_to_pg_map", "no PAUSE stops", |c| {
            set(c, "/TC_TO_PRIORITY_GROUP_MAP/AZURE/5", json!("3"));
        }),
        case("SN503", "/PORT_QOS_MAP/Ethernet0/dscp_to_tc_map", "priority 4", |c| {
            set(c, "/DSCP_TO_TC_MAP/AZURE/4", json!("1"));
        }),
        case("SN505", "/PORT_QOS_MAP/Ethernet0/tc_to_queue_map", "DSCP 3 is class 9", |c| {
            set(c, "/DSCP_TO_TC_MAP/AZURE/3", json!("9"));
        }),
        case("SN505", "/PORT_QOS_MAP/Ethernet0/tc_to_pg_map", "has no priority group", |c| {
            remove(c, "/TC_TO_PRIORITY_GROUP_MAP/AZURE/3");
        }),
        case("SN601", "/QUEUE/Ethernet0|3", "no wred_profile", |c| {
            remove(c, "/QUEUE/Ethernet0|3/wred_profile");
        }),
        case("SN602", "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", "minimum", |c| {
            set(c, "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", json!("3000000"));
        }),
        case("SN603", "/WRED_PROFILE/AZURE_LOSSLESS", "pauses at", |c| {
            // alpha 1/256 of 13.9 MB is 54 KB, below 1 MiB
            set(c, &format!("{PROFILE}/dynamic_th"), json!("-8"));
        }),
        case("SN604", "/WRED_PROFILE/AZURE_LOSSLESS/ecn", "drops", |c| {
            set(c, "/WRED_PROFILE/AZURE_LOSSLESS/ecn", json!("ecn_none"));
        }),
        case("SN605", "green_drop_probability", "is 0", |c| {
            set(c, "/WRED_PROFILE/AZURE_LOSSLESS/green_drop_probability", json!("0"));
        }),
        case("SN701", "/PFC_WD/Ethernet0/detection_time", "POLL_INTERVAL", |c| {
            set(c, "/PFC_WD/GLOBAL/POLL_INTERVAL", json!("1000"));
        }),
        case("SN702", "/PFC_WD", "Ethernet0", |c| remove(c, "/PFC_WD/Ethernet0")),
        case("SN703", "/PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable", "pfc_enable is 3,4", |c| {
            set(c, "/PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable", json!("3"));
        }),
        case("SN704", "/PFC_WD/Ethernet0/restoration_time", "100 ms", |c| {
            set(c, "/PFC_WD/Ethernet0/restoration_time", json!("100"));
        }),
        case("SN705", "/PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable", "8 priorities", |c| {
            set(c, "/PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable", json!("0-7"));
        }),
        case("SN706", "/PFC_WD/Ethernet0/action", "alert", |c| {
            set(c, "/PFC_WD/Ethernet0/action", json!("alert"));
        }),
        case("SN801", "/TUNNEL", "dual-ToR", |c| {
            set(c, "/DEVICE_METADATA/localhost/subtype", json!("DualToR"));
        }),
        case("SN801", "/TUNNEL/MuxTunnel0/encap_tc_to_queue_map", "class 3 back in queue 3", |c| {
            set(c, "/TUNNEL", json!({ "MuxTunnel0": { "tunnel_type": "IPINIP" } }));
        }),
        case("SN802", "/TUNNEL/MuxTunnel0/encap_tc_to_queue_map", "queue 6", |c| {
            set(c, "/TC_TO_QUEUE_MAP/AZURE_TUNNEL", json!({ "3": "2", "4": "6" }));
            let tunnel = json!({ "encap_tc_to_queue_map": "AZURE_TUNNEL" });
            set(c, "/TUNNEL", json!({ "MuxTunnel0": tunnel }));
        }),
        // the outer DSCP of what bounces is that of the class itself, or is lossy
        case("SN801", "/TUNNEL/MuxTunnel0/encap_tc_to_dscp_map", "DSCP 3, which is sent", |c| {
            set(c, "/TC_TO_DSCP_MAP", json!({ "T": { "3": "3", "4": "4" } }));
            set(c, "/TUNNEL", json!({ "MuxTunnel0": { "encap_tc_to_dscp_map": "T" } }));
        }),
        case("SN802", "/TUNNEL/MuxTunnel0/encap_tc_to_dscp_map", "DSCP 2, which is", |c| {
            set(c, "/TC_TO_DSCP_MAP", json!({ "T": { "3": "2", "4": "6" } }));
            set(c, "/TUNNEL", json!({ "MuxTunnel0": { "encap_tc_to_dscp_map": "T" } }));
        }),
        // what is unpacked is stored with what servers send, or without headroom
        case("SN801", "/TUNNEL/MuxTunnel0/decap_tc_to_pg_map", "group 3, its own", |c| {
            set(c, "/TC_TO_PRIORITY_GROUP_MAP/T", json!({ "3": "3", "4": "4" }));
            set(c, "/TUNNEL", json!({ "MuxTunnel0": { "decap_tc_to_pg_map": "T" } }));
        }),
        case("SN802", "/TUNNEL/MuxTunnel0/decap_tc_to_pg_map", "no headroom", |c| {
            set(c, "/TC_TO_PRIORITY_GROUP_MAP/T", json!({ "3": "2", "4": "6" }));
            set(c, "/TUNNEL", json!({ "MuxTunnel0": { "decap_tc_to_pg_map": "T" } }));
        }),
        case("SN105", "", "no port enables PFC", |c| {
            let empty = json!({ "PORT": { "Ethernet0": { "speed": "100000" } } });
            *c = empty;
        }),
    ]
}

#[test]
fn each_broken_configuration_has_its_finding() {
    let all = cases();
    assert!(all.len() >= 30);
    for case in all {
        let mut config = leaf();
        (case.change)(&mut config);
        let found = check_all(&[config], &[], options());
        let is = |f: &weir_fabric::Finding| {
            f.code.code == case.code && f.pointer.contains(case.at) && f.message.contains(case.says)
        };
        let shown: Vec<String> =
            found.iter().map(|f| format!("{} {} {}", f.code.code, f.pointer, f.message)).collect();
        assert!(found.iter().any(is), "{} {}: {shown:#?}", case.code, case.at);
    }
}

/// Two switches, with a change of the spine.
fn pair(change: impl FnOnce(&mut Value)) -> Vec<weir_fabric::Finding> {
    let mut far = spine();
    change(&mut far);
    check_all(&[leaf(), far], &[], options())
}

fn codes(found: &[weir_fabric::Finding]) -> Vec<&'static str> {
    found.iter().map(|f| f.code.code).collect()
}

#[test]
fn both_ends_of_a_link_are_compared() {
    let port = |field: &str| format!("/PORT/Ethernet0/{field}");
    let found = pair(|c| remove(c, "/PORT_QOS_MAP/Ethernet0/pfc_enable"));
    assert!(codes(&found).contains(&"SN401"), "{found:#?}");
    let found = pair(|c| set(c, "/PORT_QOS_MAP/Ethernet0/pfc_enable", json!("3")));
    assert!(codes(&found).contains(&"SN402"), "{found:#?}");
    let found = pair(|c| set(c, &port("speed"), json!("200000")));
    assert!(codes(&found).contains(&"SN406"), "{found:#?}");
    let found = pair(|c| set(c, &port("mtu"), json!("1500")));
    assert!(codes(&found).contains(&"SN407"), "{found:#?}");
    let found = pair(|c| set(c, "/CABLE_LENGTH/AZURE/Ethernet0", json!("40m")));
    assert!(codes(&found).contains(&"SN408"), "{found:#?}");
    let found = pair(|c| set(c, "/DEVICE_NEIGHBOR/Ethernet0/port", json!("Ethernet4")));
    assert!(codes(&found).contains(&"SN409"), "{found:#?}");
    let found = pair(|c| {
        set(c, "/DSCP_TO_TC_MAP/AZURE/3", json!("1"));
        set(c, "/DSCP_TO_TC_MAP/AZURE/26", json!("3"));
    });
    let across: Vec<_> = found.iter().filter(|f| f.code.code == "SN504").collect();
    assert_eq!(across.len(), 2, "{found:#?}");
}

#[test]
fn the_lookup_table_is_compared() {
    let with = |text: &str, change: fn(&mut Value)| {
        let lookup = Lookup::read("x.ini", text).expect("a table");
        let mut config = leaf();
        change(&mut config);
        check_all(&[config], &[], Options { lookup: Some(lookup), ..options() })
    };
    let found = with("100000 5m 128000 19456 99999 0", |_| {});
    assert!(codes(&found).contains(&"SN209"), "{found:#?}");
    // the group is made from the table, which has no such row
    let found = with("100000 40m 141312 19456 121856 0", |c| remove(c, "/BUFFER_PG/Ethernet0|3-4"));
    assert!(codes(&found).contains(&"SN208"), "{found:#?}");
    // and with the row all is well
    let found = with("100000 5m 128000 19456 108544 0", |c| remove(c, "/BUFFER_PG/Ethernet0|3-4"));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_headroom_of_a_port_and_the_memory_of_a_chip_are_limits() {
    let small = Options { max_headroom: Some(Bytes::new(200_000)), ..options() };
    let found = check_all(&[leaf()], &[], small);
    assert!(codes(&found).contains(&"SN213"), "{found:#?}");
    // sonic-buildimage issue 28657: 808 546 cells of 636 183 were asked for
    let mut config = leaf();
    let pool = "/BUFFER_POOL/ingress_lossless_pool/size";
    set(&mut config, pool, json!((808_546u64 * 420).to_string()));
    let asic = Asic::find("tomahawk-6");
    let found = check_all(&[config], &[], Options { asic, ..Options::default() });
    let memory = found.iter().find(|f| f.code.code == "SN301").expect("too much");
    assert!(memory.message.contains("808546 of 636183 cells"), "{}", memory.message);
    // what is not known is said
    let asic = Asic::find("tofino-2");
    let found = check_all(&[leaf()], &[], Options { asic, ..Options::default() });
    assert!(codes(&found).contains(&"SN302"), "{found:#?}");
    // that of a family that is known needs no option: 16 MiB less 768 000 B
    let asic = Asic::find("spectrum-1");
    let of = |size: &str| {
        let mut config = leaf();
        set(&mut config, pool, json!(size));
        codes(&check_all(&[config], &[], Options { asic, ..Options::default() }))
    };
    assert!(of("16009216").is_empty(), "{:?}", of("16009216"));
    assert_eq!(of("16009217"), ["SN301"]);
}

#[test]
fn hosts_are_compared_with_their_switches() {
    let of = |text: &str| check_all(&[leaf()], &[Host::read("roce.sh", text)], options());
    for (text, code, says) in [
        ("cma_roce_tos -d mlx5_0 -t 14", "SN901", "DSCP 3 is ToS 12"),
        ("cma_roce_tos -d mlx5_0 -t 3", "SN901", "ECN bits"),
        ("cma_roce_tos -d mlx5_0 -t 4", "SN901", "write ToS 16"),
        ("cma_roce_tos -d mlx5_0 -t 104", "SN902", "DSCP 26"),
        ("mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0", "SN903", "priorities 3 here, 3,4"),
        ("mlnx_qos -i eth0 --trust pcp", "SN904", "pcp"),
        ("mlnx_qos -i eth0 --dscp2prio set,26,3", "SN902", "DSCP 26"),
        ("\tprio:3 dscp:25,24,", "SN902", "DSCP 24,25 is priority 3 here"),
        ("Priority trust state: pcp", "SN904", "pcp"),
        ("dcb pfc set dev eth0 prio-pfc all:on 4:off", "SN903", "0,1,2,3,5,6,7 here"),
        ("Pause parameters for eth0:\nRX: on\nTX: off", "SN405", "RX: on"),
    ] {
        let found = of(text);
        let is = |f: &&weir_fabric::Finding| f.code.code == code && f.message.contains(says);
        assert!(found.iter().find(is).is_some_and(|f| f.file == 1), "{text}: {found:#?}");
    }
    let right = "mlnx_qos -i eth0 --trust dscp --pfc 0,0,0,1,1,0,0,0\ncma_roce_tos -t 12\n\
                 Pause parameters for eth0:\nRX: off\nTX: off\n";
    assert!(of(right).is_empty(), "{:#?}", of(right));
}

#[test]
fn every_finding_about_headroom_names_its_rule() {
    for case in cases() {
        let mut config = leaf();
        (case.change)(&mut config);
        for f in check_all(&[config], &[], options()) {
            if matches!(f.code.code, "SN201" | "SN203" | "SN211" | "SN212" | "SN214" | "SN304") {
                assert!(f.rule.is_some(), "{f:#?}");
            }
        }
    }
}

/// Every code is found by some test of this file, or is about links, tables, hosts or limits.
#[test]
fn every_code_has_a_case() {
    let elsewhere = [
        "SN208", "SN209", "SN213", "SN302", "SN401", "SN402", "SN406", "SN407", "SN408", "SN409",
        "SN504", "SN901", "SN902", "SN903", "SN904",
    ];
    let all = cases();
    for code in weir_fabric::CODES {
        let here = all.iter().any(|c| c.code == code.code);
        assert!(here || elsewhere.contains(&code.code), "{}", code.code);
    }
}
