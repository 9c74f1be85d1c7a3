//! Values at the edge of a rule, and values that break it: one change each.

use super::sample::Sampler;
use super::{Case, bounds};
use crate::export::judge::Judge;
use crate::export::walk;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What the cases of one definition are made from.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) schema: &'a Value,
    pub(super) smallest: &'a Value,
    pub(super) fullest: &'a Value,
    pub(super) judge: Judge<'a>,
    pub(super) sampler: Sampler<'a>,
}

impl<'a> Subject<'a> {
    /// Valid values that a reader may trip over.
    pub(super) fn valid_edges(self) -> Vec<Case> {
        let Self { schema, fullest, judge, .. } = self;
        let mut cases = Vec::new();
        let candidates = self.edges(schema).into_iter();
        cases.extend(candidates.map(|(rule, value)| Case::new(rule, "at the edge of what is allowed", value)));
        if fullest.is_object() {
            let extra = with(fullest, "example.com/unnamed", json!({"kept": [1, null]}));
            let why = "a member that has no name here; it survives a read and a write";
            cases.push(Case::new("unnamed-member", why, extra));
        }
        for (name, inner) in self.members() {
            let why = format!("`{name}` at the edge of what is allowed");
            let edges = self.edges(&resolved(inner, judge)).into_iter();
            cases.extend(edges.map(|(rule, value)| self.about(name, format!("{name}-{rule}"), &why, value)));
        }
        cases.retain(|case| judge.fits(schema, &case.message));
        cases
    }

    /// Values that each break one rule.
    pub(super) fn broken(self) -> Vec<Case> {
        let whole = self.unfit(self.schema).into_iter();
        let whole = whole.map(|(rule, value)| Case::new(rule, "not what it has to be", value));
        let members = self.members().flat_map(|(name, inner)| self.broken_member(name, inner));
        whole.chain(self.incomplete()).chain(members).chain(self.unwelcome()).chain(self.none_of_some()).collect()
    }

    /// Without each member that has to be there.
    fn incomplete(self) -> impl Iterator<Item = Case> {
        let required = self.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        required.map(move |name| Case {
            member: Some(name.to_owned()),
            ..Case::new(format!("without-{name}"), format!("`{name}` is missing"), without(self.smallest, name))
        })
    }

    fn broken_member(self, name: &str, schema: &Value) -> Vec<Case> {
        if *schema == json!(false) {
            let why = format!("`{name}` does not belong here");
            return vec![
                self.about(name, format!("with-{name}"), &why, json!({"any": 1})),
                self.about(name, format!("with-null-{name}"), &format!("{why}, null or not"), json!(null)),
            ];
        }
        let why = format!("`{name}` is not what it has to be");
        let values = self.unfit(&resolved(schema, self.judge)).into_iter();
        values.map(|(rule, value)| self.about(name, format!("{name}-{rule}"), &why, value)).collect()
    }

    /// With a member that has no name, where none may be.
    fn unwelcome(self) -> Option<Case> {
        let is_closed = self.schema["additionalProperties"] == json!(false);
        let message = || with(self.fullest, "taskId", json!("words"));
        is_closed.then(|| Case::new("with-taskId", "nothing else may stand here", message()))
    }

    /// Without all of the members of which one has to be there.
    fn none_of_some(self) -> Option<Case> {
        let arms = self.schema.get("anyOf")?.as_array().filter(|_| self.schema.get("properties").is_some())?;
        let names = arms.iter().filter_map(|arm| arm["required"][0].as_str());
        let message = names.fold(self.smallest.clone(), |message, name| without(&message, name));
        Some(Case::new("with-none-of-some", "at least one of several members has to be here", message))
    }

    /// The fullest message with another value of one member.
    fn about(self, name: &str, rule: String, why: &str, value: Value) -> Case {
        Case { member: Some(name.to_owned()), ..Case::new(rule, why, with(self.fullest, name, value)) }
    }

    fn members(self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        self.schema["properties"].as_object().into_iter().flatten()
    }

    fn edges(self, schema: &Value) -> Vec<(String, Value)> {
        let bounds = bounds::at(schema, self.sampler).into_iter().map(|(rule, value)| (rule.to_owned(), value));
        bounds.chain(edges(schema)).filter(|(_, value)| self.judge.fits(schema, value)).collect()
    }

