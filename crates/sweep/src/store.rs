//! The files of results: appended to by workers, read by everybody.
//!
//! Every worker has a file of its own, so two of them never write into each other's records. It is
//! called `.open` while it is written and renamed to `.rec` when the worker is done or the next
//! worker of the shard finds it. A line that was cut off by a crash is not a record; its run is
//! simply not done. A line that is damaged is skipped and reported, the ones after it are not lost.

use super::SweepError;
use super::plan::Head;
use super::record::{Record, Status};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A batch is written when it is this old, or this large.
const OLDEST: Duration = Duration::from_millis(100);
const LARGEST: usize = 1 << 16;
/// What was written reaches the disk at least this often.
const SYNC: Duration = Duration::from_secs(5);

/// What one file of results holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// Its name.
    pub name: String,
    /// Whole records.
    pub records: usize,
    /// Whether it ends in the middle of a record.
    pub torn: bool,
    /// Lines that are damaged, counted from 1.
    pub damaged: Vec<usize>,
    /// Why it could not be read at all.
    pub unreadable: Option<String>,
}

/// What is known of one run.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Its result.
    pub result: Option<Record>,
    /// Another result that differs: one of the two is wrong.
    pub conflict: Option<Record>,
    /// Its last failure.
    pub failure: Option<Record>,
    /// Failures up to this attempt are forgotten.
    pub forgiven: u32,
}

impl Known {
    /// Whether there is nothing to run: a result, or a failure that is not to be tried again.
    pub fn settled(&self) -> bool {
        self.result.is_some() || self.failed().is_some()
    }

    /// The failure that stands.
    pub fn failed(&self) -> Option<&Record> {
        let stands = |f: &&Record| self.result.is_none() && f.attempt > self.forgiven;
        self.failure.as_ref().filter(stands)
    }

    /// The number of the next attempt.
    pub fn next_attempt(&self) -> u32 {
        self.failure.as_ref().map_or(0, |f| f.attempt).max(self.forgiven) + 1
    }

    /// Records that say the same.
    pub(super) fn records(&self) -> Vec<Record> {
        let mut all: Vec<Record> = self.result.iter().chain(&self.failure).cloned().collect();
        if let (Some(failure), 1..) = (&self.failure, self.forgiven) {
            let (status, reason) = (Status::Retry, String::new());
            all.push(Record { status, reason, attempt: self.forgiven, ..failure.clone() });
        }
        all
    }

    /// Takes note of a record.
    pub(super) fn add(&mut self, record: Record) {
        match record.status {
            Status::Retry => self.forgiven = self.forgiven.max(record.attempt),
            Status::Failed => {
                // of several failures the last attempt counts; of equal attempts the reason that
                // sorts first, so that the order of files does not matter
                let rank = |r: &Record| (std::cmp::Reverse(r.attempt), r.reason.clone());
                if self.failure.as_ref().is_none_or(|f| rank(&record) < rank(f)) {
                    self.failure = Some(record);
                }
            }
            Status::Ok | Status::Invalid => match &self.result {
                None => self.result = Some(record),
                Some(first) if first.same_result(&record) => {}
                Some(_) => self.conflict = Some(record),
            },
        }
    }
}

/// Everything that the files of a sweep say.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// By run.
    pub runs: BTreeMap<String, Known>,
    /// The files, by name.
    pub files: Vec<FileReport>,
    /// Records of other programs, by version and build: they do not count.
    pub foreign: BTreeMap<String, usize>,
}

