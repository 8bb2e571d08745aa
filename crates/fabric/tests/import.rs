//! What an import makes of buffers: shared headroom, egress thresholds, cells.

mod common;

use common::{Plan, check_all, config, leaf, options, spine};
use serde_json::{Value, json};
use weir_fabric::{Asic, Options, Switch, import};

fn convert(values: &[Value], options: &Options) -> String {
    let mut out = Vec::new();
    let read = |(i, c): (usize, &Value)| {
        Switch::read(i, "x.json", &c.to_string(), &mut out).expect("an object")
    };
    let switches: Vec<Switch> = values.iter().enumerate().map(read).collect();
    import::convert(&switches, options).expect("hosts")
}

fn one(value: &Value) -> String {
    convert(std::slice::from_ref(value), &Options::default())
}

/// The line of a key, without the key.
fn key<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|l| l.strip_prefix(name)?.strip_prefix(" = "))
}

fn notes(text: &str) -> Vec<&str> {
    text.lines().filter_map(|l| l.strip_prefix("# - ")).collect()
}

/// `q_lossy_profile` has dynamic_th 3 in a pool of 9 243 812 B; the fixed threshold of lossless
/// queues is their whole pool, which limits nothing. The family has cells of 144 B.
#[test]
fn egress_profiles_of_the_templates_become_thresholds_of_lossy_queues() {
    let clean = [leaf(), spine()];
    assert!(check_all(&clean, &[], options()).is_empty());
    let text = convert(&clean, &Options::default());
    assert_eq!(key(&text, "egress"), Some("{ alpha = \"8\", pool = \"9243812B\" }"), "{text}");
    assert_eq!(key(&text, "cell"), Some("\"144B\""));
    assert!(!notes(&text).iter().any(|n| n.contains("queues")), "{text}");
}

#[test]
fn fixed_egress_thresholds_become_limits() {
    let mut c = leaf();
    c["BUFFER_PROFILE"]["q_lossy_profile"] =
        json!({ "pool": "egress_lossy_pool", "size": "1518", "static_th": "200000" });
    c["BUFFER_PROFILE"]["egress_lossless_profile"]["static_th"] = json!("500000");
    let text = one(&c);
    let wanted = "{ limit = \"200000B\", lossless = \"500000B\" }";
    assert_eq!(key(&text, "egress"), Some(wanted), "{text}");
    assert!(text.contains("# - guaranteed memory of queues"), "{text}");
}

#[test]
fn what_egress_queues_have_without_a_counterpart_is_listed() {
    let mut c = leaf();
    c["BUFFER_PROFILE"]["egress_lossless_profile"] =
        json!({ "pool": "egress_lossless_pool", "size": "0", "dynamic_th": "3" });
    c["BUFFER_PROFILE"]["other"] =
        json!({ "pool": "egress_lossy_pool", "size": "0", "dynamic_th": "-1" });
    c["BUFFER_PROFILE"]["other"]["packet_discard_action"] = json!("trim");
    c["BUFFER_QUEUE"]["Ethernet0|5"] = json!({ "profile": "other" });
    c["BUFFER_POOL"]["egress_lossy_pool"].as_object_mut().expect("a pool").remove("size");
    c["SCHEDULER"]["scheduler.0"]["pir"] = json!("1000000");
    let text = one(&c);
    // most queues have dynamic_th 3; without the size of the pool it is a share of all memory
    assert_eq!(key(&text, "egress"), Some("{ alpha = \"8\" }"), "{text}");
    for part in [
        "dynamic_th 3 of lossless queues",
        "lossy queues have different thresholds",
        "an egress pool without a size",
        "packet_discard_action trim",
        "rates of schedulers",
        "thresholds of lossy priority groups",
    ] {
        assert!(notes(&text).iter().any(|n| n.contains(part)), "{part}: {text}");
    }
}

fn with_shared_headroom(shared: u64) -> Value {
    config(&Plan {
        name: "leaf9",
        hwsku: "Mellanox-SN5600",
        speed: 400_000,
        links: &[("Ethernet0", 40, "server1", "eth0"), ("Ethernet8", 40, "server2", "eth0")],
        sizes: (19_456, 117_760, 19_456),
        shared,
    })
}

/// Ingresses share the 13 945 824 B of the pool; beside them are the shared headroom and the
/// guaranteed 19 456 B of two groups at each of two ports.
#[test]
fn a_shared_headroom_pool_is_one() {
    let text = one(&with_shared_headroom(300_000));
    let buffer = format!("\"{}B\"", 13_945_824 + 300_000 + 4 * 19_456);
    assert_eq!(key(&text, "buffer"), Some(buffer.as_str()), "{text}");
    let wanted = "{ alpha = \"1\", reserve = \"19456B\", headroom = \"117760B\", \
                  headroom-pool = \"300000B\" }";
    assert_eq!(key(&text, "thresholds"), Some(wanted));
    assert_eq!(key(&text, "cell"), Some("\"192B\""));
    assert!(!notes(&text).iter().any(|n| n.contains("shared headroom")), "{text}");
}

/// Four groups of 117 760 B, two to one.
#[test]
fn a_ratio_alone_gives_the_size_of_the_shared_headroom() {
    let mut c = with_shared_headroom(0);
    c["DEFAULT_LOSSLESS_BUFFER_PARAMETER"] =
        json!({ "AZURE": { "default_dynamic_th": "0", "over_subscribe_ratio": "2" } });
    let text = one(&c);
    let thresholds = key(&text, "thresholds").expect("thresholds");
    assert!(thresholds.contains("headroom-pool = \"235520B\""), "{text}");
    assert!(notes(&text).iter().any(|n| n.contains("over_subscribe_ratio 2")), "{text}");
}

/// Without a shared pool nothing changes: headroom of each group's own.
#[test]
fn headroom_of_its_own_is_part_of_the_buffer() {
    let text = one(&leaf());
    let buffer = format!("\"{}B\"", 13_945_824 + 6 * 108_544);
    assert_eq!(key(&text, "buffer"), Some(buffer.as_str()), "{text}");
    assert!(!text.contains("headroom-pool"), "{text}");
}

#[test]
fn files_without_ports_are_called_no_configurations() {
    let mut out = Vec::new();
    let switch = Switch::read(0, "x.json", "{}", &mut out).expect("an object");
    let found = weir_fabric::check(std::slice::from_ref(&switch), &[], &options(), out);
    assert!(found[0].message.contains("is this a config_db.json?"), "{}", found[0].message);
    let error = import::convert(&[switch], &Options::default()).expect_err("no network");
    assert!(error.contains("PORT table"), "{error}");
}

#[test]
fn cells_are_those_of_the_family_where_it_is_known() {
    let mut c = leaf();
    c["DEVICE_METADATA"]["localhost"]["hwsku"] = json!("Force10-S6000");
    let text = one(&c);
    assert_eq!(key(&text, "cell"), None, "{text}");
    assert!(notes(&text).iter().any(|n| n.starts_with("cells:")), "{text}");
    let options = Options { asic: Asic::find("tofino-2"), ..Options::default() };
    assert_eq!(key(&convert(&[c], &options), "cell"), Some("\"176B\""));
}
