//! Cables that a list has twice: from both ends, or in both directions.

use super::{Cable, List};
use std::collections::BTreeMap;

/// An end of a cable, where its port is named.
type Place<'c> = (&'c str, &'c str);

fn place(cable: &Cable, end: usize) -> Option<Place<'_>> {
    Some((&cable.ends[end], cable.ports[end].as_deref()?))
}

/// Both ends in either order.
fn both(cable: &Cable) -> Option<[Place<'_>; 2]> {
    let mut ends = [place(cable, 0)?, place(cable, 1)?];
    ends.sort_unstable();
    Some(ends)
}

/// Leaves each cable in the list once, and says what was left out or looks odd.
pub(super) fn once(list: &mut List) -> Vec<String> {
    let mut notes = Vec::new();
    let before = list.cables.len();
    let mut kept: Vec<Cable> = Vec::new();
    for cable in std::mem::take(&mut list.cables) {
        let known = both(&cable);
        let same = kept.iter_mut().find(|k| known.is_some() && both(k) == known);
        match same {
            // what one end does not say, the other may
            Some(first) => {
                first.speed = first.speed.take().or(cable.speed);
                first.length = first.length.take().or(cable.length);
            }
            None => kept.push(cable),
        }
    }
    match before - kept.len() {
        0 => {}
        n => notes.push(format!("{n} cables are listed from both ends, and count once")),
    }
    crowded(&kept, &mut notes);
    both_ways(&mut kept, list.directed, &mut notes);
    list.cables = kept;
    notes
}

/// Ports with several cables.
fn crowded(cables: &[Cable], notes: &mut Vec<String>) {
    const SHOWN: usize = 4;
    let mut lines: BTreeMap<Place<'_>, Vec<usize>> = BTreeMap::new();
    for cable in cables {
        for at in [place(cable, 0), place(cable, 1)].into_iter().flatten() {
            lines.entry(at).or_default().push(cable.line);
        }
    }
    for ((device, port), lines) in lines.iter().filter(|(_, l)| l.len() > 1).take(SHOWN) {
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        notes.push(format!(
            "{device} {port} has several cables, in lines {}: all are used",
            lines.join(", ")
        ));
    }
}

/// Cables without ports that a list has in one direction and as often in the other. In a directed
/// graph these are the directions of one cable; elsewhere they are parallel cables.
fn both_ways(cables: &mut Vec<Cable>, directed: bool, notes: &mut Vec<String>) {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let plain = |c: &Cable| both(c).is_none() && c.ends[0] != c.ends[1];
    for cable in cables.iter().filter(|c| plain(c)) {
        *counts.entry((cable.ends[0].clone(), cable.ends[1].clone())).or_default() += 1;
    }
    let mirrored = |c: &Cable| {
        let [a, b] = c.ends.clone();
        plain(c) && a > b && counts.get(&(a.clone(), b.clone())) == counts.get(&(b, a))
    };
    let n = cables.iter().filter(|c| mirrored(c)).count();
    match (n, directed) {
        (0, _) => {}
        (_, true) => {
            cables.retain(|c| !mirrored(c));
            notes.push(format!("{n} cables are listed in both directions, and count once"));
        }
        (_, false) => notes.push(format!(
            "{n} cables are listed in both directions and were taken for parallel ones: name the \
             ports if each is one cable seen from both ends"
        )),
    }
}
