//! Starting the program.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

/// Starts the program and waits for its end.
pub(crate) fn weir(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.args(args).env("NO_COLOR", "1").env("COLUMNS", "200").stdin(Stdio::null());
    command.output().expect("the program can be started")
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
