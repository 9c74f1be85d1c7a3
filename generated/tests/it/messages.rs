//! Messages made from bytes: what a definition allows, and what comes of it when something in it is changed.
//!
//! Knows the house style of `schema/` only. Fewer and smaller bytes make a simpler message, so that whoever shrinks the
//! bytes shrinks the message.

use serde_json::{Map, Value, json};

/// Members that no schema names, and some that only other statuses of a task have.
const UNKNOWN: &[&str] =
    &["x-unknown", "io.example/thing", "extra", "result", "error", "inputRequests", "", "a\"\\/\u{7f}"];

const TEXTS: &[&str] = &["", "a", "working", "complete", "task", "\u{0}\u{1f}\"\\", "naïve \u{1F600}", "2.0", "null"];

const MOMENTS: &[&str] = &["2026-07-28T10:00:00Z", "2026-07-28T12:00:00.123+02:00", "20260728T100000Z"];

/// What a value is replaced with.
const INTRUDERS: &[&str] = &[
    "null",
    "true",
    "0",
    "1",
    "-1",
    "0.5",
    "60000.0",
    "1e3",
    "-32601.0",
    "9007199254740991",
    "9007199254740992",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "1.8e19",
    "1e300",
    "\"\"",
    "\"60000\"",
    "\"paused\"",
    "\"task\"",
    "\"complete\"",
    "\"working\"",
    "\"completed\"",
    "\"failed\"",
    "\"input_required\"",
    "\"form\"",
    "\"url\"",
    "\"text\"",
    "\"string\"",
    "\"array\"",
    "\"roots/list\"",
    "[]",
    "[null]",
    "{}",
    "{\"a\":1}",
];

/// Bytes to decide by; zeros once they are used up.
pub struct Source<'a>(&'a [u8]);

impl<'a> Source<'a> {
    /// Decides by these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn next(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    /// A number below the limit, which is not zero.
    fn below(&mut self, limit: usize) -> usize {
        let wide = usize::from(self.next()) * 256 + if limit > 16 { usize::from(self.next()) } else { 0 };
        wide * limit / 65_536
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// The definitions of a revision.
pub struct Definitions(pub Map<String, Value>);

impl Definitions {
    /// The `$defs` of a document.
    pub fn parse(text: &str) -> Self {
        let document: Value = serde_json::from_str(text).expect("the bundle is JSON");
        Self(document["$defs"].as_object().expect("the bundle has definitions").clone())
    }

    /// A message that the definition allows.
    pub fn message(&self, name: &str, source: &mut Source<'_>) -> Value {
        self.value(&self.0[name], source, 0)
    }

    /// The definition a schema refers to, or the schema itself.
    pub fn target<'s>(&'s self, schema: &'s Value) -> &'s Value {
        match schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/$defs/")) {
            Some(name) => &self.0[name],
            None => schema,
        }
    }

    fn value(&self, schema: &Value, source: &mut Source<'_>, depth: usize) -> Value {
        let schema = self.target(schema);
        if let Some(arms) = schema.get("oneOf").or(schema.get("anyOf")).and_then(Value::as_array) {
            return self.value(&arms[source.below(arms.len())], source, depth + 1);
        }
        if schema.get("$ref").is_some() {
            return self.value(schema, source, depth);
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return values[source.below(values.len())].clone();
        }
        match schema.get("type").and_then(Value::as_str) {
            _ if schema.get("allOf").is_some() || schema.get("properties").is_some() => {
                self.object(schema, source, depth)
            }
            Some("object") => self.map(schema, source, depth),
            Some("array") => self.list(schema, source, depth),
            Some("string") if schema.get("format") == Some(&json!("date-time")) => source.pick(MOMENTS).into(),
            Some("string") => text(source).into(),
            Some("integer") => integer(schema, source),
            Some("number") => number(schema, source),
            Some("boolean") => source.chance(50).into(),
            Some("null") => Value::Null,
            Some(other) => panic!("no message for type {other}"),
            None => any_json(source, depth),
        }
    }

    fn object(&self, schema: &Value, source: &mut Source<'_>, depth: usize) -> Value {
        let (properties, required) = self.members(schema);
        let mut members = Vec::new();
        for (name, property) in &properties {
            if required.contains(name) || (depth < 6 && source.chance(40)) {
                members.push((name.clone(), self.value(property, source, depth + 1)));
            }
        }
        if source.chance(30) {
            let name = source.pick(UNKNOWN);
            if !properties.contains_key(name) {
                members.push((name.to_owned(), any_json(source, depth)));
            }
        }
        if source.chance(50) && !members.is_empty() {
            let place = source.below(members.len());
            members.rotate_left(place);
        }
        Value::Object(members.into_iter().collect())
    }

    /// All members of an object with their schemas, what it is composed of included, and which must be there.
    pub fn members(&self, schema: &Value) -> (Map<String, Value>, Vec<String>) {
        let schema = self.target(schema);
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            let (more, must) = self.members(part);
            properties.extend(more);
            required.extend(must);
        }
        properties.extend(schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default());
        let own = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        required.extend(own.filter_map(Value::as_str).map(str::to_owned));
        required.sort();
        required.dedup();
        (properties, required)
    }

