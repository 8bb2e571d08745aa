//! `weir view`: recordings in a browser.

use super::outputs::{keep_inputs, writable, write_file};
use super::simulate::{self, with_flag};
use crate::Status;
use crate::args::View;
use crate::progress::watch;
use crate::terminal::Terminal;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use weir_core::{Bytes, format};
use weir_results::lineup::{BlameWish, Lineup, Otherwise, Request, Setting};
use weir_results::run::{Meter, Run};
use weir_results::shown::run_shown;
use weir_sim::probe::RecordConfig;
use weir_view::{Entry, FILE, Limit, open, page};

/// `weir view`.
pub(crate) fn view(args: &View, terminal: &Terminal) -> anyhow::Result<Status> {
    let place = Path::new(&args.place);
    if let Some(file) = &args.export {
        writable(file)?;
    }
    if place.is_dir() || args.place.ends_with(".weir") {
        of_directory(args, place, terminal)
    } else {
        of_scenario(args, terminal)
    }
}

/// Recordings that are there.
fn of_directory(args: &View, place: &Path, terminal: &Terminal) -> anyhow::Result<Status> {
    let only_runs = [
        ("--schemes", !args.schemes.is_empty()),
        ("--variant", !args.variants.is_empty()),
        ("--seed", args.seed.is_some()),
        ("--set", !args.sets.is_empty()),
        ("--no-blame", args.no_blame),
    ];
    if let Some((option, _)) = only_runs.into_iter().find(|(_, given)| *given) {
        bail!("{option} is for scenarios that are run first: {} holds recordings", args.place);
    }
    let entries = open(place, &args.shown())?;
    if let Some(file) = &args.export {
        let inputs: Vec<PathBuf> = entries.iter().map(|e| place.join(&e.name)).collect();
        keep_inputs(file, &inputs)?;
        keep_inputs(file, &[place.to_owned()])?;
        return export(file, &entries, terminal);
    }
    let title = entries[0].header.scenario.clone();
    serve(args, &title, terminal, |show, _| {
        entries.into_iter().for_each(|entry| show.add(entry));
        Ok(())
    })
}

/// A scenario that is run first.
fn of_scenario(args: &View, terminal: &Terminal) -> anyhow::Result<Status> {
    let limit = Limit::default();
    let request = Request {
        sets: &args.sets,
        schemes: &args.schemes,
        variants: &args.variants,
        blame: if args.no_blame { BlameWish::No } else { BlameWish::IfPossible },
        record: Some(RecordConfig { window: args.window, rows: limit.rows() }),
        ..Request::default()
    };
    let Some(lineup) = simulate::load(&args.place, &request, Otherwise::Own, terminal) else {
        return Ok(Status::BadInput);
    };
    let work = Work { args, lineup: &lineup, limit, terminal };
    if let Some(file) = &args.export {
        keep_inputs(file, &lineup.base.inputs())?;
        let mut entries = Vec::new();
        let stop = AtomicBool::new(false);
        with_flag(&stop, || work.run(&stop, None, |entry| entries.push(entry), |_| {}))??;
        if stop.load(Ordering::Relaxed) {
            return Ok(Status::Interrupted);
        }
        return export(file, &entries, terminal);
    }
    let title = match lineup.base.scenario.title.as_str() {
        "" => lineup.base.scenario.name.clone(),
        title => title.to_owned(),
    };
    serve(args, &title, terminal, |show, stop| {
        let mut so_far = |entry| show.show(entry);
        work.run(stop, Some(&mut so_far), |entry| show.add(entry), |done| show.progress(done))
    })
}

/// Runs that are recorded to be shown.
struct Work<'a> {
    args: &'a View,
    lineup: &'a Lineup,
    limit: Limit,
    terminal: &'a Terminal,
}

