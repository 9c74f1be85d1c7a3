//! `page.toml`: in which order the messages stand, and who sends them.

use super::message;
use super::sources::Read;
use crate::document::escape;
use crate::error::Problems;
use crate::ir::{Field, Revision};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The order of the page.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chapters {
    /// The title of the page.
    pub(super) title: String,
    /// What it begins with.
    pub(super) says: String,
    pub(super) chapter: Vec<Chapter>,
    /// Error codes that no definition fixes.
    #[serde(default)]
    pub(super) error: Vec<ErrorCode>,
    /// Revisions that have no page.
    #[serde(default)]
    pub(super) other: Vec<Other>,
    /// What a member means that has no description of its own, by `Definition.member`.
    #[serde(default)]
    pub(super) member: BTreeMap<String, String>,
}

/// A revision that has no page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Other {
    pub(super) revision: String,
    pub(super) title: String,
    pub(super) says: String,
}

/// Messages that belong together.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chapter {
    pub(super) title: String,
    pub(super) says: String,
    pub(super) messages: Vec<Entry>,
}

/// A message, and who sends it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) from: Side,
}

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Side {
    Client,
    Server,
    Either,
}

/// An error code of ours.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorCode {
    pub(super) code: i64,
    pub(super) title: String,
    /// The definition of its `data`.
    pub(super) data: String,
    pub(super) says: String,
}

impl Side {
    /// From whom to whom.
    pub(super) fn direction(self) -> &'static str {
        match self {
            Self::Client => "client to server",
            Self::Server => "server to client",
            Self::Either => "either way",
        }
    }
}

impl Chapters {
    /// The sentence about a member that has no description.
    pub(super) fn meaning(&self, field: &Field) -> Option<&str> {
        self.member.get(&format!("{}.{}", field.origin, field.wire)).map(String::as_str)
    }

    /// The names of all that have a place.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.chapter.iter().flat_map(|chapter| &chapter.messages).map(|entry| entry.name.as_str())
    }
}

impl Read<Chapters> {
    /// Checks that each message has its place, and that everything named is there.
    pub(super) fn check(
        &self,
        revisions: &[Revision],
        revision: &Revision,
        messages: &[&str],
        problems: &mut Problems,
    ) {
        self.check_places(revision, messages, problems);
        for (index, error) in self.value.error.iter().enumerate().filter(|(_, it)| revision.get(&it.data).is_none()) {
            problems.push(self.problem(format!("/error/{index}/data"), format!("there is no `{}`", error.data)));
        }
        let is_known = |other: &Other| revisions.iter().any(|revision| revision.name == other.revision);
        for (index, other) in self.value.other.iter().enumerate().filter(|(_, other)| !is_known(other)) {
            let said = format!("there is no revision `{}`", other.revision);
            problems.push(self.problem(format!("/other/{index}/revision"), said));
        }
        for member in self.value.member.keys().filter(|member| !lacks_description(revision, member)) {
            let pointer = format!("/member/{}", escape(member));
            let help = "name a member as `Definition.member`, by the definition that brings it in";
            let said = "there is no such member, or it has a description in the schema";
            problems.push(self.problem(pointer, said).help(help));
        }
    }

    fn check_places(&self, revision: &Revision, messages: &[&str], problems: &mut Problems) {
        let arms: Vec<&str> = messages.iter().flat_map(|name| message::arms(revision, name)).collect();
        let mut seen = BTreeSet::new();
        for (chapter, written) in self.value.chapter.iter().enumerate() {
            for (index, Entry { name, .. }) in written.messages.iter().enumerate() {
                let pointer = format!("/chapter/{chapter}/messages/{index}/name");
                if !messages.contains(&name.as_str()) && !arms.contains(&name.as_str()) {
                    problems.push(self.problem(&pointer, format!("there is no message `{name}`")));
                }
                if !seen.insert(name.as_str()) {
                    problems.push(self.problem(pointer, format!("`{name}` has its place already")));
                }
            }
        }
        for name in messages.iter().filter(|name| !seen.contains(*name)) {
            problems.push(self.problem("/chapter", format!("the message `{name}` stands in no chapter")));
        }
    }
}

/// Whether a definition brings in a member of which its schema says nothing.
fn lacks_description(revision: &Revision, member: &str) -> bool {
    let found = member
        .split_once('.')
        .and_then(|(name, wire)| revision.object(name)?.field(wire).filter(|field| field.origin == name));
    found.is_some_and(|field| field.docs.is_none())
}
