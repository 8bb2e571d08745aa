//! How far the other workers of a sweep are, as far as their files show it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Counts the records that others add to a directory of results. Only what is new is read.
#[derive(Clone, Debug)]
pub struct Survey {
    results: PathBuf,
    /// The files of this worker begin like this.
    own: String,
    /// How far each file has been read, by its name without `.open` or `.rec`. `None` before the
    /// first look, which counts nothing: these records are known.
    ends: Option<BTreeMap<String, u64>>,
    records: usize,
}

impl Survey {
    /// Of `results`, by the worker whose share is called `own`.
    pub fn new(results: PathBuf, own: &str) -> Self {
        Self { results, own: format!("{own}."), ends: None, records: 0 }
    }

    /// The number of records that others have added since the first look. What cannot be read is
    /// not counted.
    pub fn look(&mut self) -> usize {
        let first = self.ends.is_none();
        let ends = self.ends.get_or_insert_default();
        let entries = std::fs::read_dir(&self.results).into_iter().flatten().flatten();
        for entry in entries {
            let file = entry.file_name().to_string_lossy().into_owned();
            let Some((name, "open" | "rec")) = file.rsplit_once('.') else { continue };
            let Ok(size) = entry.metadata().map(|m| m.len()) else { continue };
            if name.starts_with(&self.own) {
                continue;
            }
            let end = ends.entry(name.to_owned()).or_insert(if first { size } else { 0 });
            if size > *end
                && let Ok(lines) = lines(&entry.path(), *end, size)
            {
                self.records += lines;
                *end = size;
            }
        }
        self.records
    }
}

/// The ends of lines between two positions of a file.
fn lines(path: &std::path::Path, from: u64, to: u64) -> std::io::Result<usize> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut new = Vec::new();
    file.take(to - from).read_to_end(&mut new)?;
    Ok(new.iter().filter(|&&b| b == b'\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_what_others_add_is_counted_and_each_record_once() {
        let dir = std::env::temp_dir().join(format!("weir-survey-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let write = |name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
        write("shard-0001-of-0003.a.open", "known\n");
        let mut survey = Survey::new(dir.clone(), "shard-0000-of-0003");
        assert_eq!(survey.look(), 0);
        write("shard-0000-of-0003.b.open", "own\nown\n");
        write("shard-0001-of-0003.a.open", "known\nnew\nto");
        write("notes.txt", "no\nrecords\n");
        assert_eq!(survey.look(), 1, "the second one is not whole");
        fs::remove_file(dir.join("shard-0001-of-0003.a.open")).unwrap();
        write("shard-0001-of-0003.a.rec", "known\nnew\ntorn\n");
        write("shard-0002-of-0003.c.open", "another worker's\n");
        assert_eq!(survey.look(), 3, "renamed, and one more file");
        assert_eq!(survey.look(), 3);
        fs::remove_dir_all(&dir).unwrap();
        assert_eq!(survey.look(), 3, "what cannot be read changes nothing");
    }
}
