//! Clean configurations pass; mutated ones never panic; patches mend.

mod common;

use common::{Plan, check_all, config, leaf, options, spine};
use serde_json::{Value, json};
use weir_core::Severity;
use weir_core::rng::Stream;
use weir_fabric::{Asic, Finding, Host, Options, Report, Rule, Switch, check, import, patch};

fn shown(found: &[Finding]) -> Vec<String> {
    found.iter().map(|f| format!("{} {} {}", f.code.code, f.pointer, f.message)).collect()
}

#[test]
fn configurations_of_the_templates_pass_clean() {
    let found = check_all(&[leaf(), spine()], &[], options());
    assert!(found.is_empty(), "{:#?}", shown(&found));
    // a shared headroom pool: size is xon, the pool has the headroom
    let shared = config(&Plan {
        name: "leaf9",
        hwsku: "Mellanox-SN5600",
        speed: 400_000,
        links: &[("Ethernet0", 40, "server1", "eth0"), ("Ethernet8", 40, "server2", "eth0")],
        sizes: {
            let rule = Rule { shared: true, ..Rule::new(spectrum(), 400_000, 40) };
            let s = rule.apply().expect("a rule");
            (s.xon, s.xoff, s.size)
        },
        shared: 4_194_112,
    });
    let found = check_all(&[shared], &[], options());
    assert!(found.is_empty(), "{:#?}", shown(&found));
}

fn spectrum() -> &'static Asic {
    Asic::find("spectrum-4").expect("a family")
}

