//! Generates strongly typed Rust from the JSON Schema of the MCP Tasks extension.
//!
//! Data flows one way: documents are loaded, checked and brought into one form, read into an intermediate value
//! ([`ir`]) and written as Rust. Everything between the files is a pure function; [`generate`] is all of it.
//!
//! Three ways in:
//! - the command line, `mcp-tasks-codegen generate` and `check`, for the types of this project;
//! - [`generate`], for a program of your own;
//! - [`Builder`], for a build script.
//!
//! Documents are either in the house style of this project's `schema/`, or as the Model Context Protocol publishes
//! them; see [`Schemas`].

mod builder;
mod contradiction;
pub mod diff;
mod document;
mod emit;
mod error;
mod export;
mod foreign;
pub mod ir;
mod lint;
mod load;
mod lower;
mod overlay;
mod revision;
mod typify;
mod write;

pub use builder::Builder;
pub use document::Document;
pub use emit::OutputFile;
pub use error::{Error, Problem};
pub use export::{Intent, Rules, Sources, Written, export};
pub use load::{load_files, load_folder};
pub use overlay::{Lenient, Overlay, Settings};
pub use revision::load_revision;
pub use write::{Drift, compare, strays, write};

use emit::Header;
use ir::Revision;

/// The documents to generate from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Schemas {
    /// Revisions in the house style: the name of each, and its documents.
    House(Vec<(String, Vec<Document>)>),
    /// Documents as they are published, taken together; what stands inline gets names, copies are folded back.
    Published(Vec<Document>),
}

/// Generates all files.
///
/// In house style these are the files of a crate of types, with a module for each revision. From published documents it
/// is the `src` of a crate that needs `serde`, `serde_json` and `indexmap`.
///
/// # Errors
/// The documents or the overlay have faults; the error lists as many as could be found at once.
pub fn generate(schemas: &Schemas, overlay: &Overlay) -> Result<Vec<OutputFile>, Error> {
    match schemas {
        Schemas::House(folders) => {
            let revisions = read_house(folders)?;
            overlay.check(&revisions)?;
            let command = "cargo run -p mcp-tasks-codegen -- generate";
            emit::workspace_files(&revisions, overlay, &Header { source: "schema", command })
        }
        Schemas::Published(documents) => published_crate(documents, overlay, false),
    }
}

/// The `src` of a crate from published documents, and if asked for a module `registry` that knows every type by name.
///
/// # Errors
/// As [`generate`].
pub fn published_crate(documents: &[Document], overlay: &Overlay, registry: bool) -> Result<Vec<OutputFile>, Error> {
    let revision = read_published(documents)?;
    let settings = published_settings(&revision, overlay)?;
    let source = source_names(documents);
    let command = "mcp-tasks-codegen generate --schema FILE --out DIR";
    emit::crate_files(&revision, &settings, &Header { source: &source, command }, registry)
}

/// Reads revisions in the house style.
///
/// # Errors
/// As [`generate`].
pub fn read_house(folders: &[(String, Vec<Document>)]) -> Result<Vec<Revision>, Error> {
    let mut problems = error::Problems::default();
    let mut revisions = Vec::new();
    for (name, documents) in folders {
        let checked = lint::check(documents).and_then(|()| contradiction::check(documents));
        let read = checked.and_then(|()| lower::revision(name, documents));
        revisions.extend(problems.take(read));
    }
    problems.finish(revisions)
}

/// Reads published documents, taken together.
///
/// # Errors
/// As [`generate`].
pub fn read_published(documents: &[Document]) -> Result<Revision, Error> {
    contradiction::check(documents)?;
    let canonical = foreign::canonicalise(documents)?;
    lower::revision("types", std::slice::from_ref(&canonical))
}

/// The overlay's settings for published types, or those that every published file needs.
fn published_settings(revision: &Revision, overlay: &Overlay) -> Result<Settings, Error> {
    if let Some(settings) = overlay.revision.get(&revision.name) {
        overlay.check(std::slice::from_ref(revision))?;
        return Ok(settings.clone());
    }
    overlay.check(&[])?;
    let mut settings = Overlay::for_published();
    settings.rename.retain(|name, _| revision.get(name).is_some());
    Ok(settings)
}

/// The names of the files without their folders, for a header that is the same wherever they lie.
fn source_names(documents: &[Document]) -> String {
    let name = |document: &Document| match document.file.rsplit(['/', '\\']).next() {
        Some(name) => name.to_owned(),
        None => document.file.clone(),
    };
    documents.iter().map(name).collect::<Vec<_>>().join(", ")
}
