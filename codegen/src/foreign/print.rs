//! The tree as JSON again. After [hoisting](super::hoisting) what is printed is in canonical form.

use super::schema::{Bounds, List, Map, Notes, Object, Scalar, ScalarKind, Schema, Shape, Union, UnionKeyword};
use serde_json::{Map as JsonMap, Value, json};

type Json = JsonMap<String, Value>;

/// The schema with its notes first.
pub(super) fn print(schema: &Schema) -> Value {
    let mut json = notes(&schema.notes);
    json.extend(shape(&schema.shape));
    Value::Object(json)
}

fn notes(notes: &Notes) -> Json {
    let mut json = Json::new();
    put(&mut json, "title", notes.title.clone());
    put(&mut json, "description", notes.description.clone());
    json
}

fn shape(shape: &Shape) -> Json {
    match shape {
        Shape::Any => Json::new(),
        Shape::Null => one("type", "null"),
        Shape::Reference(name) => one("$ref", format!("#/$defs/{}", crate::document::escape(name))),
        Shape::Const(value) => constant(value),
        Shape::Enum(values) => pairs([("type", json!("string")), ("enum", json!(values))]),
        Shape::Scalar(value) => scalar(value),
        Shape::List(value) => list(value),
        Shape::Map(value) => map(value),
        Shape::Object(value) => object(value),
        Shape::Union(value) => union(value),
        Shape::All(members) => one("allOf", members.iter().map(print).collect::<Vec<_>>()),
    }
}

fn constant(value: &Value) -> Json {
    let kind = if value.is_string() { "string" } else { "integer" };
    pairs([("type", json!(kind)), ("const", value.clone())])
}

fn scalar(scalar: &Scalar) -> Json {
    let mut json = one("type", kind(scalar.kind));
    put(&mut json, "format", scalar.format.clone());
    put(&mut json, "minimum", scalar.minimum.clone());
    put(&mut json, "maximum", scalar.maximum.clone());
    bounds(&mut json, scalar.length, ["minLength", "maxLength"]);
    json
}

fn kind(kind: ScalarKind) -> &'static str {
    match kind {
        ScalarKind::String => "string",
        ScalarKind::Integer => "integer",
        ScalarKind::Number => "number",
        ScalarKind::Boolean => "boolean",
    }
}

fn list(list: &List) -> Json {
    let mut json = pairs([("type", json!("array")), ("items", print(&list.item))]);
    bounds(&mut json, list.bounds, ["minItems", "maxItems"]);
    json
}

fn map(map: &Map) -> Json {
    let free = matches!(map.value.shape, Shape::Any) && map.bounds.is_empty();
    let value = if free { Value::Bool(true) } else { print(&map.value) };
    let mut json = pairs([("type", json!("object")), ("additionalProperties", value)]);
    bounds(&mut json, map.bounds, ["minProperties", "maxProperties"]);
    json
}

fn object(object: &Object) -> Json {
    let properties = object.properties.iter().map(|(name, property)| (name.clone(), print(property))).collect();
    pairs([
        ("type", json!("object")),
        ("properties", Value::Object(properties)),
        ("required", json!(object.required)),
        ("additionalProperties", json!(object.open)),
    ])
}

fn union(union: &Union) -> Json {
    let keyword = match union.keyword {
        UnionKeyword::AnyOf => "anyOf",
        UnionKeyword::OneOf => "oneOf",
    };
    one(keyword, union.arms.iter().map(print).collect::<Vec<_>>())
}

fn bounds(json: &mut Json, bounds: Bounds, [min, max]: [&str; 2]) {
    put(json, min, bounds.min);
    put(json, max, bounds.max);
}

fn put(json: &mut Json, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        json.insert(key.into(), value.into());
    }
}

fn one(key: &str, value: impl Into<Value>) -> Json {
    Json::from_iter([(key.to_owned(), value.into())])
}

fn pairs<const N: usize>(pairs: [(&str, Value); N]) -> Json {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
