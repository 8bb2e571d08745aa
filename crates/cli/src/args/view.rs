//! What `weir view` and `weir export` show.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use weir_core::{Bytes, Time};
use weir_view::{Shown, Slice};

/// A part of a recording.
#[derive(Args, Debug)]
pub(crate) struct SliceArgs {
    /// Show what happens from this time on, such as 1ms
    #[arg(long, value_name = "TIME")]
    pub from: Option<Time>,
    /// Show what happens before this time, such as 2ms
    #[arg(long, value_name = "TIME")]
    pub to: Option<Time>,
    /// Show the links at these ports only: s1/p0, an alias such as P_d, or s1 for all ports of a
    /// node
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub ports: Vec<String>,
}

impl SliceArgs {
    /// What is to be kept.
    pub(crate) fn slice(&self) -> Slice {
        let ports = self.ports.iter().map(|p| p.trim().to_owned()).collect();
        Slice { from: self.from, to: self.to, ports }
    }
}

/// `weir view`.
#[derive(Args, Debug)]
#[command(after_help = "\
Serves a page on this computer (127.0.0.1) until Ctrl-C, at an address with a
random token that is printed. A scenario is run first, and the page shows it
while it runs, one scheme after the other.

Examples:
  weir view ofc-fig1 --schemes pfc,ofc
  weir run my.toml --record --out out/my && weir view out/my
  weir view out/my --export page.html            one file, to send to others
  weir view out/my --from 1ms --to 2ms --ports s1,s2/p3")]
pub(crate) struct View {
    /// A directory with recordings, a recording, or a scenario to run first
    #[arg(value_name = "DIR|SCENARIO")]
    pub place: String,
    /// Write one page with everything in it instead, which needs no server and no network
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    #[command(flatten)]
    pub slice: SliceArgs,
    /// How often the counters of switches are read that are shown beside the truth; default: 200ms
    #[arg(long, value_name = "TIME", value_parser = poll)]
    pub poll: Option<Time>,
    /// The moment that the address which is printed leads to, such as 1.2ms
    #[arg(long, value_name = "TIME", conflicts_with = "export")]
    pub at: Option<Time>,
    /// The flow that it leads to, by its number on the page
    #[arg(long, value_name = "N", conflicts_with = "export")]
    pub flow: Option<u64>,
    /// Port of the server; default: any that is free
    #[arg(long, value_name = "N", conflicts_with = "export")]
    pub port: Option<u16>,
    /// Do not open a browser
    #[arg(long, conflicts_with = "export")]
    pub no_open: bool,
    /// Schemes to run, of a scenario; default: the scheme of the scenario
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    pub schemes: Vec<String>,
    /// A variant to run, as in `weir compare`; may be repeated
    #[arg(long = "variant", value_name = "VARIANT")]
    pub variants: Vec<String>,
    /// Seed of the runs; default: the first one of the scenario
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a value of the scenario; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub sets: Vec<String>,
    /// Run a scenario without blame, which says where the time of each flow went but makes large
    /// runs about ten times as long
    #[arg(long)]
    pub no_blame: bool,
    /// The length of the windows of the recording of a scenario
    #[arg(long, value_name = "TIME", default_value = "1us")]
    #[arg(value_parser = super::record::window)]
    pub window: Time,
}

impl View {
    /// What is to be shown of recordings.
    pub(crate) fn shown(&self) -> Shown {
        Shown { slice: self.slice.slice(), poll: self.poll }
    }
}

/// `weir export`.
#[derive(Args, Debug)]
pub(crate) struct Export {
    /// As what.
    #[command(subcommand)]
    pub to: ExportTo,
}

/// What recordings are exported to.
#[derive(Subcommand, Debug)]
pub(crate) enum ExportTo {
    /// A trace for ui.perfetto.dev
    Perfetto(ExportPerfetto),
}

/// `weir export perfetto`.
#[derive(Args, Debug)]
#[command(after_help = "\
Ports are tracks grouped by tier: what was held per priority, the pauses that
they sent, their queues; arrows lead from a pause to the stop that it causes.
Flows are slices below their hosts.

Examples:
  weir export perfetto out/fig1
  weir export perfetto out/fig1 --from 1ms --to 2ms -o part.pftrace")]
pub(crate) struct ExportPerfetto {
    /// A directory with a recording, or a recording
    #[arg(value_name = "DIR")]
    pub place: PathBuf,
    #[command(flatten)]
    pub slice: SliceArgs,
    /// File of the trace; default: NAME.pftrace with the name of the directory. With several
    /// recordings, the name of each is put before the extension
    #[arg(short, long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The size of a trace, at most
    #[arg(long, value_name = "SIZE", default_value = "200MB", value_parser = super::record::size)]
    pub limit: Bytes,
}

/// How often switches are polled: `200ms`.
fn poll(text: &str) -> Result<Time, String> {
    let time: Time = text.parse().map_err(|e: weir_core::ParseUnitError| e.to_string())?;
    match time >= Time::from_us(1) {
        true => Ok(time),
        false => Err("at least 1 us".into()),
    }
}
