//! The keywords of JSON Schema that exported schemas have, each once.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

/// A keyword. The last three say nothing about values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Keyword {
    #[serde(rename = "$ref")]
    Ref,
    Type,
    Const,
    Enum,
    Not,
    AllOf,
    AnyOf,
    OneOf,
    Properties,
    Required,
    AdditionalProperties,
    Items,
    Minimum,
    Maximum,
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    MinProperties,
    Pattern,
    Format,
    Title,
    Description,
    ContentEncoding,
}

impl Keyword {
    /// The keyword of that name.
    pub(super) fn named(word: &str) -> Option<Self> {
        Self::deserialize(IntoDeserializer::<Error>::into_deserializer(word)).ok()
    }
}
