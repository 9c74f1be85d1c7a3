//! `Saver`: writes what is no text to files of the user's folder.
//!
//! Guarantee: the server has no say in where or under which name, and no file is written over.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    mem,
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::{exit::Problem, text};

/// Keeps blobs in a folder, or nowhere.
#[derive(Debug)]
pub struct Saver {
    folder: Option<PathBuf>,
    /// The files that were written.
    files: Vec<PathBuf>,
}

impl Saver {
    /// Keeps blobs in `folder`, which is made if need be.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, files: Vec::new() }
    }

    /// Keeps the blobs of a `CallToolResult`, if any are to be kept, and gives the files.
    ///
    /// # Errors
    /// If one cannot be written.
    pub fn keep(&mut self, result: &Value) -> Result<Vec<PathBuf>, Problem> {
        if self.folder.is_some() {
            super::render(result, self, false)?;
        }
        Ok(mem::take(&mut self.files))
    }

    /// Keeps nothing.
    #[cfg(test)]
    pub fn nowhere() -> Self {
        Self::new(None)
    }

    /// Keeps one blob, and says what it was and where it is.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn blob(&mut self, kind: &str, mime: &Value, data: &Value) -> Result<String, Problem> {
        let mime = text::brief(mime.as_str().unwrap_or("unknown type"), 80);
        let Ok(bytes) = STANDARD.decode(data.as_str().unwrap_or_default()) else {
            return Ok(format!("[{kind}, {mime}: not base64]"));
        };
        let Some(folder) = &self.folder else {
            return Ok(format!("[{kind}, {mime}, {} bytes; keep it with --save DIR]", bytes.len()));
        };
        let path = write(folder, kind, extension(&mime), &bytes)
            .map_err(|error| Problem::new(format!("cannot write to {}", folder.display())).because(error))?;
        let said = format!("[{kind}, {mime}, {} bytes: {}]", bytes.len(), path.display());
        self.files.push(path);
        Ok(said)
    }
}

/// Writes a file of the first name that is free.
fn write(folder: &Path, kind: &str, extension: &str, bytes: &[u8]) -> std::io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    for number in 1_u32.. {
        let path = folder.join(format!("{kind}-{number}.{extension}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => return file.write_all(bytes).map(|()| path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// What files of a type are called.
fn extension(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "text/plain" => "txt",
        "text/html" => "html",
        "text/csv" => "csv",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_never_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut saver = Saver::new(Some(folder.path().join("new")));
        for data in ["QQ==", "Qg=="] {
            saver.blob("image", &json!("image/png"), &json!(data)).expect("written");
        }
        let read = |name: &str| fs::read_to_string(folder.path().join("new").join(name)).expect("a file");
        assert_eq!([read("image-1.png"), read("image-2.png")], ["A", "B"]);
    }
}
