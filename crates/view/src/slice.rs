//! A part of a recording: some time, some ports.
//!
//! Times, windows and numbers of ports and flows stay those of the whole recording, so a slice
//! opens like a whole one. What is left out is counted in the header, under names that begin with
//! `slice_`.

use crate::header::SliceInfo;
use crate::record::leave_out;
use crate::timeline::{Timeline, drop_pauses};
use weir_core::Time;
use weir_core::nearest::nearest;

/// What to keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// From this time on.
    pub from: Option<Time>,
    /// Before this time.
    pub to: Option<Time>,
    /// The links at these ports, in both directions: `s1/p0`, an alias such as `P_d`, or `s1` for
    /// all ports of a node. All ports if there are none.
    pub ports: Vec<String>,
}

/// Why a slice cannot be cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SliceError {
    /// No port or node has this name.
    #[error("there is no port or node `{name}`{}", suggestion.as_ref()
        .map_or_else(String::new, |s| format!(": did you mean `{s}`?")))]
    Port {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        suggestion: Option<String>,
    },
    /// It ends before it begins.
    #[error("the slice is empty: it begins at {0} and ends at {1}")]
    Empty(Time, Time),
    /// It begins after the end.
    #[error("the recording ends at {1}, before the slice begins at {0}")]
    Late(Time, Time),
}

impl Slice {
    /// Whether it keeps everything.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// The part of `timeline`.
    pub fn cut(&self, timeline: &Timeline) -> Result<Timeline, SliceError> {
        let mut part = timeline.clone();
        if self.is_all() {
            return Ok(part);
        }
        let end = Time::from_ps(timeline.header.end_ps);
        let from = self.from.unwrap_or(Time::ZERO);
        let to = self.to.unwrap_or(Time::from_ps(timeline.header.end_ps.saturating_add(1)));
        if from > end {
            return Err(SliceError::Late(from, end));
        }
        if from >= to {
            return Err(SliceError::Empty(from, to));
        }
        let kept = self.ports(timeline)?;
        cut_pauses(&mut part, (from, to), &kept);
        cut_windows(&mut part, (from, to), &kept);
        cut_events(&mut part, (from, to), &kept);
        let ports = self.ports.clone();
        part.header.slice = Some(SliceInfo { from_ps: from.as_ps(), to_ps: to.as_ps(), ports });
        Ok(part)
    }

    /// Which ports are kept, by number.
    fn ports(&self, timeline: &Timeline) -> Result<Vec<bool>, SliceError> {
        let ports = &timeline.header.ports;
        if self.ports.is_empty() {
            return Ok(vec![true; ports.len()]);
        }
        let mut kept = vec![false; ports.len()];
        for name in &self.ports {
            let mut found = false;
            for (i, port) in ports.iter().enumerate() {
                let node = &timeline.header.nodes[port.node as usize].name;
                let full = || format!("{node}/p{}", port.port);
                // `P_d` for `Sc:P_d`; `Sc:Sb` ends at the node that its end names
                let alias = port.name.rsplit_once(':').map(|(_, alias)| alias);
                let is_it = name == node || *name == port.name || alias == Some(name.as_str());
                if is_it || *name == full() {
                    (kept[i], kept[port.peer as usize], found) = (true, true, true);
                }
            }
            if !found {
                let names = timeline.header.nodes.iter().map(|n| n.name.as_str());
                let names = names.chain(ports.iter().map(|p| p.name.as_str()));
                let suggestion = nearest(name, names).map(str::to_owned);
                return Err(SliceError::Port { name: name.clone(), suggestion });
            }
        }
        Ok(kept)
    }
}

/// Pauses that reach into the time, at ports that are kept, with those that caused them.
fn cut_pauses(part: &mut Timeline, (from, to): (Time, Time), kept: &[bool]) {
    let Some(pauses) = part.table("pauses") else { return };
    let (begin, end) = (pauses.column("from"), pauses.column("to"));
    let spans = begin.iter().zip(end).zip(pauses.column("port"));
    let mut keep: Vec<bool> = spans
        .map(|((begin, end), port)| {
            *begin < to.as_ps() && *end >= from.as_ps() && kept[*port as usize]
        })
        .collect();
    for row in (0..keep.len()).rev() {
        let parent = pauses.column("parent").get(row).copied().unwrap_or(0) as usize;
        if keep[row] && (1..=row).contains(&parent) {
            keep[parent - 1] = true;
        }
    }
    let left_out = drop_pauses(part, &keep);
    if left_out > 0 {
        part.header.left_out.insert("slice_pauses".into(), left_out);
    }
}

/// Windows and polls that reach into the time.
fn cut_windows(part: &mut Timeline, (from, to): (Time, Time), kept: &[bool]) {
    let inside = |number: u64, length: u64| {
        let begin = number.saturating_mul(length);
        begin < to.as_ps() && begin.saturating_add(length) > from.as_ps()
    };
    let (window, poll) = (part.header.window_ps, part.header.poll_ps);
    for (table, time, length) in
        [("samples", "window", window), ("rates", "window", window), ("polls", "poll", poll)]
    {
        let numbers = part.column(table, time).to_vec();
        let ports = part.column(table, "port").to_vec();
        let wanted = |row: usize| ports.get(row).is_none_or(|port| kept[*port as usize]);
        let what = format!("slice_{table}");
        leave_out(part, table, &what, |row| inside(numbers[row], length) && wanted(row));
    }
}

/// Losses and failures of the time, and where flows were held or go.
fn cut_events(part: &mut Timeline, (from, to): (Time, Time), kept: &[bool]) {
    for table in ["drops", "failures"] {
        let times = part.column(table, "at").to_vec();
        let ports = part.column(table, "port").to_vec();
        let inside = |at: u64| (from.as_ps()..to.as_ps()).contains(&at);
        let what = format!("slice_{table}");
        leave_out(part, table, &what, |row| inside(times[row]) && kept[ports[row] as usize]);
    }
    let ports = part.column("holds", "port").to_vec();
    leave_out(part, "holds", "slice_holds", |row| kept[ports[row] as usize]);
    // the way of a flow that lives in this time is kept as a whole
    let lives = part.column("flows", "start").iter().zip(part.column("flows", "end"));
    let lives: Vec<bool> = lives
        .map(|(start, end)| *start < to.as_ps() && (*end == 0 || *end >= from.as_ps()))
        .collect();
    let flows = part.column("paths", "flow").to_vec();
    let lives = |flow: u64| lives.get(flow as usize).copied().unwrap_or(false);
    leave_out(part, "paths", "slice_paths", |row| lives(flows[row]));
}
