//! Keywords that say something about values and are not compared by shape, such as `format`.

use super::overruled::overruled;
use crate::document::escape;
use crate::ir::{Definition, Revision, Shape};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Compared by shape wherever they stand.
const COMPARED: [&str; 7] = ["type", "required", "$ref", "enum", "const", "minItems", "maxItems"];

/// Words for people.
const WORDS: [&str; 3] = ["title", "description", "$comment"];

/// Whole numbers up to here are the same number after they were read as a float.
const EXACT: u64 = 1 << 53;

/// One keyword and what it says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Said {
    /// Where it is compared: the arm of a union, or the member of an `allOf`, is left out.
    pub(super) place: String,
    /// What it says, as JSON.
    pub(super) value: String,
    /// Where it stands, by pointer from the definition. As with members, what an `allOf` brings in counts as the
    /// definition's own.
    pub(super) pointer: String,
}

/// What a definition says beyond its shape, together with what it is composed of.
pub(super) fn residue(revision: &Revision, definition: &Definition) -> Vec<Said> {
    let mut said = Vec::new();
    for name in made_of(revision, definition) {
        let Some(schema) = revision.get(name).map(|part| &part.schema) else { continue };
        walk(schema, &At::default(), &mut said);
        if let Shape::Object(object) = &definition.shape {
            said.extend(overruled(revision, object, schema));
        }
    }
    said.sort();
    said
}

/// Whether both say the same, wherever their arms stand.
pub(super) fn agree(one: &[Said], other: &[Said]) -> bool {
    fn plain(said: &[Said]) -> impl Iterator<Item = (&str, &str)> {
        said.iter().map(|said| (said.place.as_str(), said.value.as_str()))
    }
    plain(one).eq(plain(other))
}

/// A definition and all that it is composed of, by name.
fn made_of<'a>(revision: &'a Revision, definition: &'a Definition) -> BTreeSet<&'a str> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![definition.name.as_str()]);
    while let Some(name) = next.pop() {
        if seen.insert(name)
            && let Some(object) = revision.object(name)
        {
            next.extend(object.bases.iter().map(String::as_str));
        }
    }
    seen
}

/// A place below the definition, both ways.
#[derive(Clone, Default)]
struct At {
    place: String,
    pointer: String,
}

impl At {
    fn below(&self, step: &str) -> Self {
        let step = escape(step);
        let below = |path: &str| format!("{path}/{step}");
        Self { place: below(&self.place), pointer: below(&self.pointer) }
    }

    /// The place of an arm among others says nothing.
    fn arm(&self, keyword: &str, index: usize) -> Self {
        let pointer = format!("{}/{keyword}/{index}", self.pointer);
        Self { place: self.place.clone(), pointer }
    }
}

fn walk(schema: &Value, at: &At, said: &mut Vec<Said>) {
    let Value::Object(schema) = schema else { return };
    for (keyword, value) in schema {
        let here = at.below(keyword);
        let list = || value.as_array().into_iter().flatten();
        match keyword.as_str() {
            "properties" => {
                let members = value.as_object().into_iter().flatten();
                members.for_each(|(name, schema)| walk(schema, &here.below(name), said));
            }
            "allOf" => list().for_each(|member| walk(member, at, said)),
            "anyOf" | "oneOf" => {
                list().enumerate().for_each(|(index, arm)| walk(arm, &at.arm(keyword, index), said));
            }
            "items" => walk(value, &here, said),
            "additionalProperties" if is_compared(schema, keyword, value) => walk(value, &here, said),
            word if WORDS.contains(&word) || is_compared(schema, keyword, value) => {}
            _ => said.push(Said { place: here.place, pointer: here.pointer, value: value.to_string() }),
        }
    }
}

/// Whether the shape holds what a keyword says here.
fn is_compared(schema: &Map<String, Value>, keyword: &str, value: &Value) -> bool {
    match keyword {
        // Beside named members the shape knows whether there may be others, not what they hold.
        "additionalProperties" => value.is_boolean() || !schema.contains_key("properties"),
        "minLength" | "maxLength" => value.as_u64().is_some_and(|length| u32::try_from(length).is_ok()),
        "minProperties" | "maxProperties" => schema.get("additionalProperties").is_some_and(Value::is_object),
        "minimum" | "maximum" => value.is_f64() || value.as_i64().is_some_and(|bound| bound.unsigned_abs() <= EXACT),
        _ => COMPARED.contains(&keyword),
    }
}
