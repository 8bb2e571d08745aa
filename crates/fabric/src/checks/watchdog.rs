//! The PFC watchdog.

use crate::code::{self, Code};
use crate::config::Switch;
use crate::finding::{Change, Finding, pointer};
use serde_json::Value;

/// More priorities than this on one port are many.
const MANY: usize = 4;
/// What `pfcwd start_default` uses, in ms for each 32 ports.
const DEFAULT: u64 = 200;

/// Checks the watchdog of a switch.
pub(super) fn check(switch: &Switch, out: &mut Vec<Finding>) {
    let metadata = switch.root.pointer("/DEVICE_METADATA/localhost/default_pfcwd_status");
    let by_default = metadata.and_then(Value::as_str) == Some("enable");
    let ports: Vec<&str> = switch.lossless_ports().into_iter().collect();
    let default = DEFAULT * (ports.len() as u64).div_ceil(32).max(1);
    for port in ports {
        let pfc = switch.pfc(port);
        if pfc.is_empty() {
            continue;
        }
        let watched = switch.qos_of(port).watched;
        let mut say = |code: &'static Code, place: String, message: String, change: Vec<Change>| {
            let mut found = Finding::new(code, switch.index, place, message);
            found.changes = change;
            out.push(found);
        };
        if !switch.watchdogs.contains_key(port) && !by_default {
            let set =
                |field, value: String| Change::set(switch.index, &["PFC_WD", port, field], value);
            let changes = vec![
                set("action", "drop".into()),
                set("detection_time", default.to_string()),
                set("restoration_time", default.to_string()),
            ];
            let message = format!("{port} has PFC but is not in PFC_WD");
            say(&code::SN702, pointer(&["PFC_WD"]), message, changes);
        }
        let Some(watched) = watched else { continue };
        let path = ["PORT_QOS_MAP", port, "pfcwd_sw_enable"];
        let list = |set: &std::collections::BTreeSet<u8>| {
            set.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
        };
        if watched.len() > MANY {
            let message = format!("{} priorities are watched together", watched.len());
            say(&code::SN705, pointer(&path), message, Vec::new());
        }
        if watched != pfc {
            let message =
                format!("pfcwd_sw_enable is {}, pfc_enable is {}", list(&watched), list(&pfc));
            let change = Change::set(switch.index, &path, list(&pfc));
            say(&code::SN703, pointer(&path), message, vec![change]);
        }
    }
    times(switch, out);
}

fn times(switch: &Switch, out: &mut Vec<Finding>) {
    for (port, watchdog) in &switch.watchdogs {
        let path = |field| ["PFC_WD", port.as_str(), field];
        if let (Some(poll), Some(detect)) = (switch.poll, watchdog.detection)
            && poll > detect
        {
            let message = format!("POLL_INTERVAL is {poll} ms, detection_time {detect} ms");
            let change = Change::set(switch.index, &["PFC_WD", "GLOBAL", "POLL_INTERVAL"], detect);
            let place = pointer(&path("detection_time"));
            out.push(Finding::new(&code::SN701, switch.index, place, message).mended_by(change));
        }
        if let (Some(detect), Some(restore)) = (watchdog.detection, watchdog.restoration)
            && restore < detect
        {
            let message = format!("restoration_time is {restore} ms, detection_time {detect} ms");
            let change = Change::set(switch.index, &path("restoration_time"), detect);
            let place = pointer(&path("restoration_time"));
            out.push(Finding::new(&code::SN704, switch.index, place, message).mended_by(change));
        }
        if watchdog.action == "alert" {
            let message = format!("action of {port} is alert: storms are only reported");
            let place = pointer(&path("action"));
            let change = Change::set(switch.index, &path("action"), "drop");
            out.push(Finding::new(&code::SN706, switch.index, place, message).mended_by(change));
        }
    }
}
