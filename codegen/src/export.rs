//! What other SDKs take: schemas that stand alone, in three flavours and two drafts, messages to test with, and a page that
//! explains each message.
//!
//! Everything here is a pure function of the schemas, the overlay and the [`Intent`]: the same input gives the same
//! bytes. `export/README.md`, which is written beside the schemas, says what the flavours are for.

mod bundle;
mod conversations;
mod dialect;
mod faults;
mod flat;
mod flavour;
mod intent;
mod judge;
mod messages;
mod page;
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
use crate::{Schemas, read_house};
use bundle::Bundle;
use dialect::Dialect;
use flavour::Flavour;

/// What makes the exported files again.
pub(crate) const COMMAND: &str = "cargo run -p mcp-tasks-codegen -- export";

/// Makes all files for other SDKs, by their paths from `generated/`.
///
/// # Errors
/// The schemas, the overlay or the intent have faults, or the schemas are published ones: those have no flavours.
pub fn export(schemas: &Schemas, overlay: &Overlay, intent: &Intent) -> Result<Vec<OutputFile>, Error> {
    let Schemas::House(folders) = schemas else {
        return Err(Problem::new("", "", "only schemas in the house style can be exported").into());
    };
    let revisions = read_house(folders)?;
    overlay.check(&revisions)?;
    intent.check(&revisions)?;
    let mut files = vec![
        OutputFile::new("schema/README.md", include_str!("export/README.md")),
        OutputFile::new("vectors/README.md", include_str!("export/vectors/README.md")),
        OutputFile::new("vectors/conversations.md", include_str!("export/conversations/README.md")),
    ];
    let mut problems = Problems::default();
    for revision in &revisions {
        files.extend(problems.take(schemas_of(revision, overlay, intent)).unwrap_or_default());
    }
    files.extend(problems.take(page::files(&revisions, overlay, intent)).unwrap_or_default());
    problems.finish(files)
}

/// The schemas of one revision: each flavour in each dialect.
fn schemas_of(revision: &Revision, overlay: &Overlay, intent: &Intent) -> Result<Vec<OutputFile>, Error> {
    let (no_settings, no_rules) = (Settings::default(), Rules::default());
    let settings = overlay.revision.get(&revision.name).unwrap_or(&no_settings);
    let rules = intent.revision.get(&revision.name).unwrap_or(&no_rules);
    let mut files = Vec::new();
    for flavour in Flavour::ALL {
        let definitions = flavour.apply(flat::definitions(revision)?, revision, settings, rules);
        for dialect in Dialect::ALL {
            let bundle = Bundle { revision, definitions: &definitions, flavour, dialect };
            files.push(bundle.whole());
            files.extend(
                revision.parts.iter().filter(|part| bundle.leans_on_others(part)).map(|part| bundle.part(part)),
            );
            if flavour.is_for_validators() {
                let names = messages::names(revision, settings);
                files.extend(names.into_iter().map(|name| bundle.message(name)));
            }
        }
    }
    files.extend(messages_of(revision, settings, rules)?);
    Ok(files)
}

/// What there is to test with: messages, conversations, and the faults that they find.
fn messages_of(revision: &Revision, settings: &Settings, rules: &Rules) -> Result<Vec<OutputFile>, Error> {
    let flat = flat::definitions(revision)?;
    let strict = Flavour::Strict.apply(flat.clone(), revision, settings, rules);
    let tolerant = Flavour::Tolerant.apply(flat, revision, settings, rules);
    let mut files = conversations::of(revision, settings, &strict, &rules.conversations)?;
    let vectors = vectors::of(revision, rules, &strict, &tolerant)?;
    if !rules.faults.is_empty() {
        let conversations = rules.conversations.iter().map(|conversation| conversation.name.as_str()).collect();
        files.push(faults::table(&revision.name, &rules.faults, &vectors.invalid, &conversations)?);
    }
    files.push(vectors.file);
    Ok(files)
}
