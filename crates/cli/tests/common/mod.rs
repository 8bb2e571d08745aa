//! Starting the program.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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

/// A directory of its own for one test, empty.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the scratch directory can be made");
    path
}
