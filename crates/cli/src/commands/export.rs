//! `weir export`: recordings for other programs.

use super::outputs::{keep_inputs, writable, write_file};
use crate::Status;
use crate::args::ExportPerfetto;
use crate::terminal::Terminal;
use std::path::{Path, PathBuf};
use weir_core::{Bytes, format};
use weir_view::{Entry, Shown, decode, open, perfetto};

/// `weir export perfetto`.
pub(crate) fn export_perfetto(
    args: &ExportPerfetto,
    terminal: &Terminal,
) -> anyhow::Result<Status> {
    let entries = open(&args.place, &Shown { slice: args.slice.slice(), poll: None })?;
    let output = args.output.clone().unwrap_or_else(|| default_name(&args.place));
    let alone = entries.len() == 1;
    let mut files: Vec<(PathBuf, &Entry)> = Vec::new();
    for entry in &entries {
        let file = if alone { output.clone() } else { with_name(&output, entry) };
        writable(&file)?;
        keep_inputs(&file, &[args.place.clone(), args.place.join(&entry.name)])?;
        files.push((file, entry));
    }
    for (file, entry) in files {
        let timeline = decode(&entry.file)?;
        let traced = perfetto::trace(&timeline, args.limit.get());
        let bytes = Bytes::new(traced.file.len() as u64);
        write_file(&file, traced.file)?;
        if let Some(sentence) = outside(entry) {
            terminal.note(&format!("{}: {sentence}", file.display()));
        }
        for sentence in traced.decimated {
            let limit = format::bytes(args.limit);
            terminal.note(&format!("{}: {sentence} (--limit {limit})", file.display()));
        }
        terminal.note(&format!(
            "trace: {} ({}); open it at https://ui.perfetto.dev",
            file.display(),
            format::bytes(bytes)
        ));
    }
    Ok(Status::Done)
}

/// What a slice of a recording leaves out.
fn outside(entry: &Entry) -> Option<String> {
    let left_out = entry.header.left_out.iter();
    let rows: Vec<String> = left_out
        .filter_map(|(what, rows)| {
            let what = what.strip_prefix("slice_")?.trim_end_matches('s');
            Some(format::plural(*rows, what))
        })
        .collect();
    (!rows.is_empty()).then(|| format!("outside the slice: {}", rows.join(", ")))
}

/// `fig1.pftrace` for `out/fig1`.
fn default_name(place: &Path) -> PathBuf {
    let named = if place.is_dir() { place } else { place.parent().unwrap_or(place) };
    let real = std::fs::canonicalize(named).unwrap_or_else(|_| named.to_owned());
    let mut name = real.file_name().unwrap_or("timeline".as_ref()).to_owned();
    name.push(".pftrace");
    PathBuf::from(name)
}

/// `fig1-pfc.pftrace` for one of several recordings.
fn with_name(output: &Path, entry: &Entry) -> PathBuf {
    let directory = entry.name.rsplit_once('/').map_or("", |(directory, _)| directory);
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let ending = output.extension().map_or_else(String::new, |e| format!(".{}", e.display()));
    output.with_file_name(format!("{stem}-{}{ending}", directory.replace('/', "-")))
}
