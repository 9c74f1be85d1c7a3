//! What other SDKs take: schemas that stand alone, in three flavours and two drafts, messages to test with, and a page that
//! explains each message.
//!
//! [`export`] is a pure function of the schemas, the overlay and the [`Intent`]: the same input gives the same bytes. What
//! a person wrote besides the schemas is read by [`Intent::load`], before. `export/README.md`, which is written beside the schemas, says what the flavours are for.

mod bundle;
mod conversations;
mod dialect;
mod faults;
mod flat;
mod flavour;
mod intent;
mod judge;
mod members;
mod messages;
mod page;
mod read;
mod status;
mod vectors;
mod walk;
mod words;

pub use intent::{Intent, Rules};
pub use page::Sources;
pub use vectors::Written;

use crate::emit::OutputFile;
use crate::error::{Error, Problem, Problems};
use crate::ir::Revision;
use crate::overlay::{Overlay, Settings};
use crate::{Document, Schemas, read_house};
use bundle::Bundle;
use dialect::Dialect;
use flat::Definitions;
use flavour::Flavour;
use judge::Judge;
use members::Members;

/// What makes the exported files again.
pub(crate) const COMMAND: &str = "cargo run -p mcp-tasks-codegen -- export";

/// Makes all files for other SDKs, by their paths from `generated/`.
///
/// # Errors
/// The schemas, the overlay or the intent have faults, or the schemas are published ones: those have no flavours.
pub fn export(schemas: &Schemas, overlay: &Overlay, intent: &Intent) -> Result<Vec<OutputFile>, Error> {
    let folders = match schemas {
        Schemas::House(folders) => folders,
        Schemas::Published(documents) => return published(documents),
    };
    let revisions = read_house(folders)?;
    overlay.check(&revisions)?;
    intent.check(&revisions)?;
    let mut problems = Problems::default();
    let matters: Vec<Matter<'_>> =
        revisions.iter().filter_map(|revision| problems.take(Matter::of(revision, overlay, intent))).collect();
    let members = Members::of(&revisions);
    let mut files = read_by_people();
    for matter in &matters {
        files.extend(problems.take(matter.conversations(&members)).unwrap_or_default());
    }
    files.extend(problems.take(page::files(&revisions, overlay, intent)).unwrap_or_default());
    // What a person wrote is seen to before the large rest is made.
    problems.finish(())?;
    let mut problems = Problems::default();
    for matter in &matters {
        files.extend(matter.schemas());
        files.extend(problems.take(matter.messages()).unwrap_or_default());
    }
    problems.finish(files)
}

fn published<T>(documents: &[Document]) -> Result<T, Error> {
    let file = documents.first().map_or("", |document| &document.file);
    Err(Problem::new(file, "", "only schemas in the house style can be exported").into())
}

fn read_by_people() -> Vec<OutputFile> {
    vec![
        OutputFile::new("schema/README.md", include_str!("export/README.md")),
        OutputFile::new("vectors/README.md", include_str!("export/vectors/README.md")),
        OutputFile::new("vectors/conversations.md", include_str!("export/conversations/README.md")),
    ]
}

/// One revision, and what is said of it besides its schemas.
struct Matter<'a> {
    revision: &'a Revision,
    settings: Settings,
    rules: Rules,
    flat: Definitions,
}

impl<'a> Matter<'a> {
    fn of(revision: &'a Revision, overlay: &Overlay, intent: &Intent) -> Result<Self, Error> {
        let settings = overlay.revision.get(&revision.name).cloned().unwrap_or_default();
        let rules = intent.revision.get(&revision.name).cloned().unwrap_or_default();
        Ok(Self { revision, settings, rules, flat: flat::definitions(revision)? })
    }

    fn in_flavour(&self, flavour: Flavour) -> Definitions {
        flavour.apply(self.flat.clone(), self.revision, &self.settings, &self.rules)
    }

    fn conversations(&self, members: &Members<'_>) -> Result<Vec<OutputFile>, Error> {
        let strict = self.in_flavour(Flavour::Strict);
        conversations::of(
            self.revision,
            &self.settings,
            Judge::of(&strict, self.revision)?,
            members,
            &self.rules.conversations,
        )
    }

    /// The schemas: each flavour in each dialect.
    fn schemas(&self) -> Vec<OutputFile> {
        let mut files = Vec::new();
        for flavour in Flavour::ALL {
            let definitions = self.in_flavour(flavour);
            for dialect in Dialect::ALL {
                let bundle = Bundle { revision: self.revision, definitions: &definitions, flavour, dialect };
                files.push(bundle.whole());
                let parts = self.revision.parts.iter().filter(|part| bundle.leans_on_others(part));
                files.extend(parts.map(|part| bundle.part(part)));
                if flavour.is_for_validators() {
                    let names = messages::names(self.revision, &self.settings);
                    files.extend(names.into_iter().map(|name| bundle.message(name)));
                }
            }
        }
        files
    }

    /// Test messages, and the faults that they and the conversations find.
    fn messages(&self) -> Result<Vec<OutputFile>, Error> {
        let (strict, tolerant) = (self.in_flavour(Flavour::Strict), self.in_flavour(Flavour::Tolerant));
        let (strict, tolerant) = (Judge::of(&strict, self.revision)?, Judge::of(&tolerant, self.revision)?);
        let vectors = vectors::of(self.revision, &self.rules, strict, tolerant)?;
        let mut files = vec![vectors.file];
        if !self.rules.faults.is_empty() {
            let conversations =
                self.rules.conversations.iter().map(|conversation| conversation.name.as_str()).collect();
            files.push(self.rules.faults.table(&self.revision.name, &vectors.invalid, &conversations)?);
        }
        Ok(files)
    }
}
