//! Values that fit a schema: with as little as possible, or with as much.

use super::finite;
use crate::error::{Error, Problems};
use crate::export::flat::{self, Definitions};
use crate::export::walk;
use crate::ir::Revision;
use serde_json::{Map, Value, json};

/// How much of what is optional stands in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    Smallest,
    Fullest,
}

/// How deep a full value goes before it gets small; deeper than any message.
const DEPTH: usize = 12;

/// The most characters, items or members that are made for the sake of a bound.
pub(super) const MOST: u64 = 10_000;

/// Where in a value another one stands.
#[derive(Clone, Debug)]
struct Place<'a> {
    size: Size,
    depth: usize,
    /// The definitions that it stands within values of, since it has been of this size.
    way: Vec<&'a str>,
}

impl<'a> Place<'a> {
    fn outermost(size: Size) -> Self {
        Self { size, depth: 0, way: Vec::new() }
    }

    fn is_small(&self) -> bool {
        self.size == Size::Smallest
    }

    /// A place in a value at this place.
    fn inner(&self) -> Self {
        if self.depth < DEPTH || self.is_small() {
            return Self { depth: self.depth + 1, ..self.clone() };
        }
        Self::outermost(Size::Smallest)
    }

    /// A place for a value of a definition. A full value that would stand within another of its kind is small.
    fn of(&self, name: &'a str) -> Self {
        let mut place = match self.way.contains(&name) {
            true => Self::outermost(Size::Smallest),
            false => self.inner(),
        };
        place.way.push(name);
        place
    }
}

/// Makes values by the definitions of the strict flavour.
#[derive(Clone, Copy)]
pub(super) struct Sampler<'a>(&'a Definitions);

impl<'a> Sampler<'a> {
    /// A sampler of these definitions of a revision.
    ///
    /// # Errors
    /// A definition has no value with an end.
    pub(super) fn of(definitions: &'a Definitions, revision: &Revision) -> Result<Self, Error> {
        let finite = finite::names(definitions, &[]);
        let mut problems = Problems::default();
        for name in definitions.keys().filter(|name| !finite.contains(name.as_str())) {
            let help = "see `some` and `without` in `export.toml`: one of them asks for what cannot be";
            problems.push(flat::problem(revision, name, format!("no value of `{name}` has an end")).help(help));
        }
        problems.finish(Self(definitions))
    }

    /// A value of a definition.
    pub(super) fn named(self, name: &str, size: Size) -> Value {
        let mut place = Place::outermost(size);
        place.way.push(name);
        self.0.get(name).map_or(Value::Null, |schema| self.value(schema, &place))
    }

    fn value(self, schema: &Value, place: &Place<'_>) -> Value {
        if let Some(name) = walk::target(schema) {
            return self.0.get(name).map_or(Value::Null, |inner| self.value(inner, &place.of(name)));
        }
        if let Some(word) = schema.get("const").or_else(|| schema["enum"].get(0)) {
            return word.clone();
        }
        if let Some(arms) = finite::arms(schema) {
            return self.arm(arms, place).map_or(Value::Null, |arm| self.value(arm, &place.inner()));
        }
        match schema["type"].as_str() {
            Some("object") => self.object(schema, place),
            Some("array") => self.items(schema, usual_length(schema, place.size), place),
            Some("string") => json!(usual_text(schema)),
            Some("integer") => json!(integer(schema)),
            Some("number") => json!(number(schema)),
            Some("boolean") => json!(true),
            Some("null") => Value::Null,
            // Any JSON.
            _ => json!({"any": ["json", 1, null]}),
        }
    }

    /// The first arm. Of a small value it is null, or the first arm that needs nothing of what it stands in: by this choice a
    /// small value never stands within another of its kind, and so has an end.
    fn arm<'s>(self, arms: &'s [Value], place: &Place<'_>) -> Option<&'s Value> {
        if !place.is_small() {
            return arms.first();
        }
        let finite = finite::names(self.0, &place.way);
        let null = arms.iter().find(|arm| arm["type"] == "null");
        null.or_else(|| arms.iter().find(|arm| finite::is(arm, &finite)))
    }

