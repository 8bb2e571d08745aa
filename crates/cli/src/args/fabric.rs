//! Commands for those who run a fabric: `advise`, `explain`, `sonic`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use weir_core::{Bytes, Length, Rate, Response, Time};
use weir_fc::Cell;

/// `weir advise`.
#[derive(Args, Debug)]
#[command(after_help = "\
Headroom is what still arrives after a switch has decided to pause: the cable's
round trip, what the peer sends until it reacts, a frame ahead of the PAUSE, a
frame that the peer has begun, and the packet that crosses the threshold. The
answer is confirmed by two runs of the simulator at the worst instant: nothing
is lost with it, and packets are lost with a byte less than arrives.

Examples:
  weir advise --speed 400G --length 100m --mtu 4096 --buffer 64MB --ports 64
  weir advise --speed 100G --length 40m --mtu 9100 --asic spectrum-2 --json
  weir advise --speed 100G --length 2km --response 500ns --spare 20m
  weir advise my.toml                  every kind of link of a scenario
  weir advise --sonic leaf1.json       every kind of lossless port of a switch
  weir advise --speed 400G --length 50m --keys >> my.toml")]
pub(crate) struct Advise {
    /// A scenario whose links to advise on, instead of --speed and --length
    #[arg(value_name = "SCENARIO", conflicts_with_all = ["speed", "length", "sonic"])]
    pub scenario: Option<String>,
    /// A config_db.json whose lossless ports to advise on; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["speed", "length"])]
    pub sonic: Vec<PathBuf>,
    /// Change a value of the scenario; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE", requires = "scenario")]
    pub sets: Vec<String>,
    /// Speed of the link, such as 100G
    #[arg(long, value_name = "RATE", value_parser = speed)]
    #[arg(required_unless_present_any = ["scenario", "sonic"])]
    pub speed: Option<Rate>,
    /// Length of the cable, such as 40m
    #[arg(long, visible_alias = "cable", value_name = "LENGTH", allow_hyphen_values = true)]
    #[arg(required_unless_present_any = ["scenario", "sonic"])]
    pub length: Option<Length>,
    /// How long a signal takes for a metre of cable
    #[arg(long, value_name = "TIME", default_value_t = Length::PER_METRE)]
    pub per_metre: Time,
    /// MTU of the port
    #[arg(long, value_name = "BYTES", default_value = "9100", value_parser = mtu)]
    pub mtu: u64,
    /// Largest lossless packet; default: the MTU, and 1024 in the rule of --asic
    #[arg(long, value_name = "BYTES", value_parser = mtu)]
    pub lossless_mtu: Option<u64>,
    /// How long the peer takes to react: a time, or 802.1Qbb for the longest that is allowed
    #[arg(long, value_name = "TIME", default_value = Response::STANDARD, value_parser = response)]
    pub response: Response,
    /// Forwarding latency of the switch
    #[arg(long, value_name = "TIME", default_value = "0ns")]
    pub latency: Time,
    /// Delay of MAC and PHY of both ends: a time, or 802.3 for what is published (10G, 100G)
    #[arg(long, value_name = "TIME", default_value = "0ns", value_parser = interface)]
    pub interface: Interface,
    /// Cable to plan for in addition
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    pub spare: Option<Length>,
    /// Memory of the switch, to divide it
    #[arg(long, value_name = "BYTES")]
    pub buffer: Option<Bytes>,
    /// Ports of the switch
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub ports: u64,
    /// Lossless priorities
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=8))]
    pub priorities: u64,
    /// Headroom promised over headroom there is, with a shared headroom pool
    #[arg(long, value_name = "RATIO", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=64))]
    pub oversubscription: u64,
    /// Share of the free memory at which an ingress pauses, as the power of two n of 2^n
    #[arg(long, value_name = "N", default_value_t = -3, allow_negative_numbers = true)]
    #[arg(value_parser = clap::value_parser!(i8).range(-8..=7))]
    pub dynamic_th: i8,
    /// Family of the switch, to show the rule of SONiC's dynamic buffer model, too
    #[arg(long, value_name = "NAME", value_parser = asic)]
    pub asic: Option<&'static weir_fabric::Asic>,
    /// Bytes of a cell of the packet memory; default: of the family or the scenario
    #[arg(long, value_name = "BYTES", value_parser = cell)]
    pub cell: Option<Cell>,
    /// Lanes of the port, in the rule of --asic
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub lanes: u64,
    /// Share of small packets in percent, in the rule of --asic
    #[arg(long, value_name = "PERCENT", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=100))]
    pub small_packets: u64,
    /// Delay of a gearbox in ns, in the rule of --asic
    #[arg(long, value_name = "NS", default_value_t = 0)]
    pub gearbox: u64,
    /// Ports share a headroom pool, in the rule of --asic; --oversubscription above 1 implies it
    #[arg(long)]
    pub shared_headroom: bool,
    /// Do not confirm the answer by runs
    #[arg(long)]
    pub no_run: bool,
    /// Print only keys to paste into a scenario
    #[arg(long, conflicts_with = "json")]
    pub keys: bool,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// The delay of interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interface {
    /// This.
    Fixed(Time),
    /// What is published for the speed.
    Standard,
}