#[test]
fn a_dynamic_model_whose_profiles_the_switch_computes_passes_clean() {
    let mut c = leaf();
    c["DEVICE_METADATA"]["localhost"]["buffer_model"] = json!("dynamic");
    for port in ["Ethernet0", "Ethernet4", "Ethernet8"] {
        c["BUFFER_PG"][format!("{port}|3-4")] = json!({ "profile": "NULL" });
    }
    c["BUFFER_PROFILE"].as_object_mut().expect("a table").remove("pg_lossless_100000_5m_profile");
    c["LOSSLESS_TRAFFIC_PATTERN"] =
        json!({ "AZURE": { "mtu": "1024", "small_packet_percentage": "100" } });
    c["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] = json!({ "AZURE": { "default_dynamic_th": "0" } });
    let found = check_all(std::slice::from_ref(&c), &[], options());
    assert!(found.is_empty(), "{:#?}", shown(&found));
    // its headroom is what the rule of the family gives, for two groups of three ports
    let (switch, _) = read(&c);
    let margins = weir_fabric::checks::margins(&switch, &options());
    let configured: Vec<u64> = margins.iter().map(|m| m.configured).collect();
    assert_eq!(configured, [108_544; 6]);
    assert!(margins.iter().all(|m| m.metres > 500.0), "{margins:?}");
    // and that is compared with the budget, too: here peers take longer to react than is allowed
    let slow = Options { response: weir_core::Time::from_us(20).into(), ..options() };
    let found = check_all(&[c], &[], slow);
    let small = found.iter().find(|f| f.code.code == "SN201").expect("20 us are 250 KB");
    assert_eq!(small.pointer, "/BUFFER_PG/Ethernet0|3-4");
}

#[test]
fn a_dual_tor_with_remapped_tunnels_passes_clean() {
    let mut c = leaf();
    c["DEVICE_METADATA"]["localhost"]["subtype"] = json!("DualToR");
    // the port to the fabric pauses 2 and 6, too, for what bounces
    c["PORT_QOS_MAP"]["Ethernet8"] = json!({
        "pfc_enable": "2,3,4,6", "pfcwd_sw_enable": "2,3,4,6", "dscp_to_tc_map": "AZURE",
        "tc_to_queue_map": "AZURE", "tc_to_pg_map": "UPLINK", "pfc_to_queue_map": "AZURE" });
    let profile = json!({ "profile": "pg_lossless_100000_5m_profile" });
    c["BUFFER_PG"]["Ethernet8|2"] = profile.clone();
    c["BUFFER_PG"]["Ethernet8|6"] = profile;
    for q in [2, 6] {
        c["QUEUE"][format!("Ethernet8|{q}")]["wred_profile"] = json!("AZURE_LOSSLESS");
        c["BUFFER_QUEUE"][format!("Ethernet8|{q}")] =
            json!({ "profile": "egress_lossless_profile" });
    }
    c["BUFFER_QUEUE"].as_object_mut().expect("a table").remove("Ethernet8|0-2");
    c["TC_TO_PRIORITY_GROUP_MAP"]["UPLINK"] = json!({ "0": "0", "1": "0", "2": "2", "3": "3",
        "4": "4", "5": "0", "6": "6", "7": "7" });
    c["TC_TO_QUEUE_MAP"]["AZURE_TUNNEL"] = json!({ "0": "0", "3": "2", "4": "6" });
    c["TC_TO_PRIORITY_GROUP_MAP"]["AZURE_TUNNEL"] = json!({ "0": "0", "3": "2", "4": "6" });
    c["TC_TO_DSCP_MAP"] = json!({ "AZURE_TUNNEL": { "0": "8", "3": "2", "4": "6", "8": "33" } });
    c["DSCP_TO_TC_MAP"]["AZURE_TUNNEL"] = json!({ "2": "3", "6": "4" });
    // packets from the other ToR have DSCP 2 and 6 outside
    c["DSCP_TO_TC_MAP"]["UPLINK"] = c["DSCP_TO_TC_MAP"]["AZURE"].clone();
    c["DSCP_TO_TC_MAP"]["UPLINK"]["2"] = json!("2");
    c["DSCP_TO_TC_MAP"]["UPLINK"]["6"] = json!("6");
    c["PORT_QOS_MAP"]["Ethernet8"]["dscp_to_tc_map"] = json!("UPLINK");
    let names = ["encap_tc_to_queue_map", "encap_tc_to_dscp_map", "decap_tc_to_pg_map"];
    c["TUNNEL"] = json!({ "MuxTunnel0": { "decap_dscp_to_tc_map": "AZURE_TUNNEL" } });
    for name in names {
        c["TUNNEL"]["MuxTunnel0"][name] = json!("AZURE_TUNNEL");
    }
    let found = check_all(&[c], &[], options());
    assert!(found.is_empty(), "{:#?}", shown(&found));
}

/// Some templates use a ninth class for management, and have multicast queues after the eight.
#[test]
fn more_classes_and_queues_than_eight_pass_clean() {
    let mut c = leaf();
    c["DSCP_TO_TC_MAP"]["AZURE"]["33"] = json!("8");
    c["TC_TO_QUEUE_MAP"]["AZURE"]["8"] = json!("7");
    c["TC_TO_PRIORITY_GROUP_MAP"]["AZURE"]["8"] = json!("0");
    c["BUFFER_QUEUE"]["Ethernet0|8-15"] = json!({ "profile": "q_lossy_profile" });
    c["QUEUE"]["Ethernet0|8"] = json!({ "scheduler": "scheduler.0" });
    c["BUFFER_PORT_INGRESS_PROFILE_LIST"] =
        json!({ "Ethernet0": { "profile_list": "ingress_lossy_profile" } });
    c["BUFFER_PORT_EGRESS_PROFILE_LIST"] = json!({ "Ethernet0": {
        "profile_list": "egress_lossless_profile,q_lossy_profile" } });
    c["PORT_QOS_MAP"]["global"] = json!({ "dscp_to_tc_map": "AZURE" });
    let found = check_all(&[c], &[], options());
    assert!(found.is_empty(), "{:#?}", shown(&found));
}

/// A switch that is read, and its findings.
fn read(value: &Value) -> (Switch, Vec<Finding>) {
    let mut out = Vec::new();
    let switch = Switch::read(0, "leaf.json", &value.to_string(), &mut out).expect("a JSON object");
    let found = check(std::slice::from_ref(&switch), &[], &options(), out);
    (switch, found)
}

#[test]
fn a_patch_mends_what_it_can() {
    let mut c = leaf();
    let profile = "pg_lossless_100000_5m_profile";
    c["BUFFER_PROFILE"][profile]["xoff"] = json!("20480");
    c["PFC_WD"]["Ethernet0"]["detection_time"] = json!("50");
    c["PFC_WD"].as_object_mut().expect("a table").remove("Ethernet4");
    c["PORT_QOS_MAP"]["Ethernet0"]["pfcwd_sw_enable"] = json!("3");
    c["PORT"]["Ethernet8"]["pfc_asym"] = json!("on");
    c["WRED_PROFILE"]["AZURE_LOSSLESS"]["green_min_threshold"] = json!("3000000");
    let (switch, found) = read(&c);
    assert!(found.len() >= 6, "{:#?}", shown(&found));
    let operations = patch::patch(0, &switch.root, &found);
    let mut mended = c.clone();
    patch::apply(&mut mended, &operations).expect("it fits");
    let (_, left) = read(&mended);
    assert!(left.is_empty(), "{:#?}", shown(&left));
    // the headroom is what the rule of the family gives, and size follows
    assert_eq!(mended["BUFFER_PROFILE"][profile]["xoff"], json!("108544"));
    let groups = [("Ethernet0".to_owned(), profile.to_owned())];
    assert_eq!(patch::drained(&operations, &groups), ["Ethernet0"]);
    // a second patch has nothing to do
    let (switch, found) = read(&mended);
    assert!(patch::patch(0, &switch.root, &found).is_empty());
}

/// The spine's cable is longer than it says: with the true length both ends need more headroom
/// than before, which only a second look shows.
#[test]
fn a_patch_mends_what_its_own_changes_make_necessary() {
    let (mut a, b) = (leaf(), spine());
    a["CABLE_LENGTH"]["AZURE"]["Ethernet8"] = json!("300m");
    let read_both = |roots: &[Value]| {
        let mut out = Vec::new();
        let read = |(i, root): (usize, &Value)| {
            Switch::read(i, "x.json", &root.to_string(), &mut out).expect("a JSON object")
        };
        let switches: Vec<Switch> = roots.iter().enumerate().map(read).collect();
        let found = check(&switches, &[], &options(), out);
        (switches, found)
    };
    let mut roots = vec![a, b];
    let (switches, found) = read_both(&roots);
    let patches = patch::mend(&switches, &[], &options(), &found);
    for (root, patch) in roots.iter_mut().zip(&patches) {
        patch::apply(root, patch).expect("it fits");
    }
    let (switches, left) = read_both(&roots);
    let again = patch::mend(&switches, &[], &options(), &left);
    assert!(again.iter().all(Vec::is_empty), "{again:#?}");
    assert!(left.is_empty(), "{:#?}", shown(&left));
    // each end has a profile for its link; that of the other ports is as it was
    for (root, port) in roots.iter().zip(["Ethernet8", "Ethernet0"]) {
        let new = "pg_lossless_100000_300m_profile";
        assert_eq!(root["BUFFER_PG"][format!("{port}|3-4")]["profile"], json!(new));
        let (new, old) = (&root["BUFFER_PROFILE"][new], "pg_lossless_100000_5m_profile");
        // 1024 + 3 (9100 + 37 878.8 + 819.2 + 25 216) = 220 066 B, in KiB
        assert_eq!((&new["xoff"], &new["size"]), (&json!("220160"), &json!("239616")));
        assert_eq!(new["dynamic_th"], json!("0"));
        assert_eq!(root["BUFFER_PROFILE"][old]["xoff"], json!("108544"));
    }
}

#[test]
fn sarif_has_the_properties_that_its_schema_requires() {
    let mut c = leaf();
    c["PORT"]["Ethernet0"]["speed"] = json!("fast");
    c["PFC_WD"].as_object_mut().expect("a table").remove("Ethernet4");
    c["BUFFER_PROFILE"]["pg_lossless_100000_5m_profile"]["xoff"] = json!("9999999");
    let text = serde_json::to_string_pretty(&c).expect("text");
    for (file, uri) in [
        ("./a b/leaf:1.json", "a%20b/leaf%3A1.json"),
        ("/etc/sonic/config_db.json", "file:///etc/sonic/config_db.json"),
        ("\u{e4}.json", "%C3%A4.json"),
    ] {
        let mut out = Vec::new();
        let switch = Switch::read(0, file, &text, &mut out).expect("an object");
        let (switches, host) = ([switch], Host::read("roce.sh", "mlnx_qos -i e --pfc 0,0,0,0\n"));
        let hosts = [host];
        let found = check(&switches, &hosts, &Options::default(), out);
        let report = Report { switches: &switches, hosts: &hosts, findings: &found, margins: &[] };
        let sarif = report.sarif();
        assert_eq!(sarif["version"], json!("2.1.0"));
        assert!(sarif["$schema"].as_str().is_some_and(|s| s.ends_with("sarif-2.1.0.json")));
        let run = &sarif["runs"][0];
        assert!(run["tool"]["driver"]["name"].as_str().is_some_and(|name| !name.is_empty()));
        let text_of = |v: &Value| v.as_str().is_some_and(|text| !text.trim().is_empty());
        let level = |v: &Value| ["none", "note", "warning", "error"].iter().any(|l| v == l);
        let rules = run["tool"]["driver"]["rules"].as_array().expect("a list");
        for rule in rules {
            assert!(text_of(&rule["id"]) && text_of(&rule["shortDescription"]["text"]), "{rule}");
            assert!(level(&rule["defaultConfiguration"]["level"]), "{rule}");
        }
        let results = run["results"].as_array().expect("a list");
        assert_eq!(results.len(), found.len());
        let levels: std::collections::BTreeSet<&str> =
            results.iter().filter_map(|r| r["level"].as_str()).collect();
        assert!(levels.len() == 3, "errors, warnings and notes: {levels:?}");
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index"));
            assert_eq!(rules[index.expect("small")]["id"], result["ruleId"]);
            assert!(level(&result["level"]) && text_of(&result["message"]["text"]), "{result}");
            let place = &result["locations"][0]["physicalLocation"];
            assert!(place["region"]["startLine"].as_u64().is_some_and(|n| n >= 1), "{result}");
            let at = place["artifactLocation"]["uri"].as_str().expect("a URI");
            assert!(at == uri || at == "roce.sh", "{at}");
        }
    }
}

