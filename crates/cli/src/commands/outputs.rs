//! Files that a command writes, against those it reads.

use anyhow::{Context, bail};
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

/// Writes a file; an error names it.
pub(super) fn write_file(output: &Path, content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    std::fs::write(output, content).with_context(|| format!("cannot write {}", output.display()))
}

/// Refuses an output that cannot be a file, before hours are spent on what is to be in it.
pub(super) fn writable(output: &Path) -> anyhow::Result<()> {
    let name = output.display();
    if output.is_dir() {
        bail!("cannot write {name}: it is a directory");
    }
    let parent = output.parent().filter(|p| !p.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|p| !p.is_dir()) {
        bail!("cannot write {name}: there is no directory {}", parent.display());
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