impl Work<'_> {
    /// Runs all rows one after the other. `so_far` gets what there is of a run that goes on,
    /// `found` each recording when its run is over.
    fn run(
        &self,
        stop: &AtomicBool,
        mut so_far: Option<&mut dyn FnMut(Entry)>,
        mut found: impl FnMut(Entry),
        progress: impl Fn(f64) + Sync,
    ) -> anyhow::Result<()> {
        let settings = &self.lineup.settings;
        let meter = Meter::new(settings.len());
        let name = &self.lineup.base.scenario.name;
        for (i, setting) in settings.iter().enumerate() {
            let e = &*setting.experiment;
            let variant = setting.with_seed(self.args.seed.unwrap_or(e.scenario.run.seeds[0]));
            let mut show = |run: &Run| {
                if let Some(so_far) = &mut so_far
                    && let Ok(Some(entry)) = self.entry(setting, run)
                {
                    so_far(entry);
                }
            };
            let over = AtomicBool::new(false);
            let result = std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !over.load(Ordering::Acquire) {
                        if stop.load(Ordering::Relaxed) {
                            meter.interrupt();
                        }
                        progress(meter.read().done);
                        std::thread::park_timeout(std::time::Duration::from_millis(50));
                    }
                });
                let work = || run_shown(e, variant, &meter, i, &mut show);
                let result = watch(name, &meter, self.terminal, work);
                over.store(true, Ordering::Release);
                result
            });
            let run = result?;
            if run.interrupted() {
                return Ok(());
            }
            if let Some(entry) = self.entry(setting, &run)? {
                found(entry);
            }
        }
        Ok(())
    }

    /// The recording of a run.
    fn entry(&self, setting: &Setting, run: &Run) -> anyhow::Result<Option<Entry>> {
        let Some(recorded) = weir_view::record(&setting.experiment, run, self.limit) else {
            return Ok(None);
        };
        let file = match self.lineup.settings.len() {
            1 => FILE.to_owned(),
            _ => format!("{}/{FILE}", setting.id),
        };
        let entry = Entry::new(&file, recorded.file, &self.args.shown())?;
        Ok(Some(entry.labelled(&setting.label)))
    }
}

/// Writes one page.
fn export(file: &Path, entries: &[Entry], terminal: &Terminal) -> anyhow::Result<Status> {
    let page = page(entries);
    let bytes = Bytes::new(page.len() as u64);
    write_file(file, page)?;
    terminal.note(&format!(
        "page: {} ({}, {}); it needs no server and no network",
        file.display(),
        format::plural(entries.len() as u64, "recording"),
        format::bytes(bytes)
    ));
    Ok(Status::Done)
}

#[cfg(feature = "view")]
fn serve(
    args: &View,
    title: &str,
    terminal: &Terminal,
    work: impl FnOnce(&weir_view::Site, &AtomicBool) -> anyhow::Result<()>,
) -> anyhow::Result<Status> {
    use crate::terminal::print;
    let site = std::sync::Arc::new(weir_view::Site::new(&weir_view::token()?, title));
    let stop = AtomicBool::new(false);
    let failed = with_flag(&stop, || {
        std::thread::scope(|scope| {
            let server = scope.spawn(|| {
                let ready = |server| {
                    let address = site.address(server) + &fragment(args);
                    // the address is the result of the command
                    let _ = print(&address);
                    terminal.note("Ctrl-C ends it");
                    if !args.no_open {
                        open_browser(&address);
                    }
                };
                let served = weir_view::serve(&site, args.port.unwrap_or(0), ready, &stop);
                // without a server the runs are for nobody
                stop.store(true, Ordering::Relaxed);
                served
            });
            let worked = work(&site, &stop);
            if worked.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            site.complete();
            let served = server.join().expect("the server does not panic");
            worked.and(served.context("cannot serve the page"))
        })
    })?;
    failed.map(|()| Status::Done)
}

#[cfg(not(feature = "view"))]
fn serve(
    _: &View,
    _: &str,
    _: &Terminal,
    _: impl FnOnce(&weir_view::Site, &AtomicBool) -> anyhow::Result<()>,
) -> anyhow::Result<Status> {
    bail!(
        "this program was built without the server of `weir view`: build it with the feature \
         `view`, or write a page with --export"
    )
}

/// What the address says of the moment and the flow that are to be shown.
#[cfg(feature = "view")]
fn fragment(args: &View) -> String {
    let at = args.at.map(|t| format!("t={}", t.to_string().replace(' ', "")));
    let flow = args.flow.map(|n| format!("flow={n}"));
    let parts: Vec<String> = at.into_iter().chain(flow).collect();
    if parts.is_empty() { String::new() } else { format!("#{}", parts.join("&")) }
}

/// Opens a browser where there is one; nothing is said where there is none.
#[cfg(feature = "view")]
fn open_browser(address: &str) {
    use std::process::{Command, Stdio};
    let (program, words): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/c", "start", ""]),
        _ if screen() => ("xdg-open", &[]),
        _ => return,
    };
    let mut command = Command::new(program);
    command.args(words).arg(address);
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}

/// Whether there is a screen to open a browser on.
#[cfg(feature = "view")]
fn screen() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some())
}
