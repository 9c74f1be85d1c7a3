//! What a rule or a word of a text can be about: a definition by its name, a request or notification by its method.

use crate::ir::{Content, Definition, Revision, Shape};
use std::collections::BTreeMap;

/// Definitions by their names and by their methods.
pub(super) struct Subjects<'a> {
    revision: &'a Revision,
    methods: BTreeMap<&'a str, &'a str>,
}

impl<'a> Subjects<'a> {
    pub(super) fn of(revision: &'a Revision) -> Self {
        let methods = revision.definitions().filter_map(|definition| Some((method(definition)?, &*definition.name)));
        Self { revision, methods: methods.collect() }
    }

    /// The name of the definition that is meant.
    pub(super) fn find(&self, subject: &str) -> Option<&'a str> {
        let named = self.revision.get(subject).map(|definition| definition.name.as_str());
        named.or_else(|| self.methods.get(subject).copied())
    }
}

/// The method of a request or a notification.
pub(super) fn method(definition: &Definition) -> Option<&str> {
    let Shape::Object(object) = &definition.shape else { return None };
    match &object.field("method")?.content {
        Content::Constant(method) => Some(method),
        _ => None,
    }
}
