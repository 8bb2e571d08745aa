//! `weir import cabling`.

use clap::Args;
use std::path::PathBuf;

/// `weir import cabling`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each cable has two ends, a speed (100G, 100Gbps, or Mb/s) and a length (5m). In
CSV the head names the columns: from, to, speed, length, and if known from_type
and to_type. In DOT and GraphML these are attributes. Nodes without a type are
hosts if they have one cable, else switches. The result is a scenario with one
flow, to which traffic is added; comments at its top say what was assumed.

Examples:
  weir import cabling cables.csv > fabric.toml
  weir import cabling fabric.dot --rate 100Gbps --length 5m --out fabric.toml
  weir lint fabric.toml --failures 2")]
pub(crate) struct ImportCabling {
    /// The list
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Speed of cables that do not say
    #[arg(long, value_name = "RATE")]
    pub rate: Option<weir_core::Rate>,
    /// Length of cables that do not say
    #[arg(long, value_name = "LENGTH")]
    pub length: Option<weir_core::Length>,
    /// Format instead of the one that the ending of the file tells
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<CablingFormat>,
    /// Write the scenario to this file, and the network to a graph file beside it, with layers
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// How a cabling list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CablingFormat {
    /// A line per cable.
    Csv,
    /// The language of Graphviz.
    Dot,
    /// XML.
    Graphml,
}
