//! Published examples come out of the types as they went in.

use crate::Outcome;
use crate::messages::Message;
use crate::source::Source;
use crate::walk::{Place, places};
use serde_json::Value;

/// Checks every example whose definition the source has; it has to have at least one.
pub fn check(source: &Source, examples: &[Message]) -> Outcome {
    let covered: Vec<_> =
        examples.iter().filter(|example| source.revision.get(&example.definition).is_some()).collect();
    if covered.is_empty() {
        return Err(vec!["no example is of a known definition".into()]);
    }
    let faults: Vec<_> = covered.iter().filter_map(|example| fault(source, example)).collect();
    let summary = format!("{} of {} examples come out equal", covered.len(), examples.len());
    if faults.is_empty() { Ok(summary) } else { Err(faults) }
}

/// Checks every example: the source has to have all their definitions.
pub fn check_all(source: &Source, examples: &[Message]) -> Outcome {
    let unknown = examples.iter().filter(|example| source.revision.get(&example.definition).is_none());
    let faults: Vec<_> =
        unknown.map(|example| format!("{}: no definition {}", example.origin, example.definition)).collect();
    if faults.is_empty() { check(source, examples) } else { Err(faults) }
}

/// What is wrong with a message after it went through its type.
fn fault(source: &Source, message: &Message) -> Option<String> {
    written(source, &message.definition, &message.value)
        .and_then(|after| same(source, &message.definition, &message.value, &after))
        .err()
        .map(|fault| format!("{}: {}: {fault}", message.origin, message.definition))
}

/// The message that the types make of a message.
pub fn written(source: &Source, definition: &str, message: &Value) -> Result<Value, String> {
    let text = (source.recode)(definition, &message.to_string()).ok_or("no type of that name")?;
    let text = text.map_err(|error| format!("is refused: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("is written as broken JSON: {error}"))
}

/// Equal, with every map, free object and unnamed member in the order in which it came.
pub fn same(source: &Source, definition: &str, before: &Value, after: &Value) -> Result<(), String> {
    if before != after {
        return Err(format!("is written as {after}"));
    }
    match places(source, definition, before).iter().find(|place| reordered(place, before, after)) {
        Some(place) => Err(format!("the members of {} ({}) are in another order", place.pointer, place.at)),
        None => Ok(()),
    }
}

fn reordered(place: &Place, before: &Value, after: &Value) -> bool {
    let unnamed = |message: &Value| -> Vec<String> {
        let members = message.pointer(&place.pointer).and_then(Value::as_object).into_iter().flatten();
        members.map(|(key, _)| key.clone()).filter(|key| !place.named.contains(key)).collect()
    };
    unnamed(before) != unnamed(after)
}
