//! Starting the program.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

/// The program, to be started: without colours, on wide lines, not as a worker of an array job.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.args(args).env("NO_COLOR", "1").env("COLUMNS", "200").stdin(Stdio::null());
    for name in ["SLURM_ARRAY_TASK_ID", "WEIR_SHARD_INDEX", "WEIR_SHARD_COUNT"] {
        command.env_remove(name);
    }
    command
}

/// Starts the program and waits for its end.
pub(crate) fn weir(args: &[&str]) -> Output {
    command(args).output().expect("the program can be started")
}

/// The exit code.
pub(crate) fn code(args: &[&str]) -> i32 {
    let output = weir(args);
    output.status.code().unwrap_or_else(|| panic!("{args:?}: {output:?}"))
}

/// What it prints; it must succeed.
pub(crate) fn stdout(args: &[&str]) -> String {
    let output = weir(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("output is text")
}

/// The exit code, and all that it says: output and errors.
pub(crate) fn code_and_text(args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = weir(args);
    let text = [stdout, stderr].map(|b| String::from_utf8(b).expect("output is text")).concat();
    (status.code(), text)
}

/// All that it says; it must succeed.
pub(crate) fn ok(args: &[&str]) -> String {
    let (code, text) = code_and_text(args);
    assert_eq!(code, Some(0), "{args:?}: {text}");
    text
}

/// The example of the book for papers.
pub(crate) fn my_paper() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/my-paper")
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

/// Names of scratch directories that tests of this program have taken.
static TAKEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A directory of its own for one test, empty. Tests run at the same time, so each name is given
/// out once.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let first = TAKEN.lock().expect("no test panics in here").insert(name.to_owned());
    assert!(first, "two tests share the scratch directory `{name}`");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the scratch directory can be made");
    path
}
