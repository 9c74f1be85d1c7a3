//! Whole exchanges to replay: what a person wrote, with every message made whole and judged.
//!
//! `conversations/README.md` describes the format of what is written.

mod absent;
mod definitions;
mod format;
mod made;
mod whole;

pub(super) use format::Conversation;

use super::bundle::origin;
use super::judge::Judge;
use super::members::Members;
use super::read;
use crate::emit::OutputFile;
use crate::error::{Error, Problem, Problems};
use crate::ir::Revision;
use crate::overlay::Settings;
use definitions::Finder;
use format::{Step, Tool};
use serde_json::{Value, json};
use std::path::Path;
use whole::Scribe;

/// Reads the conversations of a folder, in the order of their names. Without the folder there are none.
///
/// # Errors
/// The folder or a file cannot be read, or a file is not JSON, or has members of other names.
pub(super) fn load(folder: &Path) -> Result<Vec<Conversation>, Error> {
    let mut paths = read::entries_if_there(folder)?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    let mut problems = Problems::default();
    let read = paths.iter().filter_map(|path| problems.take(load_one(path))).collect();
    problems.finish(read)
}

fn load_one(path: &Path) -> Result<Conversation, Error> {
    let (file, text) = read::text(path)?;
    let read: Conversation =
        serde_json::from_str(&text).map_err(|error| Problem::new(&file, "", format!("no conversation: {error}")))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Conversation { name, file, ..read })
}

/// The files of all conversations of one revision.
pub(super) fn of(
    revision: &Revision,
    settings: &Settings,
    strict: Judge<'_>,
    members: &Members<'_>,
    written: &[Conversation],
) -> Result<Vec<OutputFile>, Error> {
    let mut problems = Problems::default();
    let files = written.iter().filter_map(|conversation| {
        let scribe = Scribe::new(Finder { revision, settings, strict }, members, conversation);
        problems.take(scribe.steps()).map(|steps| file(revision, conversation, &steps))
    });
    let files = files.collect();
    problems.finish(files)
}

/// One file: what is said of the conversation, and its steps, one a line.
fn file(revision: &Revision, conversation: &Conversation, steps: &[Value]) -> OutputFile {
    let head = json!({
        "$comment": origin(&revision.name),
        "format": 1,
        "revision": revision.name,
        "name": conversation.name,
        "title": conversation.title,
        "why": conversation.why,
        "requirements": conversation.requirements,
        "replay": conversation.replay,
        "transport": conversation.transport,
        "setup": conversation.setup,
        "chosen": conversation.chosen,
        "unsaid": unsaid(conversation),
    });
    let members = head.as_object().into_iter().flatten();
    let head: String = members.map(|(name, value)| format!("  {}: {value},\n", Value::from(name.as_str()))).collect();
    let steps: Vec<String> = steps.iter().map(|step| format!("    {step}")).collect();
    let text = format!("{{\n{head}  \"steps\": [\n{}\n  ]\n}}\n", steps.join(",\n"));
    OutputFile::new(format!("vectors/{}/conversations/{}.json", revision.name, conversation.name), text)
}

/// Texts of the inside of a server that no message may show.
fn unsaid(conversation: &Conversation) -> Vec<&str> {
    let breakdowns = conversation.steps.iter().filter_map(|step| match step {
        Step::Tool(Tool::Breaks(text)) => Some(text.as_str()),
        _ => None,
    });
    breakdowns.collect()
}
