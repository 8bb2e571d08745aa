//! Files that are there as a whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file under another name until it is complete. Dropped before that, it is removed.
#[derive(Debug)]
pub(super) struct Fresh {
    fresh: PathBuf,
    path: PathBuf,
    kept: bool,
}

impl Fresh {
    /// Begins the file that will be at `path`, and its directory if its parent is there.
    pub(super) fn create(path: &Path) -> io::Result<(Self, File)> {
        if let Some(directory) = path.parent().filter(|p| !p.as_os_str().is_empty())
            && !directory.is_dir()
        {
            fs::create_dir(directory)?;
        }
        let mut name = path.file_name().map(ToOwned::to_owned).unwrap_or_default();
        name.push(format!(".{}.new", std::process::id()));
        let fresh = path.with_file_name(name);
        let file = File::create(&fresh)?;
        Ok((Self { fresh, path: path.to_owned(), kept: false }, file))
    }

    /// The file is complete.
    pub(super) fn keep(mut self) -> io::Result<()> {
        fs::rename(&self.fresh, &self.path)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.fresh);
        }
    }
}
