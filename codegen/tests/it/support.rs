//! Folders to work in, the generator's binary, and cargo for what it wrote.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of this repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("codegen lies in the repository").to_path_buf()
}

/// An empty folder of a test's own, below the target folder.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("what an earlier run left can be removed");
    }
    fs::create_dir_all(&folder).expect("a folder below the target folder");
    folder
}

/// Writes a file and the folders it lies in.
pub fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folders can be made");
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// The text of a file.
pub fn get(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Copies a folder with all that lies in it.
pub fn copy(from: &Path, to: &Path) {
    for (path, bytes) in tree(from) {
        let target = to.join(path);
        fs::create_dir_all(target.parent().expect("a file lies in a folder")).expect("folders can be made");
        fs::write(target, bytes).expect("files can be written");
    }
}

/// All files below a folder by their path from it; of no folder, none.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![folder.to_path_buf()]);
    while let Some(next) = folders.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        for path in entries.map(|entry| entry.expect("folders can be read").path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).expect("it lies below").to_string_lossy().replace('\\', "/");
                    files.insert(name, fs::read(&path).expect("files can be read"));
                }
            }
        }
    }
    files
}

/// Compares a text with what is kept of it in `fixtures/`. `UPDATE_EXPECT=1` keeps it as it is now, for a person to read.
#[track_caller]
pub fn snapshot(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return put(&path, found);
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, kept, "{}: if it is meant to be so, run again with UPDATE_EXPECT=1", path.display());
}

/// What a program did.
#[derive(Debug)]
pub struct Run {
    /// The exit code.
    pub code: Option<i32>,
    /// What it printed.
    pub out: String,
    /// What it complained about.
    pub err: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

/// Runs the generator in a folder.
pub fn codegen(folder: &Path, arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-tasks-codegen"));
    command.current_dir(folder).args(arguments).output().expect("the generator runs").into()
}

/// Runs cargo on a workspace that a test made. What tests compile lies in one target folder, so that it is compiled
/// once, with the versions of this workspace, so that nothing is downloaded.
#[track_caller]
pub fn cargo(folder: &Path, arguments: &[&str]) -> String {
    fs::copy(repository().join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file can be copied");
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(folder).args(arguments).arg("--offline");
    command.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled"));
    let run = Run::from(command.output().expect("cargo runs"));
    assert_eq!(run.code, Some(0), "cargo {arguments:?} in {}:\n{}{}", folder.display(), run.out, run.err);
    run.out
}

/// The manifest of a crate for types that were generated from published schemas, warnings denied.
pub fn manifest(name: &str) -> String {
    format!(
        r#"[package]
name = "{name}"
version = "0.0.0"
edition = "2024"
publish = false

[dependencies]
indexmap = {{ version = "2.14", default-features = false, features = ["std", "serde"] }}
serde = {{ version = "1.0", default-features = false, features = ["std", "derive"] }}
serde_json = {{ version = "1.0", features = ["preserve_order", "float_roundtrip"] }}

[lints.rust]
warnings = "deny"

[workspace]
"#
    )
}
