//! Values that fit a schema: with as little as possible, or with as much.

use crate::export::flat::Definitions;
use crate::export::walk;
use serde_json::{Map, Value, json};

/// How much of what is optional stands in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Smallest,
    Fullest,
}

/// How deep a full value goes before it gets small; deeper than any message.
const DEPTH: usize = 12;

/// Makes values by the definitions of the strict flavour.
#[derive(Clone, Copy)]
pub(super) struct Sampler<'a>(pub(super) &'a Definitions);

impl Sampler<'_> {
    /// A value of a definition.
    pub(super) fn named(self, name: &str, size: Size) -> Value {
        self.0.get(name).map_or(Value::Null, |schema| self.value(schema, size, 0))
    }

    fn value(self, schema: &Value, size: Size, depth: usize) -> Value {
        let size = if depth > DEPTH { Size::Smallest } else { size };
        if let Some(name) = walk::target(schema) {
            return self.0.get(name).map_or(Value::Null, |inner| self.value(inner, size, depth + 1));
        }
        if let Some(word) = schema.get("const").or_else(|| schema["enum"].get(0)) {
            return word.clone();
        }
        if schema.get("properties").is_none()
            && let Some(arms) = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array)
        {
            let is_null = |arm: &&Value| arm["type"] == "null";
            let null = arms.iter().find(is_null).filter(|_| size == Size::Smallest);
            return null.or_else(|| arms.first()).map_or(Value::Null, |arm| self.value(arm, size, depth + 1));
        }
        match schema["type"].as_str() {
            Some("object") => self.object(schema, size, depth),
            Some("array") if size == Size::Fullest => json!([self.value(&schema["items"], size, depth + 1)]),
            Some("array") => json!([]),
            Some("string") => json!(text(schema)),
            Some("integer") => json!(schema["minimum"].as_i64().unwrap_or(0).saturating_add(1000)),
            Some("number") => json!(0.5),
            Some("boolean") => json!(true),
            Some("null") => Value::Null,
            // Any JSON.
            _ => json!({"any": ["json", 1, null]}),
        }
    }

    fn object(self, schema: &Value, size: Size, depth: usize) -> Value {
        let mut members = Map::new();
        let needs = |list: &Value, name: &str| list.as_array().is_some_and(|names| names.iter().any(|it| it == name));
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            let is_needed = needs(&schema["required"], name) || needs(&schema["anyOf"][0]["required"], name);
            if *inner != json!(false) && (is_needed || size == Size::Fullest) {
                members.insert(name.clone(), self.value(inner, size, depth + 1));
            }
        }
        let is_wanted = schema.get("minProperties").is_some() || size == Size::Fullest;
        match &schema["additionalProperties"] {
            Value::Object(_) if is_wanted => {
                members.insert("key".into(), self.value(&schema["additionalProperties"], size, depth + 1));
            }
            Value::Bool(true) if size == Size::Fullest && members.is_empty() => {
                members.insert("example.com/unnamed".into(), json!("kept"));
            }
            _ => (),
        }
        Value::Object(members)
    }
}

fn text(schema: &Value) -> &'static str {
    match (schema["format"].as_str(), schema["contentEncoding"].as_str()) {
        (Some("date-time"), _) => "2026-07-28T10:00:00.000Z",
        (Some("uri"), _) => "https://example.com/place",
        (_, Some("base64")) => "aGVsbG8=",
        _ => "words",
    }
}
