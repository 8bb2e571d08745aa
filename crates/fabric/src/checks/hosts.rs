//! Hosts against the switches they are connected to.

use super::maps::lossless_dscps;
use crate::code::{self, Code};
use crate::config::Switch;
use crate::finding::Finding;
use crate::host::{Host, HostFact};
use std::collections::BTreeSet;

/// Checks hosts; their files are numbered after those of the switches.
pub(super) fn check(switches: &[Switch], hosts: &[Host], out: &mut Vec<Finding>) {
    let dscps: BTreeSet<u8> = switches.iter().flat_map(lossless_dscps).collect();
    let pfc: BTreeSet<u8> =
        switches.iter().flat_map(|s| s.ports.keys().flat_map(|p| s.pfc(p))).collect();
    for (number, host) in hosts.iter().enumerate() {
        for setting in &host.settings {
            let mut say = |code: &'static Code, message: String| {
                let mut found = Finding::new(code, switches.len() + number, String::new(), message);
                found.line = Some(setting.line);
                out.push(found);
            };
            match &setting.what {
                HostFact::Tos(tos) => type_of_service(*tos, &dscps, &mut say),
                HostFact::DscpToPriority(dscp, priority) => {
                    let lossless = pfc.contains(priority);
                    if lossless && !dscps.is_empty() && !dscps.contains(dscp) {
                        say(
                            &code::SN902,
                            format!(
                                "DSCP {dscp} is priority {priority} here; lossless at the \
                                     switches: {}",
                                list(&dscps)
                            ),
                        );
                    }
                }
                HostFact::Dscps(set, priority)
                    if pfc.contains(priority)
                        && !dscps.is_empty()
                        && set.intersection(&dscps).next().is_none() =>
                {
                    say(
                        &code::SN902,
                        format!(
                            "DSCP {} is priority {priority} here; lossless at the switches: {}",
                            list(set),
                            list(&dscps)
                        ),
                    );
                }
                HostFact::Pfc(set) if !pfc.is_empty() && *set != pfc => {
                    let message = format!(
                        "PFC of priorities {} here, {} at the switches",
                        list(set),
                        list(&pfc)
                    );
                    say(&code::SN903, message);
                }
                HostFact::TrustsPcp if !dscps.is_empty() => {
                    say(&code::SN904, "--trust pcp, but the switches have DSCP_TO_TC_MAP".into());
                }
                HostFact::LinkPause(line) if !pfc.is_empty() => {
                    say(&code::SN405, format!("`{line}`: link pause is on beside PFC"));
                }
                _ => {}
            }
        }
    }
}

fn list(set: &BTreeSet<u8>) -> String {
    match set.is_empty() {
        true => "none".into(),
        false => set.iter().map(u8::to_string).collect::<Vec<_>>().join(","),
    }
}

fn type_of_service(tos: u64, dscps: &BTreeSet<u8>, say: &mut impl FnMut(&'static Code, String)) {
    let (dscp, low) = (tos >> 2, tos & 3);
    if tos > 255 {
        say(&code::SN901, format!("a ToS has 8 bits: {tos} is above 255"));
        return;
    }
    if low != 0 {
        let right = dscp << 2;
        say(
            &code::SN901,
            format!("ToS {tos} has ECN bits set: DSCP {dscp} is ToS {right}, written {dscp} x 4"),
        );
    }
    let contains = |d: u64| u8::try_from(d).is_ok_and(|d| dscps.contains(&d));
    if dscps.is_empty() || contains(dscp) {
        return;
    }
    match contains(tos) {
        true => say(
            &code::SN901,
            format!("ToS {tos} is DSCP {dscp}; if DSCP {tos} is meant, write ToS {}", tos << 2),
        ),
        false => say(
            &code::SN902,
            format!("ToS {tos} is DSCP {dscp}; lossless at the switches: {}", list(dscps)),
        ),
    }
}
