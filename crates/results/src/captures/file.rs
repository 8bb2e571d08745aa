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
        // a device, a pipe or a link would be replaced by a file of this name
        if let Ok(there) = fs::symlink_metadata(path)
            && !there.is_file()
        {
            let why = "something that is not a file is there (a link, a device, a directory)";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_never_replaced() {
        let place = std::env::temp_dir().join(format!("weir-capture-{}", std::process::id()));
        fs::create_dir_all(&place).expect("made");
        let (target, link) = (place.join("target"), place.join("link"));
        fs::write(&target, "kept").expect("written");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        for path in [link.as_path(), place.as_path(), Path::new("/dev/null")] {
            let error = Fresh::create(path).expect_err("refused").to_string();
            assert!(error.contains("not a file"), "{}: {error}", path.display());
        }
        let left = fs::read_dir(&place).expect("a directory").count();
        assert_eq!((left, fs::read_to_string(&target).ok()), (2, Some("kept".into())));
        fs::remove_dir_all(&place).expect("removed");
    }
}