/// `weir explain`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  weir explain SN201
  weir explain                 all codes")]
pub(crate) struct Explain {
    /// A code of a finding, such as SN201; default: a list of all
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// `100G`, `100Gbps`.
fn speed(text: &str) -> Result<Rate, String> {
    let number = text.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']);
    let short = number.len() + 1 == text.len() && number.ends_with(|c: char| c.is_ascii_digit());
    let whole = if short { format!("{text}bps") } else { text.to_owned() };
    let rate: Rate = whole.parse().map_err(|e| format!("{e}"))?;
    match rate.as_bps() {
        0 => Err("a link of speed 0 carries nothing: write 10G, 100G, ...".into()),
        1..=99_999 => Err("at least 100 kb/s: write 10G, 100G, ...".into()),
        100_000..=10_000_000_000_000 => Ok(rate),
        _ => Err("at most 10 Tb/s: write 10G, 100G, ...".into()),
    }
}

/// The largest packet whose frame, with 18 B around it, is one that a run can have.
const LARGEST: u64 = 65_535 - weir_fabric::advice::FRAMING.get();

/// A size of packets.
fn mtu(text: &str) -> Result<u64, String> {
    let bytes = match text.bytes().all(|b| b.is_ascii_digit()) {
        true => text.parse().ok(),
        false => text.parse::<Bytes>().ok().map(Bytes::get),
    };
    match bytes {
        Some(bytes @ 64..=LARGEST) => Ok(bytes),
        _ => Err(format!("`{text}` is not an MTU: write 64 to {LARGEST}, in bytes")),
    }
}

/// The size of a cell.
fn cell(text: &str) -> Result<Cell, String> {
    let bytes = match text.bytes().all(|b| b.is_ascii_digit()) {
        true => text.parse().ok().map(Bytes::new),
        false => text.parse::<Bytes>().ok(),
    };
    let cell = bytes.filter(|b| b.get() <= 4096).and_then(Cell::new);
    cell.ok_or_else(|| format!("`{text}` is not a cell: write 1 to 4096, in bytes"))
}

/// A time, or `802.1Qbb`.
pub(crate) fn response(text: &str) -> Result<Response, String> {
    if text.eq_ignore_ascii_case(Response::STANDARD) {
        return Ok(Response::Standard);
    }
    let time: Time = text.parse().map_err(|e| format!("{e}; or {}", Response::STANDARD))?;
    if time > Time::from_ms(10) {
        return Err("at most 10 ms".into());
    }
    Ok(time.into())
}

fn interface(text: &str) -> Result<Interface, String> {
    match text {
        "802.3" => Ok(Interface::Standard),
        _ => text.parse().map(Interface::Fixed).map_err(|e| format!("{e}; or 802.3")),
    }
}

/// A family of switches.
pub(crate) fn asic(text: &str) -> Result<&'static weir_fabric::Asic, String> {
    weir_fabric::Asic::find(text)
        .ok_or_else(|| format!("`{text}` is not known: {}", weir_fabric::Asic::names()))
}

