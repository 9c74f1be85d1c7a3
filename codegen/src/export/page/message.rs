//! Which definitions belong to a message.

use super::chapters::Chapters;
use crate::export::messages;
use crate::ir::{Revision, Shape};

/// The arms of a union of objects; of anything else, none.
pub(super) fn arms<'a>(revision: &'a Revision, name: &str) -> Vec<&'a str> {
    match revision.get(name).map(|definition| &definition.shape) {
        Some(Shape::Tagged(union)) => union.arms.iter().map(|arm| arm.target.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// Whether a definition is a whole message of JSON-RPC, and not the result in one.
pub(super) fn is_envelope(revision: &Revision, name: &str) -> bool {
    revision.get(name).is_some_and(messages::is_envelope)
}

/// The parts that are named after a message, such as its params: they stand in its section, from the outside in.
pub(super) fn parts<'a>(revision: &'a Revision, name: &str) -> Vec<&'a str> {
    let is_part = |it: &&str| it.len() > name.len() && it.starts_with(name) && is_envelope(revision, name);
    let mut parts: Vec<&str> =
        revision.definitions().map(|definition| definition.name.as_str()).filter(is_part).collect();
    // A part of a part is named after it, and longer.
    parts.sort_by_key(|part| part.len());
    parts
}

/// All whose rules are rules of a message: itself, its parts, and what these are made of or can be, save for arms that have
/// a place of their own.
pub(super) fn covers<'a>(revision: &'a Revision, chapters: &Chapters, name: &'a str) -> Vec<&'a str> {
    let mut covered: Vec<&str> = Vec::new();
    let mut waiting = parts(revision, name);
    waiting.push(name);
    while let Some(next) = waiting.pop() {
        if covered.contains(&next) {
            continue;
        }
        covered.push(next);
        waiting.extend(arms(revision, next).into_iter().filter(|arm| chapters.names().all(|placed| placed != *arm)));
        if let Some(object) = revision.object(next) {
            waiting.extend(object.bases.iter().map(String::as_str));
        }
    }
    covered
}
