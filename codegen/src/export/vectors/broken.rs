//! Values at the edge of a rule, and values that break it: one change each.

use super::Case;
use crate::export::judge::Judge;
use crate::export::walk;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Valid values that a reader may trip over.
pub(super) fn valid_edges(schema: &Value, fullest: &Value, judge: Judge<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    let candidates = edges(schema).into_iter().filter(|(_, value)| judge.fits(schema, value));
    cases.extend(candidates.map(|(rule, value)| Case::new(rule, "at the edge of what is allowed", value)));
    if fullest.is_object() {
        let extra = with(fullest, "example.com/unnamed", json!({"kept": [1, null]}));
        let why = "a member that has no name here; it survives a read and a write";
        cases.extend(judge.fits(schema, &extra).then(|| Case::new("unnamed-member", why, extra)));
    }
    for (name, inner) in members(schema) {
        let inner = resolved(inner, judge);
        for (rule, value) in edges(&inner).into_iter().filter(|(_, value)| judge.fits(&inner, value)) {
            let message = with(fullest, name, value);
            let case = Case::new(format!("{name}-{rule}"), format!("`{name}` at the edge of what is allowed"), message);
            cases.extend(judge.fits(schema, &case.message).then_some(Case { member: Some(name.clone()), ..case }));
        }
    }
    cases
}

/// Values that each break one rule.
pub(super) fn cases(schema: &Value, smallest: &Value, fullest: &Value, judge: Judge<'_>) -> Vec<Case> {
    let mut cases: Vec<Case> =
        unfit(schema, judge).into_iter().map(|(rule, value)| Case::new(rule, "not what it has to be", value)).collect();
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let case = Case::new(format!("without-{name}"), format!("`{name}` is missing"), without(smallest, name));
        cases.push(Case { member: Some(name.to_owned()), ..case });
    }
    for (name, inner) in members(schema) {
        let about = |rule: String, why: String, value: Value| {
            let case = Case::new(rule, why, with(fullest, name, value));
            Case { member: Some(name.clone()), ..case }
        };
        if *inner == json!(false) {
            cases.push(about(format!("with-{name}"), format!("`{name}` does not belong here"), json!({"any": 1})));
            cases.push(about(
                format!("with-null-{name}"),
                format!("`{name}` does not belong here, null or not"),
                json!(null),
            ));
            continue;
        }
        let inner = resolved(inner, judge);
        for (rule, value) in unfit(&inner, judge) {
            cases.push(about(format!("{name}-{rule}"), format!("`{name}` is not what it has to be"), value));
        }
    }
    if schema["additionalProperties"] == json!(false) {
        let message = with(fullest, "taskId", json!("words"));
        cases.push(Case::new("with-taskId", "nothing else may stand here", message));
    }
    if let Some(arms) = schema.get("anyOf").and_then(Value::as_array).filter(|_| schema.get("properties").is_some()) {
        let names = arms.iter().filter_map(|arm| arm["required"][0].as_str());
        let message = names.fold(smallest.clone(), |message, name| without(&message, name));
        cases.push(Case::new("with-none-of-some", "at least one of several members has to be here", message));
    }
    cases
}

fn edges(schema: &Value) -> Vec<(String, Value)> {
    let mut values = Vec::new();
    let mut put = |rule: &str, value: Value| values.push((rule.to_owned(), value));
    for bound in ["minimum", "maximum"] {
        if let Some(value) = schema.get(bound) {
            put(bound, value.clone());
        }
    }
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

/// Values that a schema refuses, each with a name for what is wrong.
fn unfit(schema: &Value, judge: Judge<'_>) -> Vec<(String, Value)> {
    let bounded = resolved_scalar(schema, judge);
    let mut values = of_each_kind(&kinds(schema, judge));
    // A format has words of its own below.
    if bounded.get("format").is_some() || bounded.get("contentEncoding").is_some() {
        values.retain(|(rule, _)| *rule != "other-word");
    }
    if let Some(least) = bounded["minimum"].as_i64() {
        values.push(("below", json!(least.saturating_sub(1))));
    }
    if let Some(most) = bounded["maximum"].as_i64() {
        values.push(("above", json!(most.saturating_add(1))));
    }
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
    if bounded["contentEncoding"] == "base64" {
        values.push(("no-base64", json!("***")));
    }
    let refused = values.into_iter().filter(|(_, value)| !judge.fits(schema, value));
    refused.map(|(rule, value)| (rule.to_owned(), value)).collect()
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
    if let Some(definition) = walk::target(schema).and_then(|name| judge.0.get(name)) {
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
    walk::target(schema).and_then(|name| judge.0.get(name)).unwrap_or(schema).clone()
}

fn members(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
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
