//! Where shapes, schemas and types come from.

use jsonschema::{Draft, Validator};
use mcp_tasks_codegen::ir::Revision;
use mcp_tasks_codegen::{Schemas, load_files, load_folder, read_house, read_published};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[rustfmt::skip]
#[path = "../../../generated/tests/registry/v2026_07_28.rs"]
mod registry;

/// Reads JSON text as the type of a definition and writes it again; nothing if there is no such type.
pub type Recode = fn(&str, &str) -> Option<serde_json::Result<String>>;

/// One account of the protocol: its shapes, its schema and its types.
pub struct Source {
    pub revision: Revision,
    /// A document with all definitions in `$defs`.
    pub schema: Value,
    /// The definitions that have a type; an alias of any JSON has none.
    pub types: &'static [&'static str],
    pub recode: Recode,
}

impl Source {
    /// Whether the types take a value.
    pub fn fits(&self, definition: &str, value: &Value) -> bool {
        matches!((self.recode)(definition, &value.to_string()), Some(Ok(_)))
    }

    pub fn has_type(&self, definition: &str) -> bool {
        self.types.contains(&definition)
    }
}

/// This project.
pub fn ours() -> Result<Source, Vec<String>> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (schemas, _) = load_folder(&project.join("schema")).map_err(line)?;
    let Schemas::House(folders) = schemas else { return Err(vec!["schema/ is not in house style".into()]) };
    let revisions = read_house(&folders).map_err(line)?;
    let newest = revisions.into_iter().find(|revision| revision.name == "2026-07-28");
    let revision = newest.ok_or_else(|| vec!["schema/ has no 2026-07-28".to_owned()])?;
    let bundle = include_str!("../../../generated/src/v2026_07_28/schema.json");
    let schema = serde_json::from_str(bundle).map_err(line)?;
    Ok(Source { revision, schema, types: registry::NAMES, recode: registry::recode })
}

/// The published schema of the extension.
pub fn extension(folder: &Path) -> Result<Source, Vec<String>> {
    use published_ext_tasks::registry::{NAMES, recode};
    published(folder.join("ext-tasks.draft.schema.json"), NAMES, recode)
}

/// The published schema of the core protocol.
pub fn core(folder: &Path) -> Result<Source, Vec<String>> {
    use published_core_2026_07_28::registry::{NAMES, recode};
    published(folder.join("mcp.2026-07-28.schema.json"), NAMES, recode)
}

fn published(file: PathBuf, types: &'static [&'static str], recode: Recode) -> Result<Source, Vec<String>> {
    let documents = load_files(&[file]).map_err(line)?;
    let schema = documents.first().map(|document| document.root.clone()).unwrap_or_default();
    Ok(Source { revision: read_published(&documents).map_err(line)?, schema, types, recode })
}

/// Judges messages of one definition of a document. Formats count: that a timestamp is one is part of what is said.
pub fn validator(document: &Value, definition: &str) -> Result<Validator, Vec<String>> {
    let word = if document.get("$defs").is_some() { "$defs" } else { "definitions" };
    let draft = if word == "$defs" { Draft::Draft202012 } else { Draft::Draft7 };
    let root = json!({ "$ref": format!("#/{word}/{definition}"), word: document[word] });
    jsonschema::options().with_draft(draft).should_validate_formats(true).build(&root).map_err(line)
}

/// An error as the only fault.
pub fn line(error: impl std::fmt::Display) -> Vec<String> {
    vec![error.to_string()]
}
