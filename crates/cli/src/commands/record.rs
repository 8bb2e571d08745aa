//! `--record`: the recordings of runs.

use crate::args::RecordArgs;
use crate::terminal::Terminal;
use std::path::Path;
use weir_core::{Bytes, Time, format};
use weir_results::comparison::Comparison;
use weir_view::FILE;

/// The recording of a run.
pub(super) struct Recorded {
    /// Its name in the directory of results.
    pub(super) name: String,
    pub(super) file: Vec<u8>,
    note: Option<String>,
}

/// The recordings of all runs. That of a single run is `timeline.weir`, those of several rows have
/// directories of their own, and so have those of several seeds.
pub(super) fn recordings(c: &Comparison<'_>, args: &RecordArgs) -> Vec<Recorded> {
    let alone = c.runs().count() == 1;
    let mut all = Vec::new();
    for group in &c.groups {
        for run in &group.runs {
            let Some(made) = weir_view::record(group.experiment, run, args.limit()) else {
                continue;
            };
            let name = match (alone, group.runs.len()) {
                (true, _) => FILE.to_owned(),
                (false, 1) => format!("{}/{FILE}", group.id),
                (false, _) => format!("{}/seed-{}/{FILE}", group.id, run.variant.seed),
            };
            let note = made.decimated.map(|d| {
                let limit = format::bytes(Bytes::new(d.limit_bytes));
                format!(
                    "{name}: windows of {} instead of {}{}, to stay below {limit} \
                     (--record-limit)",
                    format::time(Time::from_ps(made.window_ps)),
                    format::time(Time::from_ps(d.asked_window_ps)),
                    if made.left_out > 0 { ", and less of the smallest things" } else { "" }
                )
            });
            all.push(Recorded { name, file: made.file, note });
        }
    }
    all
}

/// Says where the recordings are and what was made coarser.
pub(super) fn tell(all: &[Recorded], directory: &Path, terminal: &Terminal) {
    if all.is_empty() {
        return;
    }
    for note in all.iter().filter_map(|r| r.note.as_deref()) {
        terminal.note(note);
    }
    let bytes: u64 = all.iter().map(|r| r.file.len() as u64).sum();
    let place = format::shell_word(&directory.to_string_lossy());
    terminal.note(&format!(
        "{} ({}): weir view {place}",
        format::plural(all.len() as u64, "recording"),
        format::bytes(Bytes::new(bytes))
    ));
}