    /// Values that a schema refuses, each with a name for what is wrong.
    fn unfit(self, schema: &Value) -> Vec<(String, Value)> {
        let bounded = resolved_scalar(schema, self.judge);
        let mut values = of_each_kind(&kinds(schema, self.judge));
        // A format has words of its own below.
        if bounded.get("format").is_some() || bounded.get("contentEncoding").is_some() {
            values.retain(|(rule, _)| *rule != "other-word");
        }
        values.extend(bounds::beyond(&bounded, self.sampler));
        if bounded["type"] == "integer" {
            values.push(("fraction", json!(60000.5)));
            values.push(("digits-in-a-string", json!("60000")));
        }
        if bounded["format"] == "date-time" {
            values.push(("no-moment", json!("yesterday")));
            values.push(("no-time", json!("2026-07-28")));
            values.push(("basic-form", json!("20260728T100000Z")));
        }
        if bounded["format"] == "uri" {
            values.push(("no-uri", json!("no uri")));
        }
        if bounded["format"] == "uri-template" {
            values.push(("no-template", json!("{")));
        }
        if bounded["contentEncoding"] == "base64" {
            values.push(("no-base64", json!("***")));
        }
        let refused = values.into_iter().filter(|(_, value)| !self.judge.fits(schema, value));
        refused.map(|(rule, value)| (rule.to_owned(), value)).collect()
    }
}

fn edges(schema: &Value) -> Vec<(String, Value)> {
    let mut values = Vec::new();
    let mut put = |rule: &str, value: Value| values.push((rule.to_owned(), value));
    if schema["type"] == "integer" {
        put("integral-float", json!(60000.0));
    }
    if schema["format"] == "date-time" {
        put("other-offset", json!("2026-07-28T12:00:00.123456+02:00"));
    }
    for word in schema["enum"].as_array().into_iter().flatten() {
        put(word.as_str().unwrap_or_default(), word.clone());
    }
    match schema["type"].as_str() {
        Some("string") if schema.get("const").is_none() => put("not-ascii", json!("\u{1f980} \"\\ \u{0}")),
        Some("array") => put("empty", json!([])),
        Some("object") if schema.get("properties").is_none() => put("empty", json!({})),
        _ => (),
    }
    for (n, arm) in schema["anyOf"].as_array().into_iter().flatten().enumerate() {
        match arm["type"].as_str() {
            Some("null") => put("null", json!(null)),
            Some("string") => put(&format!("arm-{n}-string"), json!("words")),
            Some("integer") => put(&format!("arm-{n}-integer"), json!(7)),
            Some("number") => put(&format!("arm-{n}-number"), json!(0.25)),
            Some("boolean") => put(&format!("arm-{n}-boolean"), json!(false)),
            Some("array") => put(&format!("arm-{n}-list"), json!([])),
            _ => (),
        }
    }
    values
}

/// A value of each kind of JSON, named by what is wrong with it: its kind, or no more than the value.
fn of_each_kind(allowed: &BTreeSet<&'static str>) -> Vec<(&'static str, Value)> {
    let value =
        |kind, other_kind, other_value, value| (if allowed.contains(kind) { other_value } else { other_kind }, value);
    vec![
        ("is-null", json!(null)),
        value("number", "is-a-number", "other-number", json!(1)),
        value("string", "is-a-string", "other-word", json!("no such word")),
        value("array", "is-a-list", "empty", json!([])),
        value("object", "is-an-object", "empty", json!({})),
    ]
}

/// The kinds of JSON of which a schema may take some value.
fn kinds(schema: &Value, judge: Judge<'_>) -> BTreeSet<&'static str> {
    if let Some(definition) = walk::target(schema).and_then(|name| judge.definitions().get(name)) {
        return kinds(definition, judge);
    }
    let words = schema.get("type").and_then(Value::as_str).map(kind_of_type);
    let values = schema.get("const").into_iter().chain(schema["enum"].as_array().into_iter().flatten()).map(kind);
    let arms = ["anyOf", "oneOf"].into_iter().flat_map(|word| schema[word].as_array().into_iter().flatten());
    // The arms of an object say which of its members have to be there, not what it is.
    match words {
        Some(word) => BTreeSet::from([word]),
        None => values.chain(arms.flat_map(|arm| kinds(arm, judge))).collect(),
    }
}

fn kind_of_type(word: &str) -> &'static str {
    match word {
        "integer" | "number" => "number",
        "string" => "string",
        "boolean" => "boolean",
        "array" => "array",
        "object" => "object",
        _ => "null",
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The scalar in a nullable one.
fn resolved_scalar(schema: &Value, judge: Judge<'_>) -> Value {
    let first = schema["anyOf"].get(0).filter(|_| schema.get("properties").is_none());
    first.map_or_else(|| schema.clone(), |arm| resolved(arm, judge))
}

fn resolved(schema: &Value, judge: Judge<'_>) -> Value {
    walk::target(schema).and_then(|name| judge.definitions().get(name)).unwrap_or(schema).clone()
}

fn with(message: &Value, name: &str, value: Value) -> Value {
    let mut message = message.clone();
    if let Some(members) = message.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
    message
}

fn without(message: &Value, name: &str) -> Value {
    let mut message = message.clone();
    message.as_object_mut().and_then(|members| members.shift_remove(name));
    message
}
