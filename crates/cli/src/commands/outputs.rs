//! Files that a command writes, against those it reads.

use anyhow::bail;
use std::path::{Path, PathBuf};

/// Refuses an output that is one of the inputs, by whatever name or link.
pub(super) fn keep_inputs(output: &Path, inputs: &[PathBuf]) -> anyhow::Result<()> {
    for input in inputs {
        if same_file(output, input) {
            let (output, input) = (output.display(), input.display());
            bail!("cannot write {output}: this command reads {input}, which is the same file");
        }
    }
    Ok(())
}

/// Whether two names stand for one file that exists.
fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |path: &Path| std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
        id(a).is_some_and(|a| id(b) == Some(a))
    }
    #[cfg(not(unix))]
    {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        real(a).is_some_and(|a| real(b) == Some(a))
    }
}
