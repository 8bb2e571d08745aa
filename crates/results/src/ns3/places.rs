//! Where our results of a compatible run go.

use crate::report::WriteError;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use weir_ns3::Inputs;

/// The files we write beside the original's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// `summary.json`.
    pub summary: PathBuf,
    /// `flows.csv`.
    pub flows: PathBuf,
    /// `perf.json`.
    pub perf: PathBuf,
}

impl Places {
    /// In `dir`; or beside the file of completion times, and named after it, because several
    /// configurations often write into one directory.
    pub fn new(inputs: &Inputs, dir: Option<&Path>) -> Self {
        let place = |name: &str| match dir {
            Some(dir) => dir.join(name),
            None => inputs.config.fct_output.with_extension(name),
        };
        Self { summary: place("summary.json"), flows: place("flows.csv"), perf: place("perf.json") }
    }

    /// Refuses to write over files that are no results of ours.
    pub fn check(&self) -> Result<(), WriteError> {
        let files = [(&self.summary, "\"weir\""), (&self.perf, "packet_hops"), (&self.flows, HEAD)];
        for (path, mark) in files {
            let head = match head(path) {
                Ok(head) => head,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(WriteError { path: path.clone(), source }),
            };
            if !head.is_empty() && !head.contains(mark) {
                let what = "it exists and is not a result of Weir: name another directory";
                let source = io::Error::new(io::ErrorKind::AlreadyExists, what);
                return Err(WriteError { path: path.clone(), source });
            }
        }
        Ok(())
    }

    /// Writes all three.
    pub fn write(&self, summary: &[u8], flows: &[u8], perf: &[u8]) -> Result<(), WriteError> {
        for (path, bytes) in [(&self.summary, summary), (&self.flows, flows), (&self.perf, perf)] {
            let fail = |source| WriteError { path: path.clone(), source };
            fs::write(path, bytes).map_err(fail)?;
        }
        Ok(())
    }
}

/// How our flow tables begin.
const HEAD: &str = "scheme,seed,flow,";

/// The first few bytes of a file.
fn head(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(4096).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
