//! `export.toml`: rules for writers that the definitions themselves leave open.

use crate::error::{Error, Problem, Problems};
use crate::ir::Revision;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

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
}

impl Intent {
    /// Reads the rules from a file.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML or has entries of other names.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let file = path.to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(path)
            .map_err(|error| Problem::new(&file, "", format!("cannot be read: {error}")))?;
        let intent: Self = toml::from_str(&text).map_err(|error| Problem::new(&file, "", error.to_string()))?;
        Ok(Self { file, ..intent })
    }

    /// Checks that every entry names an object that is there.
    pub(super) fn check(&self, revisions: &[Revision]) -> Result<(), Error> {
        let mut problems = Problems::default();
        for (name, rules) in &self.revision {
            let pointer = format!("/revision/{name}");
            match revisions.iter().find(|revision| revision.name == *name) {
                Some(revision) => rules.check(&self.file, &pointer, revision, &mut problems),
                None => problems.push(Problem::new(&self.file, pointer, format!("there is no revision `{name}`"))),
            }
        }
        problems.finish(())
    }
}

impl Rules {
    fn check(&self, file: &str, pointer: &str, revision: &Revision, problems: &mut Problems) {
        let named = self.closed.iter().chain(self.without.keys()).chain(self.some.keys());
        for name in named.filter(|name| revision.object(name).is_none()) {
            problems.push(Problem::new(file, pointer, format!("there is no object `{name}`")));
        }
        let unknown =
            |name: &str, member: &str| revision.object(name).is_some_and(|object| object.field(member).is_none());
        for (name, members) in &self.some {
            for member in members.iter().filter(|member| unknown(name, member)) {
                problems.push(Problem::new(file, pointer, format!("`{name}` has no member `{member}`")));
            }
        }
    }
}