/// `weir sonic`.
#[derive(Args, Debug)]
pub(crate) struct Sonic {
    /// What to do.
    #[command(subcommand)]
    pub what: SonicWhat,
}

/// What to do with configurations of SONiC.
#[derive(Subcommand, Debug)]
pub(crate) enum SonicWhat {
    /// Check config_db.json files: headroom, pools, PFC, ECN, maps, watchdog, both ends of links
    Check(SonicCheck),
}

/// `weir sonic check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each finding has a code (see `weir explain`), a place and a reason. Links between
the given switches are taken from DEVICE_NEIGHBOR. Tables and fields that are not
known are ignored. The exit code is 1 if there are errors, with --strict also for
warnings.

Examples:
  weir sonic check leaf1.json
  weir sonic check leaf*.json spine*.json --asic spectrum-3
  weir sonic check leaf1.json --lookup pg_profile_lookup.ini --host roce.sh
  weir sonic check *.json --patch mend        one JSON patch for each switch
  weir sonic check *.json --format sarif > findings.sarif")]
pub(crate) struct SonicCheck {
    /// config_db.json files, one for each switch
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Headroom by speed and cable, of the traditional buffer model: pg_profile_lookup.ini
    #[arg(long, value_name = "FILE")]
    pub lookup: Option<PathBuf>,
    /// Settings of a host: a script or output of mlnx_qos, cma_roce_tos, ethtool; may be repeated
    #[arg(long = "host", value_name = "FILE")]
    pub hosts: Vec<PathBuf>,
    /// Family of the switches; default: by platform and hwsku
    #[arg(long, value_name = "NAME", value_parser = asic)]
    pub asic: Option<&'static weir_fabric::Asic>,
    /// How long peers take to react: a time, or 802.1Qbb for the longest that is allowed
    #[arg(long, value_name = "TIME", default_value = Response::STANDARD, value_parser = response)]
    pub response: Response,
    /// Packet memory of a switch, to compare the pools with
    #[arg(long, value_name = "BYTES")]
    pub memory: Option<Bytes>,
    /// Largest headroom of one port
    #[arg(long, value_name = "BYTES")]
    pub max_headroom: Option<Bytes>,
    /// Write a JSON patch (RFC 6902) for each switch that can be mended to this directory
    #[arg(long, value_name = "DIR")]
    pub patch: Option<PathBuf>,
    /// How to print the findings
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = SonicFormat::Text)]
    pub format: SonicFormat,
    /// The same as --format json
    #[arg(long)]
    pub json: bool,
    /// Fail on warnings, too
    #[arg(long)]
    pub strict: bool,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SonicFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// SARIF 2.1.0, for code review systems.
    Sarif,
}

/// `weir import sonic`.
#[derive(Args, Debug)]
#[command(after_help = "\
The network is taken from DEVICE_NEIGHBOR: neighbours that are not among the
files become hosts. Settings that a scenario has once for all switches are those
of most lossless ports. Comments at the top list what has no counterpart.

Examples:
  weir import sonic leaf1.json leaf2.json spine1.json > my.toml
  weir import sonic *.json --out my.toml")]
pub(crate) struct ImportSonic {
    /// config_db.json files, one for each switch
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Headroom by speed and cable, of the traditional buffer model: pg_profile_lookup.ini
    #[arg(long, value_name = "FILE")]
    pub lookup: Option<PathBuf>,
    /// Family of the switches, for the size of their cells; default: by platform and hwsku
    #[arg(long, value_name = "NAME", value_parser = asic)]
    pub asic: Option<&'static weir_fabric::Asic>,
    /// Write the scenario to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
