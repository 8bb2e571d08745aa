//! Puts the files of `papers/` into the program.
//!
//! `papers` beside this file is a link to the directory at the root of the repository; a package
//! has the files themselves. Of results only the summary is inside.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Of the results only these are inside.
const SUMMARY: [&str; 3] =
    ["results/experiments.csv", "results/not-reproduced.csv", "results/times.csv"];
const ENDINGS: [&str; 4] = ["toml", "csv", "txt", "json"];

fn main() {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("papers");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    walk(&root, Path::new(""), &mut files);
    files.sort();
    let mut text = String::from("&[\n");
    for (name, path) in files {
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(text, "    ({name:?}, include_str!({:?})),", path.display().to_string())
            .expect("writing to memory");
    }
    text.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    fs::write(out.join("papers.rs"), text).expect("the build directory can be written to");
}

/// All files below a directory, with `/` between the parts of their names.
fn walk(directory: &Path, name: &Path, files: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), name.join(entry.file_name()));
        if path.is_dir() {
            println!("cargo::rerun-if-changed={}", path.display());
            walk(&path, &name, files);
        } else if name.starts_with("results") && !SUMMARY.iter().any(|own| name == Path::new(own)) {
            // only the summary is listed
        } else if name.extension().is_some_and(|e| ENDINGS.iter().any(|known| e == *known)) {
            let parts: Vec<_> = name.iter().map(|p| p.to_string_lossy().into_owned()).collect();
            files.push((parts.join("/"), path));
        }
    }
}
