//! `examples.json`: messages that tell a story, checked by the strict schemas.

use super::chapters::Chapters;
use super::message;
use super::sources::Read;
use crate::error::Problems;
use crate::export::judge::Judge;
use crate::export::messages;
use crate::ir::Revision;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

/// All examples, in the order in which those of one message are shown.
pub(super) type Examples = Vec<Example>;

/// A message as it is sent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Example {
    /// What it is an example of: a message, a result, or an arm of a result.
    pub(super) of: String,
    /// What happens, in a sentence.
    pub(super) says: String,
    /// Definitions that parts of it fit besides, by JSON pointer.
    #[serde(default)]
    pub(super) parts: IndexMap<String, String>,
    /// The whole message, envelope and all.
    pub(super) message: Value,
}

impl Example {
    /// The definitions it has to fit, each with the place of what fits it.
    fn claims<'a>(&'a self, revision: &'a Revision) -> Vec<(&'a str, &'a str)> {
        let own = self.of.as_str();
        let (envelope, result) = match message::is_envelope(revision, own) {
            true => (Some(own), None),
            false => (messages::result_response(revision), Some(("/result", own))),
        };
        let parts = self.parts.iter().map(|(pointer, name)| (pointer.as_str(), name.as_str()));
        envelope.map(|name| ("", name)).into_iter().chain(result).chain(parts).collect()
    }
}

impl Read<Examples> {
    /// Checks that each example is of something that is shown and is what it says, and that nothing goes without.
    pub(super) fn check(&self, revision: &Revision, chapters: &Chapters, judge: Judge<'_>, problems: &mut Problems) {
        let shown = |name: &str| chapters.names().any(|it| it == name || message::arms(revision, it).contains(&name));
        for (index, example) in self.value.iter().enumerate() {
            if !shown(&example.of) {
                problems.push(self.problem(format!("/{index}/of"), format!("there is no message `{}`", example.of)));
                continue;
            }
            for (pointer, name) in example.claims(revision) {
                let part = example.message.pointer(pointer);
                if !part.is_some_and(|part| judge.accepts(name, part)) {
                    let said = format!("this is no valid `{name}`, as the strict schema has it");
                    problems.push(self.problem(format!("/{index}/message{pointer}"), said));
                }
            }
        }
        for name in chapters.names().filter(|name| shown_under(name, &self.value, revision, chapters).next().is_none())
        {
            problems.push(self.problem("", format!("there is no example of `{name}`")));
        }
    }
}

/// The examples that stand with a message: those of it, and those of its arms that have no place of their own.
pub(super) fn shown_under<'a>(
    name: &'a str,
    examples: &'a Examples,
    revision: &'a Revision,
    chapters: &'a Chapters,
) -> impl Iterator<Item = &'a Example> {
    let mut names = message::arms(revision, name);
    names.retain(|arm| chapters.names().all(|placed| placed != *arm));
    names.push(name);
    examples.iter().filter(move |example| names.contains(&example.of.as_str()))
}