    fn map(&self, schema: &Value, source: &mut Source<'_>, depth: usize) -> Value {
        let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0) as usize;
        let count = least + source.below(3);
        let keys = (0..count).map(|index| format!("{}{index}", text(source))).collect::<Vec<_>>();
        let value = |key: String| match &schema["additionalProperties"] {
            Value::Object(_) => (key, self.value(&schema["additionalProperties"], source, depth + 1)),
            _ => (key, any_json(source, depth + 1)),
        };
        Value::Object(keys.into_iter().map(value).collect())
    }

    fn list(&self, schema: &Value, source: &mut Source<'_>, depth: usize) -> Value {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) as usize;
        let count = least + source.below(3);
        (0..count).map(|_| self.value(&schema["items"], source, depth + 1)).collect()
    }
}

fn text(source: &mut Source<'_>) -> String {
    source.pick(TEXTS).to_owned()
}

fn integer(schema: &Value, source: &mut Source<'_>) -> Value {
    let bound = |key: &str, other: i64| schema.get(key).and_then(Value::as_i64).unwrap_or(other);
    let (min, max) = (bound("minimum", i64::MIN), bound("maximum", i64::MAX));
    match source.below(5) {
        0 => min.max(0).into(),
        1 => min.into(),
        2 => max.into(),
        3 => (max - 1).into(),
        _ => min.saturating_add(i64::from(source.next())).into(),
    }
}

fn number(schema: &Value, source: &mut Source<'_>) -> Value {
    let bound = |key: &str, other: f64| schema.get(key).and_then(Value::as_f64).unwrap_or(other);
    let (min, max) = (bound("minimum", -1e300), bound("maximum", 1e300));
    match source.below(4) {
        0 => json!(0),
        1 => json!(min),
        2 => json!(max),
        _ => json!(max * f64::from(source.next()) / 256.0),
    }
}

/// Any JSON, not deep.
pub fn any_json(source: &mut Source<'_>, depth: usize) -> Value {
    match source.below(if depth < 6 { 8 } else { 6 }) {
        0 => Value::Null,
        1 => source.chance(50).into(),
        2 => i64::from(source.next()).into(),
        3 => source.pick(&[json!(0.1).as_f64(), Some(-2.5e-7), Some(5.0), Some(1e300)]).into(),
        4 => source.pick(&[u64::MAX, 9_007_199_254_740_993, 1 << 63]).into(),
        5 => text(source).into(),
        6 => (0..source.below(4)).map(|_| any_json(source, depth + 1)).collect(),
        _ => {
            let count = source.below(4);
            Value::Object((0..count).map(|index| (format!("k{index}"), any_json(source, depth + 1))).collect())
        }
    }
}

/// Changes something somewhere in a message.
pub fn mutate(message: &mut Value, source: &mut Source<'_>) {
    let mut pointers = Vec::new();
    collect(message, String::new(), &mut pointers);
    let pointer = pointers.swap_remove(source.below(pointers.len()));
    let donor = pointers.get(source.below(pointers.len().max(1))).and_then(|other| message.pointer(other)).cloned();
    let Some(place) = message.pointer_mut(&pointer) else { return };
    match (source.below(7), &mut *place) {
        (0, Value::Object(members)) if !members.is_empty() => {
            let index = source.below(members.len());
            let name = members.keys().nth(index).cloned().unwrap_or_default();
            members.remove(&name);
        }
        (1, Value::Object(members)) => {
            members.insert(source.pick(UNKNOWN).to_owned(), intruder(source));
        }
        (2, Value::Array(items)) => items.push(intruder(source)),
        (3, place) => *place = donor.unwrap_or_default(),
        (4, place) => *place = json!([place.take()]),
        (5, place) => *place = of_the_same_kind(place, source),
        (_, place) => *place = intruder(source),
    }
}

fn intruder(source: &mut Source<'_>) -> Value {
    serde_json::from_str(source.pick(INTRUDERS)).expect("intruders are JSON")
}

fn of_the_same_kind(value: &Value, source: &mut Source<'_>) -> Value {
    let kind = |value: &Value| std::mem::discriminant(value);
    let intruders = INTRUDERS.iter().map(|text| serde_json::from_str::<Value>(text).expect("intruders are JSON"));
    let same: Vec<_> = intruders.filter(|intruder| kind(intruder) == kind(value)).collect();
    same[source.below(same.len())].clone()
}

fn collect(value: &Value, pointer: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            collect(value, format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), found)
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| collect(value, format!("{pointer}/{index}"), found));
        }
        _ => {}
    }
    found.push(pointer);
}
