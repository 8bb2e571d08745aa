//! Writes the log of a simulation as it runs.

use super::{Header, Lines};
use std::io::{self, Write};
use weir_core::Time;
use weir_sim::config::Config;
use weir_sim::stations::{Crossed, Listener};

/// Writes a log. Errors are kept until [`LogWriter::finish`].
pub struct LogWriter<W: Write> {
    out: W,
    lines: Lines,
    written: u64,
    error: Option<io::Error>,
}

/// So many bytes are written at a time.
const CHUNK: usize = 1 << 16;

impl<W: Write> LogWriter<W> {
    /// Begins a log.
    pub fn new(mut out: W, header: &Header, config: &Config) -> io::Result<Self> {
        serde_json::to_writer(&mut out, header)?;
        out.write_all(b"\n")?;
        Ok(Self { out, lines: Lines::new(config), written: 0, error: None })
    }

    /// Adds the lines of a node of a live run.
    pub fn append(&mut self, lines: Lines) {
        self.flush();
        self.written += lines.count;
        self.lines.error = self.lines.error.take().or(lines.error);
        self.write(lines.text.as_bytes());
    }

    /// Ends the log, when nodes have handled everything before `now`.
    pub fn end(&mut self, now: Time) {
        self.flush();
        let end = format!("end {} {}\n", now.as_ps(), self.written);
        self.write(end.as_bytes());
    }

    /// Completes the file; returns how many frames are in it.
    pub fn finish(mut self) -> io::Result<u64> {
        self.flush();
        if let Some(why) = self.lines.error.take() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.out.flush()?;
        Ok(self.written)
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.lines.text);
        self.written += std::mem::take(&mut self.lines.count);
        self.write(text.as_bytes());
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.out.write_all(bytes).err();
        }
    }
}

impl<W: Write> Listener for LogWriter<W> {
    fn crosses(&mut self, frame: &Crossed<'_>) {
        self.lines.crossed(frame.from, frame.to, frame.at, frame.parcel);
        if self.lines.text.len() > CHUNK {
            self.flush();
        }
    }

    fn ends(&mut self, now: Time) {
        self.end(now);
    }
}
