//! `export.toml`: rules for writers that the definitions themselves leave open.

mod check;

use super::conversations::{self, Conversation};
use super::faults::Faults;
use super::members::Members;
use super::page::Sources;
use super::read;
use super::vectors::{self, Written};
use crate::document::escape;
use crate::error::{Error, Problem, Problems};
use crate::ir::Revision;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the exported schemas say beyond the definitions.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[non_exhaustive]
pub struct Intent {
    /// Rules by revision, the name of a folder of `schema/`.
    pub revision: BTreeMap<String, Rules>,
    /// The file, for messages.
    #[serde(skip)]
    pub file: String,
}

/// The rules of one revision. They hold in the strict flavour.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[non_exhaustive]
pub struct Rules {
    /// Objects that have no members but those that are named.
    pub closed: Vec<String>,
    /// Members that must not stand in an object.
    pub without: BTreeMap<String, Vec<String>>,
    /// Members of which an object has at least one.
    pub some: BTreeMap<String, Vec<String>>,
    /// Requirements that a member belongs to, whatever the object; without, those of the object count.
    pub requirements: BTreeMap<String, Vec<String>>,
    /// Test messages written by hand, from `vectors.json` of the revision's folder.
    #[serde(skip)]
    pub messages: Vec<Written>,
    /// The file of these messages, for messages about them.
    #[serde(skip)]
    pub messages_file: String,
    /// Exchanges written by hand, from `conversations/` of the revision's folder.
    #[serde(skip)]
    pub(super) conversations: Vec<Conversation>,
    /// Faults of servers, written by hand, from `faults.json` of the revision's folder.
    #[serde(skip)]
    pub(super) faults: Faults,
    /// What the reference page is made from, besides the schemas.
    #[serde(skip)]
    pub page: Option<Sources>,
}

impl Intent {
    /// Reads the rules and what is written by hand: `export.toml` of the folder, and in each folder of it `vectors.json`,
    /// `conversations/`, `faults.json` and, with `page.toml`, what the reference page is made from, if they are there.
    ///
    /// # Errors
    /// A file cannot be read, is not TOML or JSON, or has entries of other names.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let (file, text) = read::text(&folder.join("export.toml"))?;
        let intent: Self = toml::from_str(&text).map_err(|error| Problem::new(&file, "", error.to_string()))?;
        let mut intent = Self { file, ..intent };
        for (revision, folder) in folders(folder)? {
            let (messages_file, messages) = vectors::load(&folder.join("vectors.json"))?;
            let conversations = conversations::load(&folder.join("conversations"))?;
            let faults = Faults::load(&folder.join("faults.json"))?;
            let page = Sources::load(&folder)?;
            if messages.is_empty() && conversations.is_empty() && faults.is_empty() && page.is_none() {
                continue;
            }
            let rules = intent.revision.entry(revision).or_default();
            *rules = Rules { messages, messages_file, conversations, faults, page, ..std::mem::take(rules) };
        }
        Ok(intent)
    }

    /// Checks that every entry names what is there.
    pub(super) fn check(&self, revisions: &[Revision]) -> Result<(), Error> {
        let mut problems = Problems::default();
        let anywhere = Members::of(revisions);
        for (name, rules) in &self.revision {
            let pointer = format!("/revision/{}", escape(name));
            let Some(revision) = revisions.iter().find(|revision| revision.name == *name) else {
                problems.push(Problem::new(&self.file, pointer, format!("there is no revision `{name}`")));
                continue;
            };
            let faults = rules.faults(revision, &anywhere).into_iter();
            faults.for_each(|(place, said)| problems.push(Problem::new(&self.file, pointer.clone() + &place, said)));
        }
        problems.finish(())
    }
}

/// The folders of a folder, by name.
fn folders(folder: &Path) -> Result<Vec<(String, PathBuf)>, Problem> {
    let folders = read::entries(folder)?.into_iter().filter(|path| path.is_dir());
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(folders.map(|path| (name(&path), path)).collect())
}
