//! Files to disk, whole or not at all; and what differs there.

use crate::emit::OutputFile;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// A file on disk that is not what would be generated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drift {
    /// The file's path from the output folder.
    pub path: String,
    /// What stands there, if anything does.
    pub found: Option<String>,
    /// What would be generated.
    pub expected: String,
}

/// Writes the files below a folder, each to a temporary file first that is then renamed. Files that are the same
/// already are not touched.
///
/// # Errors
/// A folder cannot be made or a file cannot be written. Files already renamed stay.
pub fn write(folder: &Path, files: &[OutputFile]) -> io::Result<()> {
    for file in files {
        let path = folder.join(&file.path);
        let is_same = fs::read_to_string(&path).is_ok_and(|found| found == file.text);
        if !is_same {
            replace(&path, &file.text).map_err(|error| about(&path, error))?;
        }
    }
    Ok(())
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = fs::File::create(&temporary).and_then(|mut out| {
        out.write_all(text.as_bytes())?;
        out.sync_all()
    });
    written.and_then(|()| fs::rename(&temporary, path)).inspect_err(|_| {
        // Best effort: what matters is the error that brought us here.
        let _ = fs::remove_file(&temporary);
    })
}

fn about(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The files below a folder that are not what would be generated.
///
/// # Errors
/// A file is there and cannot be read.
pub fn compare(folder: &Path, files: &[OutputFile]) -> io::Result<Vec<Drift>> {
    let mut drifted = Vec::new();
    for file in files {
        let path = folder.join(&file.path);
        let found = match fs::read_to_string(&path) {
            Ok(found) if found == file.text => continue,
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(about(&path, error)),
        };
        drifted.push(Drift { path: file.path.clone(), found, expected: file.text.clone() });
    }
    Ok(drifted)
}

/// The files in some parts of a folder that are not among those that would be generated.
///
/// # Errors
/// A folder is there and cannot be read.
pub fn strays(folder: &Path, parts: &[&str], files: &[OutputFile]) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for part in parts {
        collect(folder, part, &mut found)?;
    }
    let made: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    found.retain(|path| !made.contains(path.as_str()));
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, path: &str, found: &mut Vec<String>) -> io::Result<()> {
    let place = folder.join(path);
    let entries = match fs::read_dir(&place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(about(&place, error)),
    };
    for entry in entries {
        let entry = entry?;
        let path = format!("{path}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(folder, &path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}
