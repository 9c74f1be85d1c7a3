//! The two drafts of JSON Schema that are written. They differ, in what we use, in words only.

use super::walk;
use serde_json::{Value, json};

/// A draft of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The newest.
    Draft2020,
    /// What older tools read.
    Draft07,
}

impl Dialect {
    pub(super) const ALL: [Self; 2] = [Self::Draft2020, Self::Draft07];

    /// Its name in paths and `$id`s.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Draft2020 => "2020-12",
            Self::Draft07 => "draft-07",
        }
    }

    /// What `$schema` says.
    pub(super) fn uri(self) -> &'static str {
        match self {
            Self::Draft2020 => "https://json-schema.org/draft/2020-12/schema",
            Self::Draft07 => "http://json-schema.org/draft-07/schema#",
        }
    }

    /// The member that holds the definitions.
    pub(super) fn definitions(self) -> &'static str {
        match self {
            Self::Draft2020 => "$defs",
            Self::Draft07 => "definitions",
        }
    }

    /// A reference to a definition.
    pub(super) fn reference(self, name: &str) -> Value {
        json!({ "$ref": format!("#/{}/{name}", self.definitions()) })
    }

    /// A schema with its references in this dialect.
    pub(super) fn written(self, mut schema: Value) -> Value {
        walk::each(&mut schema, &mut |inner| {
            if let Some(name) = walk::target(inner) {
                *inner = self.reference(name);
            }
        });
        schema
    }
}