#[test]
fn sarif_and_json_name_file_line_and_code() {
    let mut c = leaf();
    c["PORT"]["Ethernet0"]["speed"] = json!("fast");
    let text = serde_json::to_string_pretty(&c).expect("text");
    let mut out = Vec::new();
    let switch = Switch::read(0, "leaf.json", &text, &mut out).expect("an object");
    let switches = [switch];
    let found = check(&switches, &[], &options(), out);
    let report = Report { switches: &switches, hosts: &[], findings: &found, margins: &[] };
    let line = text.lines().position(|l| l.contains("\"fast\"")).expect("the line") + 1;
    let sarif = report.sarif();
    assert_eq!(sarif["version"], json!("2.1.0"));
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], json!("SN101"));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], json!(line));
    assert_eq!(place["artifactLocation"]["uri"], json!("leaf.json"));
    let json = report.json();
    assert_eq!(json["findings"][0]["path"], json!("/PORT/Ethernet0/speed"));
    assert_eq!(json["errors"], json!(report.count(Severity::Error)));
    let text = report.text(&|word, _| word.to_owned());
    assert!(text.contains(&format!("leaf.json:{line} /PORT/Ethernet0/speed")), "{text}");
}

#[test]
fn an_import_has_the_links_and_lists_what_has_no_counterpart() {
    let mut out = Vec::new();
    let switches: Vec<Switch> = [leaf(), spine()]
        .iter()
        .enumerate()
        .map(|(i, c)| Switch::read(i, "x.json", &c.to_string(), &mut out).expect("an object"))
        .collect();
    let text = import::convert(&switches, &Options::default()).expect("three hosts");
    for part in [
        "hosts = [\"server1\", \"server2\", \"server3\"]",
        "\"leaf1 spine1 100000Mbps 5m\"",
        "\"server1 leaf1 100000Mbps 5m\"",
        "lossless = [3, 4]",
        "headroom = \"108544B\"",
        "kmin = \"1048576B\"",
        "detect = \"200ms\"",
        "tables that were not used: VLAN",
        // frames of 9100 + 18 B, of which 62 are headers
        "payload = \"9056B\"",
        "header = \"62B\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let alone = import::convert(&[], &Options::default());
    assert!(alone.is_err());
}

/// Changes a random part of a value: removes it, or replaces it by something else.
fn mutate(value: &mut Value, draw: &mut Stream) {
    let junk = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!([]),
        json!({}),
        json!(""),
        json!("99999999999999999999"),
        json!("-5"),
        json!("3-"),
        json!("NULL"),
        json!("\u{202e}|/~"),
        json!({ "a": { "b": "c" } }),
    ];
    match value {
        Value::Object(map) if !map.is_empty() && draw.below(8) > 0 => {
            let at = draw.below(map.len() as u64) as usize;
            let key = map.keys().nth(at).cloned().expect("it has so many");
            match draw.below(6) {
                0 => drop(map.remove(&key)),
                1 => {
                    let old = map.remove(&key).expect("it is there");
                    map.insert(format!("{key}|x"), old);
                }
                _ => mutate(&mut map[&key], draw),
            }
        }
        other => *other = junk[draw.below(junk.len() as u64) as usize].clone(),
    }
}