impl Results {
    /// Reads all files of `directory`; records of programs that `plan` does not accept do not
    /// count.
    pub fn read(directory: &Path, plan: &Head) -> Result<Self, SweepError> {
        let mut results = Self::default();
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(results),
            Err(e) => return Err(SweepError::io(directory, e)),
        };
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.map_err(|e| SweepError::io(directory, e))?.path();
            if path.extension().is_some_and(|e| e == "open" || e == "rec") {
                paths.push(path);
            }
        }
        paths.sort();
        for path in paths {
            results.read_file(&path, plan);
        }
        Ok(results)
    }

    fn read_file(&mut self, path: &Path, plan: &Head) {
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let (records, damaged) = (0, Vec::new());
        let mut report = FileReport { name, records, torn: false, damaged, unreadable: None };
        // A worker may seal the file between the listing and now.
        let bytes = match fs::read(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => fs::read(path.with_extension("rec")),
            other => other,
        };
        match bytes {
            Err(e) => report.unreadable = Some(e.to_string()),
            Ok(bytes) => {
                for (i, line) in bytes.split_inclusive(|b| *b == b'\n').enumerate() {
                    let Some(line) = line.strip_suffix(b"\n") else {
                        report.torn = true;
                        continue;
                    };
                    match Record::parse(line) {
                        None => report.damaged.push(i + 1),
                        Some(record) => {
                            report.records += 1;
                            self.add(record, plan);
                        }
                    }
                }
            }
        }
        self.files.push(report);
    }

    fn add(&mut self, record: Record, plan: &Head) {
        if plan.counts(&record) {
            self.runs.entry(record.id.clone()).or_default().add(record);
        } else {
            let lacks = plan.lacks(&record).unwrap_or_default();
            let program = format!("weir {}, build {}{lacks}", record.weir, record.build);
            *self.foreign.entry(program).or_default() += 1;
        }
    }

    /// What is known of a run.
    pub fn of(&self, id: &str) -> Option<&Known> {
        self.runs.get(id)
    }
}

/// Appends records to a file of its own.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: Option<File>,
    batch: Vec<u8>,
    since: Instant,
    synced: Instant,
    /// Bytes of whole records in the file.
    clean: u64,
    failed: bool,
}

impl Writer {
    /// A new file in `directory`, made when there is something to write. `name` says whose.
    pub fn new(directory: &Path, name: &str) -> Self {
        // Unique among all workers on all machines that share the directory: the name of the
        // machine would do with the process, but is not needed with the time in nanoseconds.
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let nanos = time.map_or(0, |t| t.as_nanos());
        let path = directory.join(format!("{name}.{nanos:x}.{:x}.open", std::process::id()));
        let now = Instant::now();
        let (batch, clean, failed) = (Vec::new(), 0, false);
        Self { path, file: None, batch, since: now, synced: now, clean, failed }
    }

    /// Adds a record to the batch, and writes the batch if it is due.
    pub fn add(&mut self, record: &Record) -> Result<(), SweepError> {
        if self.batch.is_empty() {
            self.since = Instant::now();
        }
        self.batch.extend(record.line());
        self.flush_if_due()
    }

    /// Writes the batch if it is old or large.
    pub fn flush_if_due(&mut self) -> Result<(), SweepError> {
        let due = self.batch.len() >= LARGEST || self.since.elapsed() >= OLDEST;
        if !self.batch.is_empty() && due { self.flush() } else { Ok(()) }
    }

    /// Writes the batch.
    pub fn flush(&mut self) -> Result<(), SweepError> {
        if self.batch.is_empty() || self.failed {
            return Ok(());
        }
        let result = self.write();
        if let Err(e) = result {
            // What was written of the batch is cut off again, as far as that works. Where it does
            // not, readers drop the torn record themselves.
            self.failed = true;
            if let Some(file) = &self.file {
                let _ = file.set_len(self.clean);
            }
            return Err(SweepError::io(&self.path, e));
        }
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            let options = OpenOptions::new().append(true).create_new(true).clone();
            self.file = Some(options.open(&self.path)?);
        }
        let file = self.file.as_mut().expect("it was just opened");
        file.write_all(&self.batch)?;
        if self.synced.elapsed() >= SYNC {
            file.sync_data()?;
            self.synced = Instant::now();
        }
        self.clean += self.batch.len() as u64;
        self.batch.clear();
        Ok(())
    }

    /// Writes what is left, makes sure that it is on the disk, and renames the file.
    pub fn seal(mut self) -> Result<(), SweepError> {
        self.flush()?;
        if let Some(file) = self.file.take() {
            file.sync_all().map_err(|e| SweepError::io(&self.path, e))?;
            seal(&self.path)?;
        }
        Ok(())
    }
}

fn seal(path: &Path) -> Result<(), SweepError> {
    let sealed = path.with_extension("rec");
    match fs::rename(path, &sealed) {
        // where locks do not work, another worker of the shard may have sealed it
        Err(e) if e.kind() == io::ErrorKind::NotFound && sealed.exists() => Ok(()),
        other => other.map_err(|e| SweepError::io(path, e)),
    }
}

