//! Messages with one fault each, or something a reader should not mind.

use crate::walk::Place;
use serde_json::{Value, json};

/// A changed message.
pub struct Mutant {
    /// The name of the change.
    pub change: &'static str,
    pub message: Value,
}

/// All changes at one place of a message.
pub fn mutants(message: &Value, place: &Place) -> Vec<Mutant> {
    let Some(value) = message.pointer(&place.pointer) else { return Vec::new() };
    let replaced =
        replacements(value).into_iter().map(|(change, value)| Mutant { change, message: with(message, place, value) });
    let dropped = without(message, place).map(|message| Mutant { change: "drop", message });
    replaced.chain(dropped).collect()
}

fn replacements(value: &Value) -> Vec<(&'static str, Value)> {
    let mut replacements = vec![("null", Value::Null)];
    replacements.extend(match value {
        Value::Null => vec![("wrong-type", json!("x-text"))],
        Value::Bool(_) => vec![("wrong-type", json!("true"))],
        Value::Number(_) => vec![
            ("wrong-type", json!("7")),
            ("negative", json!(-1)),
            ("fraction", json!(1.5)),
            ("whole-fraction", json!(60000.0)),
            ("beyond-double", json!(9_007_199_254_740_992_u64)),
            ("beyond-i64", json!(1e20)),
        ],
        Value::String(_) => vec![("wrong-type", json!(7)), ("unknown-word", json!("x-word")), ("empty", json!(""))],
        Value::Array(items) => vec![("wrong-type", json!({})), ("empty", json!([])), ("repeated", repeated(items))],
        Value::Object(members) => vec![("wrong-type", json!([])), ("empty", json!({})), ("extra", extra(members))],
    });
    replacements
}

fn repeated(items: &[Value]) -> Value {
    items.iter().chain(items).cloned().collect()
}

/// An object with one member more, which holds what free JSON can hold.
fn extra(members: &serde_json::Map<String, Value>) -> Value {
    let mut members = members.clone();
    members.insert("x-extra".to_owned(), json!({ "deep": [true, "text", 1] }));
    Value::Object(members)
}

fn with(message: &Value, place: &Place, value: Value) -> Value {
    let mut changed = message.clone();
    if let Some(target) = changed.pointer_mut(&place.pointer) {
        *target = value;
    }
    changed
}

/// The message without a member; items of lists stay.
fn without(message: &Value, place: &Place) -> Option<Value> {
    let (outer, step) = place.pointer.rsplit_once('/')?;
    let mut changed = message.clone();
    let members = changed.pointer_mut(outer)?.as_object_mut()?;
    members.shift_remove(&step.replace("~1", "/").replace("~0", "~"))?;
    Some(changed)
}
