//! What members are called, in all revisions. A name that is to be absent is none of its own revision's, often; but it is
//! no other word either.

use crate::ir::{Revision, Shape};
use std::collections::BTreeSet;

/// The names of the members of all objects.
pub(super) struct Members<'a>(BTreeSet<&'a str>);

impl<'a> Members<'a> {
    pub(super) fn of(revisions: &'a [Revision]) -> Self {
        let objects = revisions.iter().flat_map(Revision::definitions).filter_map(|it| match &it.shape {
            Shape::Object(object) => Some(object),
            _ => None,
        });
        Self(objects.flat_map(|object| &object.fields).map(|field| field.wire.as_str()).collect())
    }

    #[cfg(test)]
    pub(super) fn named(names: &[&'a str]) -> Self {
        Self(names.iter().copied().collect())
    }

    /// Whether some object has a member of that name.
    pub(super) fn have(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}