#[test]
fn mutated_files_never_panic() {
    for seed in 0..500 {
        let mut draw = Stream::new(seed, "mutations", 0);
        let mut values = [leaf(), spine()];
        for _ in 0..=draw.below(6) {
            mutate(&mut values[draw.below(2) as usize], &mut draw);
        }
        let mut out = Vec::new();
        let texts = values.map(|v| v.to_string());
        let read = texts.iter().enumerate().filter_map(|(i, text)| {
            // some are cut in the middle, too
            let end = if draw.below(10) == 0 { text.len() / 2 } else { text.len() };
            Switch::read(i, "x.json", text.get(..end)?, &mut out).ok()
        });
        let mut switches: Vec<Switch> = read.collect();
        if switches.len() < 2 {
            switches.clear();
            out.clear();
        }
        let found = check(&switches, &[], &Options::default(), out);
        let report = Report { switches: &switches, hosts: &[], findings: &found, margins: &[] };
        let _ = (report.text(&|w, _| w.to_owned()), report.json(), report.sarif());
        let _ = import::convert(&switches, &Options::default());
        for switch in &switches {
            let operations = patch::patch(switch.index, &switch.root, &found);
            let mut mended = switch.root.clone();
            let _ = patch::apply(&mut mended, &operations);
        }
    }
}
