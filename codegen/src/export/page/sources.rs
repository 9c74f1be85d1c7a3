//! What a page is made from besides the schemas: files written by hand in the folder of a revision.

use super::chapters::Chapters;
use super::examples::Examples;
use super::rules::Rulebook;
use super::states::Machine;
use crate::error::{Error, Problem, Problems};
use crate::export::read;
use serde::de::DeserializeOwned;
use std::path::Path;

/// The files of one revision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// `page.toml`.
    pub(super) chapters: Read<Chapters>,
    /// `rules.toml`.
    pub(super) rules: Read<Rulebook>,
    /// `states.json`.
    pub(super) machine: Read<Machine>,
    /// `examples.json`.
    pub(super) examples: Read<Examples>,
}

/// What was read, and the file, for messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Read<T> {
    pub(super) file: String,
    pub(super) value: T,
}

impl<T> Read<T> {
    /// A fault at a place of the file.
    pub(super) fn problem(&self, pointer: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem::new(&self.file, pointer, message)
    }
}

impl Sources {
    /// Reads the files of a folder. A revision without `page.toml` has no page.
    pub(in crate::export) fn load(folder: &Path) -> Result<Option<Self>, Error> {
        let Some((file, text)) = read::text_if_there(&folder.join("page.toml"))? else { return Ok(None) };
        let mut problems = Problems::default();
        let chapters = problems.take(from_toml(file, &text)).unwrap_or_default();
        let rules = problems.take(toml(&folder.join("rules.toml"))).unwrap_or_default();
        let machine = problems.take(json(&folder.join("states.json"))).unwrap_or_default();
        let examples = problems.take(json(&folder.join("examples.json"))).unwrap_or_default();
        problems.finish(Some(Self { chapters, rules, machine, examples }))
    }
}

fn toml<T: DeserializeOwned>(path: &Path) -> Result<Read<T>, Error> {
    let (file, text) = read::text(path)?;
    from_toml(file, &text)
}

fn from_toml<T: DeserializeOwned>(file: String, text: &str) -> Result<Read<T>, Error> {
    let value = toml::from_str(text).map_err(|error| Problem::new(&file, "", error.to_string().trim_end()))?;
    Ok(Read { file, value })
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<Read<T>, Error> {
    let (file, text) = read::text(path)?;
    let value = serde_json::from_str(&text).map_err(|error| Problem::new(&file, "", error.to_string()))?;
    Ok(Read { file, value })
}