/// Seals what workers of `name` left behind when they were killed. Only who holds the lock of
/// `name` may do so.
pub fn seal_left_behind(directory: &Path, name: &str) -> Result<(), SweepError> {
    let prefix = format!("{name}.");
    let entries = fs::read_dir(directory).map_err(|e| SweepError::io(directory, e))?;
    for entry in entries {
        let path = entry.map_err(|e| SweepError::io(directory, e))?.path();
        let file = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        if file.starts_with(&prefix) && file.ends_with(".open") {
            seal(&path)?;
        }
    }
    Ok(())
}

/// Writes a file as a whole or not at all.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), SweepError> {
    let mut name = path.file_name().map(ToOwned::to_owned).unwrap_or_default();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = File::create(&fresh).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(e) = written.and_then(|()| fs::rename(&fresh, path)) {
        let _ = fs::remove_file(&fresh);
        return Err(SweepError::io(path, e));
    }
    Ok(())
}

/// A lock that ends with its process, however that ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "holds the lock")] Option<File>);

impl Lock {
    /// Takes the lock at `path`; `None` while another worker has it. On a file system without
    /// locks two workers may make the same runs, which costs time only.
    pub fn take(path: &Path) -> Result<Option<Self>, SweepError> {
        let options = OpenOptions::new().create(true).truncate(false).write(true).clone();
        let file = options.open(path).map_err(|e| SweepError::io(path, e))?;
        lock(file)
    }
}

#[cfg(unix)]
fn lock(file: File) -> Result<Option<Lock>, SweepError> {
    use rustix::fs::{FlockOperation, flock};
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(Lock(Some(file)))),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(_) => Ok(Some(Lock(None))),
    }
}

