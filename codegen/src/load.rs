//! Files to [`Document`]s. Reads; changes nothing.

mod json;

use crate::Schemas;
use crate::document::Document;
use crate::error::{Error, Problem, Problems};
use crate::overlay::Overlay;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads schema files.
///
/// # Errors
/// A file cannot be read or is not JSON. All such files are named.
pub fn load_files(paths: &[PathBuf]) -> Result<Vec<Document>, Error> {
    let mut problems = Problems::default();
    let documents = paths.iter().filter_map(|path| problems.take(load(path))).collect();
    problems.finish(documents)
}

/// Reads a folder of the house style: a folder for each revision with `PART.schema.json` in it, and `codegen.toml`.
///
/// # Errors
/// A file or folder cannot be read, is not JSON or TOML, or there is no revision at all.
pub fn load_folder(folder: &Path) -> Result<(Schemas, Overlay), Error> {
    let mut problems = Problems::default();
    let mut revisions = Vec::new();
    let folders: Vec<_> = sorted(folder)?.into_iter().filter(|path| path.is_dir()).collect();
    for path in &folders {
        if let Some(documents) = problems.take(schema_files(path).and_then(|files| load_files(&files))) {
            revisions.push((name_of(path), documents));
        }
    }
    let overlay = problems.take(load_overlay(&folder.join("codegen.toml"))).unwrap_or_default();
    if folders.is_empty() {
        let help = "it should hold a folder for each revision, such as 2026-07-28";
        problems.push(Problem::new(shown(folder), "", "no revision in this folder").help(help));
    }
    problems.finish((Schemas::House(revisions), overlay))
}

/// The schema files of one revision's folder: at least one, for a revision of nothing agrees with everything.
pub(crate) fn schema_files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let files: Vec<_> = sorted(folder)?.into_iter().filter(|path| is_schema(path)).collect();
    if files.is_empty() {
        let help = "it should hold the documents of one revision, named like tasks.schema.json";
        return Err(Problem::new(shown(folder), "", "no *.schema.json in this folder").help(help).into());
    }
    Ok(files)
}

/// Reads an overlay.
pub(crate) fn load_overlay(path: &Path) -> Result<Overlay, Error> {
    Overlay::parse(&shown(path), &read(path)?)
}

fn load(path: &Path) -> Result<Document, Error> {
    let text = read(path)?;
    let root = json::parse(&text).map_err(|(pointer, error)| {
        let help = "mend the file; a missing comma or a member that is there already is a usual reason";
        Problem::new(shown(path), pointer, format!("not JSON: {error}")).help(help)
    })?;
    Ok(Document::new(shown(path), root))
}

fn read(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).map_err(|error| Problem::new(shown(path), "", format!("cannot be read: {error}")))
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let unreadable = |error: std::io::Error| Problem::new(shown(folder), "", format!("cannot be read: {error}"));
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    paths.sort();
    Ok(paths)
}

fn is_schema(path: &Path) -> bool {
    name_of(path).ends_with(".schema.json")
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
