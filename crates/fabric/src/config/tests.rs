use super::*;
use crate::finding::Finding;

fn read(text: &str) -> (Switch, Vec<Finding>) {
    let mut out = Vec::new();
    let switch = Switch::read(0, "leaf.json", text, &mut out).expect("a JSON object");
    (switch, out)
}

#[test]
fn ranges_lists_and_old_references_are_read() {
    let (s, out) = read(
        r#"{"BUFFER_PG":{"Ethernet0,Ethernet4|3-4":{"profile":"[BUFFER_PROFILE|lossless]"},
            "Ethernet0|0":{"profile":"NULL"}},
            "PORT_QOS_MAP":{"Ethernet0":{"pfc_enable":"3,4"}},
            "CABLE_LENGTH":{"AZURE":{"Ethernet0":"40m"}}}"#,
    );
    assert!(out.is_empty(), "{out:?}");
    for place in [("Ethernet0", 3), ("Ethernet0", 4), ("Ethernet4", 3), ("Ethernet4", 4)] {
        let group = s.groups.get(&(place.0.to_owned(), place.1)).expect("a group");
        assert_eq!(group.profile.as_deref(), Some("lossless"));
    }
    assert_eq!(s.groups[&("Ethernet0".to_owned(), 0)].profile, None);
    assert_eq!(s.pfc("Ethernet0"), [3, 4].into());
    assert_eq!(s.cables["Ethernet0"], 40);
}

#[test]
fn broken_values_are_named_with_their_path() {
    for (text, path, says) in [
        (r#"{"PORT":{"Ethernet0":{"speed":"fast"}}}"#, "/PORT/Ethernet0/speed", "fast"),
        (r#"{"PORT":[]}"#, "/PORT", "a list"),
        (r#"{"PORT":{"Ethernet0":3}}"#, "/PORT/Ethernet0", "a number"),
        (r#"{"CABLE_LENGTH":{"A":{"Ethernet0":"40"}}}"#, "/CABLE_LENGTH/A/Ethernet0", "40m"),
        (r#"{"CABLE_LENGTH":{"A":{"a/b":"x"}}}"#, "/CABLE_LENGTH/A/a~1b", "metres"),
        (
            r#"{"BUFFER_PROFILE":{"p":{"pool":"x","size":"0","dynamic_th":"9"}}}"#,
            "/BUFFER_PROFILE/p/dynamic_th",
            "-8 to 7",
        ),
        (
            r#"{"BUFFER_PG":{"Ethernet0|4-3":{"profile":"x"}}}"#,
            "/BUFFER_PG/Ethernet0|4-3",
            "PORT|RANGE",
        ),
        (
            r#"{"PORT_QOS_MAP":{"Ethernet0":{"pfc_enable":"8"}}}"#,
            "/PORT_QOS_MAP/Ethernet0/pfc_enable",
            "0 to 7",
        ),
        (
            r#"{"PFC_WD":{"Ethernet0":{"detection_time":"50"}}}"#,
            "/PFC_WD/Ethernet0/detection_time",
            "100 to 5000",
        ),
        (r#"{"DSCP_TO_TC_MAP":{"AZURE":{"64":"1"}}}"#, "/DSCP_TO_TC_MAP/AZURE/64", "0 to 63"),
        (r#"{"PORT":{"Ethernet0":{"mtu":true}}}"#, "/PORT/Ethernet0/mtu", "a boolean"),
    ] {
        let (_, out) = read(text);
        let found = out.iter().find(|f| f.pointer == path).unwrap_or_else(|| panic!("{out:?}"));
        assert_eq!(found.code.code, "SN101", "{text}");
        assert!(found.message.contains(says), "{}", found.message);
    }
}

#[test]
fn a_number_that_is_no_string_is_used_and_remarked() {
    let (s, out) = read(r#"{"PORT":{"Ethernet0":{"speed":100000}}}"#);
    assert_eq!(s.ports["Ethernet0"].speed, Some(100_000));
    assert_eq!(out[0].code.code, "SN104");
}

#[test]
fn unknown_tables_and_fields_are_tolerated() {
    let (_, out) = read(
        r#"{"VLAN":{"Vlan1000":[]},"NEW_TABLE":7,"PORT":{"Ethernet0":{"speed":"1000",
            "new_field":{"a":1}}}}"#,
    );
    assert!(out.is_empty(), "{out:?}");
}

#[test]
fn what_is_no_object_is_refused() {
    for text in ["", "[]", "3", "{", "{\"a\":"] {
        assert!(Switch::read(0, "x.json", text, &mut Vec::new()).is_err(), "{text}");
    }
    // deeper than anyone writes
    let deep = format!("{}1{}", "{\"a\":".repeat(5000), "}".repeat(5000));
    assert!(Switch::read(0, "x.json", &deep, &mut Vec::new()).is_err());
}
