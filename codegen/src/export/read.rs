//! Files and folders that a person wrote. Nothing else of the export reads any.

use crate::error::Problem;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file's name, for messages, and what stands in it.
pub(super) fn text(path: &Path) -> Result<(String, String), Problem> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    Ok((name(path), text))
}

/// The same of a file that need not be there.
pub(super) fn text_if_there(path: &Path) -> Result<Option<(String, String)>, Problem> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some((name(path), text))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// What lies in a folder, by name; in a folder that is not there, nothing.
pub(super) fn entries_if_there(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    match std::fs::exists(folder) {
        Ok(true) => entries(folder),
        Ok(false) => Ok(Vec::new()),
        Err(error) => Err(unreadable(folder, &error)),
    }
}

/// What lies in a folder, by name.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let read = || std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut paths = read().map_err(|error| unreadable(folder, &error))?;
    paths.sort();
    Ok(paths)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(name(path), "", format!("cannot be read: {error}"))
}

fn name(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
