//! A schema document: parsed JSON that knows the file it came from.

use serde_json::Value;
use std::collections::BTreeMap;

/// A JSON Schema document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Document {
    /// The file as the caller named it; used in messages only.
    pub file: String,
    /// The document.
    pub root: Value,
    /// Where definitions that a rewriting moved or made up stood in the file: name to JSON pointer.
    pub(crate) origins: BTreeMap<String, String>,
}

impl Document {
    /// A document with the name its messages use.
    pub fn new(file: impl Into<String>, root: Value) -> Self {
        Self { file: file.into(), root, origins: BTreeMap::new() }
    }

    /// The JSON pointer at which a definition stands in the file.
    pub(crate) fn pointer_of(&self, definition: &str) -> String {
        match self.origins.get(definition) {
            Some(pointer) => pointer.clone(),
            None => format!("/$defs/{}", escape(definition)),
        }
    }
}

/// Escapes one step of a JSON pointer (RFC 6901).
pub(crate) fn escape(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}