    fn object(self, schema: &Value, place: &Place<'_>) -> Value {
        let mut members = Map::new();
        let one_of_some = schema["anyOf"].as_array().and_then(|some| self.wanted(schema, some, place));
        let is_needed = |name: &str| {
            let lists = [&schema["required"], one_of_some.map_or(&Value::Null, |arm| &arm["required"])];
            lists.into_iter().filter_map(Value::as_array).flatten().any(|needed| needed == name)
        };
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            if *inner != json!(false) && (!place.is_small() || is_needed(name)) {
                members.insert(name.clone(), self.value(inner, &place.inner()));
            }
        }
        match &schema["additionalProperties"] {
            Value::Object(_) => {
                let least = schema["minProperties"].as_u64().unwrap_or(0);
                members.extend(self.entries(schema, least.max((!place.is_small()).into()), place));
            }
            Value::Bool(true) if !place.is_small() && members.is_empty() => {
                members.insert("example.com/unnamed".into(), json!("kept"));
            }
            _ => (),
        }
        Value::Object(members)
    }

    /// Which of the members of which one has to be there is: the first that needs nothing of what it stands in.
    fn wanted<'s>(self, schema: &Value, some: &'s [Value], place: &Place<'_>) -> Option<&'s Value> {
        let finite = finite::names(self.0, if place.is_small() { &place.way } else { &[] });
        some.iter().find(|arm| finite::are(&arm["required"], schema, &finite))
    }

    fn items(self, schema: &Value, count: u64, place: &Place<'_>) -> Value {
        (0..count.min(MOST)).map(|_| self.value(&schema["items"], &place.inner())).collect()
    }

    fn entries(self, schema: &Value, count: u64, place: &Place<'_>) -> Map<String, Value> {
        let key = |n: u64| if n == 1 { "key".to_owned() } else { format!("key-{n}") };
        let value = || self.value(&schema["additionalProperties"], &place.inner());
        (1..=count.min(MOST)).map(|n| (key(n), value())).collect()
    }

    /// A list of so many items, each as small as can be.
    pub(super) fn list(self, schema: &Value, count: u64) -> Value {
        self.items(schema, count, &Place::outermost(Size::Smallest))
    }

    /// A map of so many members, each as small as can be.
    pub(super) fn map(self, schema: &Value, count: u64) -> Value {
        Value::Object(self.entries(schema, count, &Place::outermost(Size::Smallest)))
    }
}

fn usual_length(schema: &Value, size: Size) -> u64 {
    let (least, most) = (schema["minItems"].as_u64().unwrap_or(0), schema["maxItems"].as_u64().unwrap_or(u64::MAX));
    u64::from(size == Size::Fullest).max(least).min(most)
}

fn usual_text(schema: &Value) -> String {
    match (schema["format"].as_str(), schema["contentEncoding"].as_str()) {
        (Some("date-time"), _) => "2026-07-28T10:00:00.000Z".to_owned(),
        (Some("uri"), _) => "https://example.com/place".to_owned(),
        (Some("uri-template"), _) => "https://example.com/{place}".to_owned(),
        (_, Some("base64")) => "aGVsbG8=".to_owned(),
        _ => {
            let (least, most) = (schema["minLength"].as_u64(), schema["maxLength"].as_u64());
            text("words", 5.max(least.unwrap_or(0)).min(most.unwrap_or(u64::MAX)))
        }
    }
}

/// So many characters: these, again and again.
pub(super) fn text(characters: &str, count: u64) -> String {
    characters.chars().cycle().take(usize::try_from(count.min(MOST)).unwrap_or_default()).collect()
}

fn integer(schema: &Value) -> i64 {
    let usual = schema["minimum"].as_i64().unwrap_or(0).saturating_add(1000);
    usual.min(schema["maximum"].as_i64().unwrap_or(i64::MAX))
}

fn number(schema: &Value) -> f64 {
    let bound = |name: &str, without| schema[name].as_f64().unwrap_or(without);
    0.5_f64.max(bound("minimum", f64::MIN)).min(bound("maximum", f64::MAX))
}
