//! What is understood of JSON Schema. Whatever is not listed here is refused by name.
//!
//! A keyword that is skipped changes what is valid without a word, which is how other generators lose fields. Annotations
//! are understood to say nothing about values.

use super::schema::Place;
use crate::error::Problem;
use serde_json::{Map, Value};

/// Where definitions stand in a document: since 2019-09, and before.
pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Understood at the root of a document, beside the definitions.
pub(super) const ROOT: [&str; 5] = ["$schema", "$id", "$comment", "title", "description"];

/// Understood in every schema, and without a say in what is valid.
const ANNOTATIONS: [&str; 9] =
    ["$schema", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"];

/// Understood in every schema whatever its type.
const GENERAL: [&str; 7] = ["$ref", "allOf", "anyOf", "oneOf", "type", "const", "enum"];

/// Understood of one type of values each; the first two also tell the type where `type` is missing.
pub(super) const OBJECT: [&str; 6] =
    ["properties", "required", "additionalProperties", "propertyNames", "minProperties", "maxProperties"];
pub(super) const ARRAY: [&str; 3] = ["items", "minItems", "maxItems"];
const STRING: [&str; 3] = ["minLength", "maxLength", "format"];
const NUMBER: [&str; 3] = ["minimum", "maximum", "format"];

/// Formats, by the type they are for. They are told to readers and not checked here.
pub(super) const STRING_FORMATS: [&str; 12] = [
    "byte",
    "uri",
    "uri-reference",
    "uri-template",
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "uuid",
    "hostname",
    "regex",
];
pub(super) const INTEGER_FORMATS: [&str; 10] =
    ["int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64"];
pub(super) const NUMBER_FORMATS: [&str; 2] = ["float", "double"];

/// Whether a schema may say this.
pub(super) fn is_understood(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword) || GENERAL.contains(&keyword) || typed().any(|known| known == keyword)
}

/// The keywords that are about values of one type.
pub(super) fn typed() -> impl Iterator<Item = &'static str> {
    [&OBJECT[..], &ARRAY, &STRING, &NUMBER].into_iter().flatten().copied()
}

/// The problem of a keyword that is on none of the lists.
pub(super) fn unknown(keyword: &str, place: &Place) -> Problem {
    let problem = place.problem(format!("the keyword `{keyword}` is not understood"));
    match keyword {
        "$defs" | "definitions" => problem.help("move the definitions to the root of the document"),
        "$id" => problem.help("only the root of a document can have an `$id`"),
        "unevaluatedProperties" => problem.help("say `additionalProperties` in the object that lists the properties"),
        _ => problem.help("leave it out if it does not matter to a reader of the messages; it is never skipped"),
    }
}

/// Whether the schema is `{"not": {}}`, which nothing matches.
pub(crate) fn is_nothing(schema: &Value) -> bool {
    let Value::Object(json) = schema else { return false };
    json.len() == 1 && json.get("not").and_then(Value::as_object).is_some_and(Map::is_empty)
}

/// The types of JSON, as `type` names them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// The type of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// The type of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// The keywords that say something about values of this type.
    pub(super) fn keywords(self) -> &'static [&'static str] {
        match self {
            Self::Null | Self::Boolean => &[],
            Self::Integer | Self::Number => &NUMBER,
            Self::String => &STRING,
            Self::Array => &ARRAY,
            Self::Object => &OBJECT,
        }
    }

    /// Whether a value of the other type is of this type too.
    pub(super) fn includes(self, other: Self) -> bool {
        self == other || (self == Self::Number && other == Self::Integer)
    }
}
