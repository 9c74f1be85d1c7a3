//! The generator in a build script.

use crate::emit::{Header, module_file};
use crate::error::Problem;
use crate::load::load_overlay;
use crate::{
    Error, Overlay, Schemas, load_files, load_folder, overlay, published_settings, read_house, read_published,
};
use std::path::{Path, PathBuf};

/// Generates types when a crate is built.
///
/// In `build.rs`:
///
/// ```no_run
/// mcp_tasks_codegen::Builder::new().schema("schema/mine.schema.json").generate()?;
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
///
/// and in the crate, which depends on `serde`, `serde_json` and `indexmap`:
///
/// ```text
/// pub mod types {
///     include!(concat!(env!("OUT_DIR"), "/types.rs"));
/// }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Builder {
    files: Vec<PathBuf>,
    folder: Option<PathBuf>,
    overlay: Option<PathBuf>,
    out: Option<PathBuf>,
}

impl Builder {
    /// A builder with nothing to read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a published schema file; all of them are taken together and written to `types.rs`.
    pub fn schema(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.push(file.into());
        self
    }

    /// Reads a folder in the house style instead; each revision is written to a file named like its module.
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Reads the overlay from this file.
    pub fn overlay(mut self, file: impl Into<PathBuf>) -> Self {
        self.overlay = Some(file.into());
        self
    }

    /// Writes to this folder instead of cargo's `OUT_DIR`.
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out = Some(folder.into());
        self
    }

    /// Generates, and tells cargo which files to watch.
    ///
    /// # Errors
    /// As [`generate`](crate::generate); or nothing was named to read, or the files cannot be written.
    pub fn generate(self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let out = match &self.out {
            Some(out) => out.clone(),
            None => {
                PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set; name a folder with `out_dir`")?)
            }
        };
        for path in self.files.iter().chain(&self.folder).chain(&self.overlay) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        crate::write(&out, &self.render()?)?;
        Ok(())
    }

    fn render(&self) -> Result<Vec<crate::OutputFile>, Error> {
        let given = self.overlay.as_deref().map(load_overlay).transpose()?;
        match &self.folder {
            Some(folder) => house(folder, given),
            None if self.files.is_empty() => Err(Problem::new("build.rs", "", "nothing to generate from")
                .help("name a schema file or a folder")
                .into()),
            None => {
                let revision = read_published(&load_files(&self.files)?)?;
                let settings = published_settings(&revision, &given.unwrap_or_default())?;
                Ok(vec![module_file(&revision, &settings, &HEADER)?])
            }
        }
    }
}

const HEADER: Header<'static> = Header { source: "the schemas named in build.rs", command: "cargo build" };

fn house(folder: &Path, given: Option<Overlay>) -> Result<Vec<crate::OutputFile>, Error> {
    let (schemas, own) = load_folder(folder)?;
    let overlay = given.unwrap_or(own);
    let Schemas::House(folders) = schemas else { return Ok(Vec::new()) };
    let revisions = read_house(&folders)?;
    overlay.check(&revisions)?;
    let none = overlay::Settings::default();
    let settings = |name: &str| overlay.revision.get(name).unwrap_or(&none);
    revisions.iter().map(|revision| module_file(revision, settings(&revision.name), &HEADER)).collect()
}
