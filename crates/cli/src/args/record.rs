//! What `weir run` and `weir compare` record.

use clap::Args;
use weir_core::{Bytes, Time};
use weir_sim::probe::RecordConfig;
use weir_view::Limit;

/// Recordings for `weir view`.
#[derive(Args, Debug)]
pub(crate) struct RecordArgs {
    /// Record pauses, queues, links and flows over time, for `weir view` (timeline.weir in the
    /// directory of --out)
    #[arg(long, requires = "out")]
    pub record: bool,
    /// The length of the windows of a recording; longer where the file would become too large
    #[arg(long, value_name = "TIME", requires = "record", default_value = "1us")]
    #[arg(value_parser = window)]
    pub window: Time,
    /// The size of a recording, at most (names of nodes and ports are never left out)
    #[arg(long, value_name = "SIZE", requires = "record", default_value = "64MB")]
    #[arg(value_parser = size)]
    pub record_limit: Bytes,
}

/// The least size that can be asked for: less holds nothing but names.
const LEAST: Bytes = Bytes::new(5_000);

/// The size of a recording or trace: `64MB`.
pub(super) fn size(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|e: weir_core::ParseUnitError| e.to_string())?;
    if size >= LEAST { Ok(size) } else { Err(format!("{LEAST} or more")) }
}

impl RecordArgs {
    /// How large a recording may be.
    pub(crate) fn limit(&self) -> Limit {
        Limit(self.record_limit.get())
    }

    /// What runs are to record.
    pub(crate) fn config(&self) -> Option<RecordConfig> {
        let Self { window, .. } = *self;
        self.record.then(|| RecordConfig { window, rows: self.limit().rows() })
    }

    /// The options as they were given.
    pub(crate) fn words(&self) -> String {
        if !self.record {
            return String::new();
        }
        let mut words = String::from(" --record");
        if self.window != RecordConfig::default().window {
            words += &format!(" --window {}", self.window.to_string().replace(' ', ""));
        }
        words
    }
}

/// The length of a window: `1us`.
pub(crate) fn window(text: &str) -> Result<Time, String> {
    /// Shorter windows would have less than a frame in them, whatever the link.
    const LEAST: Time = Time::from_ns(10);
    let time: Time = text.parse().map_err(|e: weir_core::ParseUnitError| e.to_string())?;
    let most = Time::from_ms(1_000);
    match (LEAST..=most).contains(&time) {
        true => Ok(time),
        false => Err(format!("from {LEAST} to {most}")),
    }
}
