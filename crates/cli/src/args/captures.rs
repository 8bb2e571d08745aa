//! What `weir run` captures.

use clap::Args;
use weir_core::Bytes;
use weir_results::captures::{Limits, Wanted};

/// The shortest snap length: an Ethernet header.
const LEAST_SNAP: u64 = 14;

/// Captures for Wireshark.
#[derive(Args, Debug)]
pub(crate) struct CaptureArgs {
    /// Capture the frames of a port for Wireshark (pcapng): s1/p0=FILE, s1=FILE for all ports of a
    /// node, all=FILE for all ports, DIR/ instead of FILE for a file per port; may be repeated.
    /// With --from and --to, the frames of this time
    #[arg(long, value_name = "NODE/PORT=FILE")]
    pub pcap: Vec<Wanted>,
    /// Keep at most so many bytes of each captured frame, such as 128B; default: all
    #[arg(long, value_name = "SIZE", requires = "pcap", value_parser = snap)]
    pub pcap_snap: Option<u32>,
    /// End a capture file when it has this size
    #[arg(long, value_name = "SIZE", requires = "pcap", default_value = "256MB")]
    pub pcap_limit: Bytes,
}

impl CaptureArgs {
    /// How much captures keep.
    pub(crate) fn limits(&self) -> Limits {
        Limits { snap: self.pcap_snap, file: self.pcap_limit }
    }
}

/// A snap length: `128B`.
fn snap(text: &str) -> Result<u32, String> {
    let bytes: Bytes = text.parse().map_err(|e: weir_core::ParseUnitError| e.to_string())?;
    let snap = u32::try_from(bytes.get()).ok().filter(|n| u64::from(*n) >= LEAST_SNAP);
    snap.ok_or_else(|| format!("from {LEAST_SNAP} B, an Ethernet header, to {} B", u32::MAX))
}