#[cfg(not(unix))]
fn lock(_: File) -> Result<Option<Lock>, SweepError> {
    Ok(Some(Lock(None)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_results::metrics::Figures;
    use weir_results::starts::Starts;

    fn record(id: &str, status: Status, attempt: u32, cell: &str) -> Record {
        let figures = matches!(status, Status::Ok | Status::Invalid);
        Record {
            id: id.into(),
            weir: "1".into(),
            build: "a".into(),
            status,
            reason: String::new(),
            attempt,
            figures: figures.then(|| Figures::by_hand("finish", cell.to_owned().into())),
            starts: None,
            cpu_seconds: 0.5,
        }
    }

    fn head(weir: &str, build: &str) -> Head {
        let mut head = Head::new("x".into(), "x".into(), "x.toml".into(), Vec::new());
        (head.weir, head.build) = (weir.into(), build.into());
        head
    }

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("weir-store-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("made");
        path
    }

    fn write(directory: &Path, name: &str, records: &[Record]) {
        let mut writer = Writer::new(directory, name);
        records.iter().for_each(|r| writer.add(r).expect("written"));
        writer.seal().expect("sealed");
    }

    #[test]
    fn equal_results_count_once_and_different_ones_are_a_conflict() {
        let dir = scratch("conflict");
        let slow =
            Record { cpu_seconds: 9.0, build: "b".into(), ..record("r", Status::Ok, 2, "7") };
        write(&dir, "a", &[record("r", Status::Ok, 1, "7"), record("s", Status::Ok, 1, "7")]);
        write(&dir, "b", &[slow, record("s", Status::Ok, 1, "8")]);
        let results = Results::read(&dir, &head("1", "any")).expect("read");
        assert_eq!(results.runs.len(), 2);
        assert!(results.runs["r"].conflict.is_none() && results.runs["s"].conflict.is_some());
        fs::remove_dir_all(&dir).expect("removed");
    }

    #[test]
    fn results_of_other_versions_and_builds_do_not_count() {
        let dir = scratch("foreign");
        let old = Record { weir: "0".into(), ..record("r", Status::Ok, 1, "7") };
        let other = Record { build: "b".into(), ..record("s", Status::Ok, 1, "7") };
        write(&dir, "a", &[old, other, record("t", Status::Ok, 1, "7")]);
        let count = |head: &Head| {
            let results = Results::read(&dir, head).expect("read");
            (results.runs.len(), results.foreign.values().sum::<usize>())
        };
        assert_eq!(count(&head("1", "a")), (1, 2));
        assert_eq!(count(&head("1", "any")), (2, 1));
        assert_eq!(count(&head("2", "any")), (0, 3));
        fs::remove_dir_all(&dir).expect("removed");
    }

    /// The figures of a program with other columns are read as none.
    #[test]
    fn a_result_without_the_columns_of_this_program_is_of_another_one() {
        let dir = scratch("columns");
        let other = Record { figures: None, ..record("r", Status::Ok, 1, "7") };
        write(&dir, "a", &[other, record("s", Status::Ok, 1, "7")]);
        let results = Results::read(&dir, &head("1", "any")).expect("read");
        assert_eq!(results.runs.keys().collect::<Vec<_>>(), ["s"]);
        assert_eq!(results.foreign.values().sum::<usize>(), 1);
        assert!(results.files[0].damaged.is_empty());
        fs::remove_dir_all(&dir).expect("removed");
    }

    /// A plan that asks for a series of starts is not complete without it.
    #[test]
    fn a_result_without_a_series_that_the_plan_asks_for_does_not_count() {
        let dir = scratch("starts");
        let with = Record { starts: Some(Starts::default()), ..record("s", Status::Ok, 1, "7") };
        write(&dir, "a", &[record("r", Status::Ok, 1, "7"), record("s", Status::Ok, 1, "7"), with]);
        let read = |starts| {
            let mut plan = head("1", "any");
            plan.starts = starts;
            let results = Results::read(&dir, &plan).expect("read");
            let conflicts = results.runs.values().filter(|k| k.conflict.is_some()).count();
            (results.runs.into_keys().collect::<Vec<_>>(), results.foreign, conflicts)
        };
        let (runs, foreign, conflicts) = read(true);
        assert_eq!((runs, conflicts), (vec!["s".to_owned()], 0));
        let said: Vec<_> = foreign.into_iter().collect();
        assert_eq!(said, [("weir 1, build a, without a series of starts".to_owned(), 2)]);
        let (runs, foreign, conflicts) = read(false);
        assert_eq!((runs.len(), foreign.len(), conflicts), (2, 0, 0));
        fs::remove_dir_all(&dir).expect("removed");
    }

    #[test]
    fn a_failure_stands_until_it_is_forgiven_or_succeeds_in_any_order() {
        let [fail1, fail2] = [1, 2].map(|n| record("r", Status::Failed, n, ""));
        let forgive1 = record("r", Status::Retry, 1, "");
        let success = record("r", Status::Ok, 3, "7");
        let known = |records: &[&Record]| {
            let mut known = Known::default();
            records.iter().for_each(|r| known.add((*r).clone()));
            (known.settled(), known.failed().map(|f| f.attempt), known.next_attempt())
        };
        assert_eq!(known(&[]), (false, None, 1));
        assert_eq!(known(&[&fail1]), (true, Some(1), 2));
        for order in [[&fail1, &forgive1], [&forgive1, &fail1]] {
            assert_eq!(known(&order), (false, None, 2));
        }
        for order in [[&fail1, &forgive1, &fail2], [&fail2, &forgive1, &fail1]] {
            assert_eq!(known(&order), (true, Some(2), 3));
        }
        assert_eq!(known(&[&fail2, &success, &fail1]).1, None);
    }

    #[test]
    fn a_writer_that_fails_leaves_whole_records_only() {
        let dir = scratch("fails");
        let mut writer = Writer::new(&dir, "a");
        writer.add(&record("r", Status::Ok, 1, "7")).expect("written");
        writer.flush().expect("written");
        // a file that was opened for reading refuses every write
        let path = writer.path.clone();
        writer.file = Some(File::open(&path).expect("opened"));
        // on a slow machine the batch may be due at once
        let added = writer.add(&record("s", Status::Ok, 1, "7"));
        assert!(added.and_then(|()| writer.flush()).is_err());
        let results = Results::read(&dir, &head("1", "a")).expect("read");
        assert_eq!(results.runs.keys().collect::<Vec<_>>(), ["r"]);
        fs::remove_dir_all(&dir).expect("removed");
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_is_held_once() {
        let dir = scratch("lock");
        let path = dir.join("x.lock");
        let first = Lock::take(&path).expect("possible");
        assert!(first.is_some());
        assert!(Lock::take(&path).expect("possible").is_none());
        drop(first);
        assert!(Lock::take(&path).expect("possible").is_some());
        fs::remove_dir_all(&dir).expect("removed");
    }
}
