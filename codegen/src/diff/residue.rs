//! Keywords that say something about values and are not compared by shape, such as `format`.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Compared by shape, or words for people.
const COMPARED: [&str; 22] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "enum",
    "const",
    "items",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "title",
    "description",
    "$comment",
];

/// By pointer from the definition: what is said there.
pub(super) fn residue(schema: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    walk(schema, "", &mut found);
    found
}

fn walk(schema: &Value, pointer: &str, found: &mut BTreeMap<String, Value>) {
    let Value::Object(schema) = schema else { return };
    for (keyword, value) in schema {
        let here = format!("{pointer}/{keyword}");
        match keyword.as_str() {
            "properties" => members(value, &here, found),
            "allOf" | "anyOf" | "oneOf" => arms(value, pointer, found),
            "items" | "additionalProperties" => walk(value, &here, found),
            word if COMPARED.contains(&word) => {}
            _ => drop(found.insert(here, value.clone())),
        }
    }
}

fn members(value: &Value, pointer: &str, found: &mut BTreeMap<String, Value>) {
    for (name, schema) in value.as_object().unwrap_or(&Map::new()) {
        walk(schema, &format!("{pointer}/{}", crate::document::escape(name)), found);
    }
}

/// The place of an arm among others says nothing.
fn arms(value: &Value, pointer: &str, found: &mut BTreeMap<String, Value>) {
    value.as_array().into_iter().flatten().for_each(|arm| walk(arm, pointer, found));
}
