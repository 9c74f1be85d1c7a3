//! The test vectors for other languages, replayed with our own types: what is tolerant is read and written again as it
//! was, what is not is refused, save where we say so.

use crate::revisions::{self, Revision};
use mcp_tasks_types::v2026_07_28::JSONObject;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;

/// Vectors of which our types are meant to make something else than the tolerant schemas ask for.
struct Deviation {
    /// The ends of their ids.
    ids: &'static [&'static str],
    how: How,
    why: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum How {
    /// The message is read, though it is not tolerant.
    Read,
    /// The message is written with `complete` as its `resultType`.
    WrittenComplete,
}

const DEVIATIONS: &[Deviation] = &[
    Deviation {
        ids: &["At-no-moment", "At-no-time", "Timestamp/no-moment", "Timestamp/no-time"],
        how: How::Read,
        why: "a client need not lose a task over a clock; `Timestamp::parse` tells",
    },
    Deviation {
        ids: &["/without-resultType", "UpdateTaskResult/empty", "CancelTaskResult/empty"],
        how: How::WrittenComplete,
        why: "absent it reads as `complete` (RES-04), and what is written says so (RES-03)",
    },
    Deviation {
        ids: &["GetTaskResult/example-task-as-result-type"],
        how: How::WrittenComplete,
        why: "`task` on the answer to a poll is read, but not written (RES-02)",
    },
];

/// TSK-04, TSK-06, RES-04: our types and the tolerant schemas agree on every vector of both revisions, members without a
/// name included. Each deviation is one still.
#[test]
fn types_and_tolerant_schemas_agree_on_vectors() {
    let needed = RefCell::new(BTreeSet::new());
    let mut faults = Vec::new();
    for revision in &revisions::ALL {
        for vector in vectors(revision) {
            let (id, how) = (text(&vector, "id"), replay(revision, &vector));
            match how {
                Ok(None) => {}
                Ok(Some(how)) if is_meant(id, how, &needed) => {}
                Ok(Some(How::Read)) => faults.push(format!("{} {id}: is read", revision.name)),
                Ok(Some(How::WrittenComplete)) => faults.push(format!("{} {id}: is made complete", revision.name)),
                Err(fault) => faults.push(format!("{} {id}: {fault}", revision.name)),
            }
        }
    }
    let all = DEVIATIONS.iter().flat_map(|deviation| deviation.ids.iter().map(|end| (*end, deviation.why)));
    let stale = all.filter(|(end, _)| !needed.borrow().contains(end));
    faults.extend(stale.map(|(end, why)| format!("{end}: is no deviation any more: {why}")));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

fn is_meant(id: &str, how: How, needed: &RefCell<BTreeSet<&'static str>>) -> bool {
    let listed = DEVIATIONS.iter().filter(|deviation| deviation.how == how).flat_map(|deviation| deviation.ids);
    let ends: Vec<_> = listed.filter(|end| id.ends_with(**end)).collect();
    needed.borrow_mut().extend(ends.iter().copied());
    !ends.is_empty()
}

/// Nothing if the types do as the vector says.
fn replay(revision: &Revision, vector: &Value) -> Result<Option<How>, String> {
    let message = &vector["message"];
    match (recode(revision, text(vector, "definition"), &message.to_string()), &vector["tolerant"]) {
        (Err(_), Value::Bool(false)) => Ok(None),
        (Ok(_), Value::Bool(false)) => Ok(Some(How::Read)),
        (Err(error), _) => Err(format!("is refused: {error}")),
        (Ok(written), _) => {
            let written = serde_json::from_str(&written).map_err(|error| error.to_string())?;
            difference(message, &written)
        }
    }
}

fn difference(message: &Value, written: &Value) -> Result<Option<How>, String> {
    let mut complete = message.clone();
    if let Some(members) = complete.as_object_mut() {
        members.insert("resultType".to_owned(), json!("complete"));
    }
    if is_equal(message, written) {
        Ok(None)
    } else if is_equal(&complete, written) {
        Ok(Some(How::WrittenComplete))
    } else {
        Err(format!("{message} is written as {written}"))
    }
}

/// Equal as JSON Schema means it: `60000.0` is the number that `60000` is.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let in_other = |(name, value)| other.get(name).is_some_and(|other| is_equal(value, other));
            one.len() == other.len() && one.iter().all(in_other)
        }
        _ => one == other,
    }
}

/// The definitions without a type of their own are any object.
fn recode(revision: &Revision, definition: &str, message: &str) -> serde_json::Result<String> {
    if revision.names.contains(&definition) {
        return revision.recode(definition, message);
    }
    assert!(["JSONObject", "MetaObject"].contains(&definition), "{}: no type for {definition}", revision.name);
    serde_json::to_string(&serde_json::from_str::<JSONObject>(message)?)
}

fn vectors(revision: &Revision) -> Vec<Value> {
    let file = format!("{}/vectors/{}/messages.json", env!("CARGO_MANIFEST_DIR"), revision.name);
    let replay = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let replay: Value = serde_json::from_str(&replay).unwrap_or_else(|error| panic!("{file}: {error}"));
    let vectors = replay["vectors"].as_array().filter(|vectors| !vectors.is_empty());
    vectors.unwrap_or_else(|| panic!("{file}: no vectors")).clone()
}

fn text<'a>(vector: &'a Value, member: &str) -> &'a str {
    vector[member].as_str().unwrap_or_else(|| panic!("{member} is not a string: {vector}"))
}
