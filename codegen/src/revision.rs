//! One revision from one path, whatever stands there: for `diff`.

use crate::error::{Error, Problem};
use crate::ir::Revision;
use crate::load::{load_overlay, schema_files};
use crate::overlay::{Overlay, Settings};
use crate::{Document, load_files, read_house, read_published};
use serde_json::Value;
use std::path::Path;

/// Reads one revision, and the settings that tell which of its enums and unions are open.
///
/// A folder holds `*.schema.json` that belong together; `codegen.toml` beside the folder is read if it is there. A file
/// is one published schema. Documents whose `$id` starts with `urn:mcp-tasks:` are in the house style.
///
/// # Errors
/// A file cannot be read, a folder holds no schema, or a schema has faults.
pub fn load_revision(path: &Path) -> Result<(Revision, Settings), Error> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let files = if path.is_dir() { schema_files(path)? } else { vec![path.to_path_buf()] };
    let documents = load_files(&files)?;
    if documents.iter().all(is_house) {
        return Ok((house(&name, documents)?, settings(path, &name)?));
    }
    let mut revision = read_published(&documents)?;
    revision.name = name;
    Ok((revision, Overlay::for_published()))
}

fn house(name: &str, documents: Vec<Document>) -> Result<Revision, Error> {
    let revisions = read_house(&[(name.to_owned(), documents)])?;
    let none = || Problem::new(name, "", "no revision in this folder").into();
    revisions.into_iter().next().ok_or_else(none)
}

fn is_house(document: &Document) -> bool {
    document.root.get("$id").and_then(Value::as_str).is_some_and(|id| id.starts_with("urn:mcp-tasks:"))
}

fn settings(path: &Path, name: &str) -> Result<Settings, Error> {
    let beside = path.parent().map(|parent| parent.join("codegen.toml")).filter(|path| path.is_file());
    let overlay = beside.as_deref().map(load_overlay).transpose()?.unwrap_or_default();
    Ok(overlay.revision.get(name).cloned().unwrap_or_default())
}
