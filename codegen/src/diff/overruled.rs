//! Members that a composition describes twice, where one description takes the place of another that may not admit it.
//!
//! The shape has a constant alone, and of a definition and an object of any content the definition. If they do not fit,
//! the member can never be there, and what is overruled matters after all.

use super::residue::Said;
use crate::document::escape;
use crate::ir::{Content, Object, Revision, Shape, Type};
use serde_json::{Map, Value};

/// How many names for names are followed.
const ALIASES: usize = 12;

/// What the schema of an object, or of one of its bases, says of members that are something else in the end.
pub(super) fn overruled(revision: &Revision, object: &Object, schema: &Value) -> Vec<Said> {
    let inline = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let members = std::iter::once(schema).chain(inline).filter_map(|schema| schema.get("properties")?.as_object());
    let misfits = members.flatten().filter(|(name, schema)| {
        let content = object.field(name).map(|field| &field.content);
        content.is_some_and(|content| !admits(revision, schema, content))
    });
    let said = |(name, schema): (&String, &Value)| {
        let place = format!("/properties/{}", escape(name));
        Said { place: place.clone(), pointer: place, value: without_words(schema).to_string() }
    };
    misfits.map(said).collect()
}

/// Whether what a member is in the end certainly fits.
fn admits(revision: &Revision, schema: &Value, content: &Content) -> bool {
    let (kinds, constant): (&[&str], Value) = match content {
        Content::Typed(Type::Named(name)) => return !is_object(schema) || is_object_shape(revision, name),
        Content::Typed(_) => return true,
        Content::Constant(text) => (&["string"], text.as_str().into()),
        Content::ConstantInteger(value) => (&["integer", "number"], (*value).into()),
    };
    let Some(schema) = target(revision, schema) else { return false };
    let says = |keyword: &str| schema.get(keyword);
    let is_free = schema.keys().all(|keyword| ["title", "description"].contains(&keyword.as_str()));
    let listed = says("enum").is_none_or(|values| values.as_array().is_some_and(|values| values.contains(&constant)));
    let fixed = says("const").is_none_or(|value| *value == constant);
    let of_kind = says("type").and_then(Value::as_str).is_some_and(|kind| kinds.contains(&kind));
    let is_bounded = ["minLength", "maxLength", "minimum", "maximum"].iter().any(|keyword| says(keyword).is_some());
    is_free || (of_kind && listed && fixed && !is_bounded)
}

/// Whether it is inline an object of any content, or null.
fn is_object(schema: &Value) -> bool {
    let arms = schema.get("anyOf").and_then(Value::as_array);
    let is_object = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("object");
    is_object(schema) || arms.is_some_and(|arms| arms.iter().any(is_object))
}

fn is_object_shape(revision: &Revision, name: &str) -> bool {
    let shape = revision.get(name).map(|definition| &definition.shape);
    matches!(shape, Some(Shape::Object(_) | Shape::Map(_) | Shape::Tagged(_)))
}

/// The schema behind its names.
fn target<'a>(revision: &'a Revision, schema: &'a Value) -> Option<&'a Map<String, Value>> {
    let mut schema = schema.as_object()?;
    for _ in 0..ALIASES {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return Some(schema) };
        let name = reference.rsplit_once("/$defs/")?.1.replace("~1", "/").replace("~0", "~");
        schema = revision.get(&name)?.schema.as_object()?;
    }
    None
}

/// The schema as it is compared: without words, and with references that do not name the document.
fn without_words(schema: &Value) -> Value {
    let said = |(keyword, value): (&String, &Value)| match (keyword.as_str(), value) {
        ("title" | "description", _) => None,
        ("$ref", Value::String(reference)) => {
            let pointer = reference.split_once('#').map_or(reference.as_str(), |(_, pointer)| pointer);
            Some((keyword.clone(), pointer.into()))
        }
        _ => Some((keyword.clone(), without_words(value))),
    };
    match schema {
        Value::Object(schema) => schema.iter().filter_map(said).collect(),
        Value::Array(values) => values.iter().map(without_words).collect(),
        other => other.clone(),
    }
}
