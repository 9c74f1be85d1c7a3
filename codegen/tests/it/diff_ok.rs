//! What `diff` must not call `ok`: each is a pair that differs where it is easily overlooked.

use mcp_tasks_codegen::diff::Verdict::{Breaks, Ok, Unknown};
use mcp_tasks_codegen::diff::{Impact, Kind, Report, diff};
use mcp_tasks_codegen::ir::{Revision, Shape};
use mcp_tasks_codegen::{Document, Settings, read_published};
use serde_json::{Value, json};

const UNKNOWN: Impact = Impact::new(Unknown, Unknown, Unknown);

/// A published file with these definitions.
#[track_caller]
fn read(defs: Value) -> Revision {
    let root = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": defs });
    read_published(&[Document::new("x", root)]).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn report(old: Value, new: Value) -> Report {
    diff(&read(old), &read(new), &Settings::default())
}

/// Kind, pointer and impact of each change.
fn changes(report: &Report) -> Vec<(Kind, &str, Impact)> {
    report.changes.iter().map(|change| (change.kind, change.pointer.as_str(), change.impact)).collect()
}

/// An open object with these members, all of them required.
fn object(members: Value) -> Value {
    let required: Vec<_> = members.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    json!({ "type": "object", "properties": members, "required": required })
}

fn to(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

#[test]
fn what_is_removed_and_only_refers_to_itself_is_told_by_nobody() {
    let list = |name: &str| json!({ "type": "array", "items": to(name) });
    let old = json!({
        "Kept": object(json!({ "of": to("Below") })),
        "Below": object(json!({ "below": list("Below") })),
        "Tree": object(json!({ "children": list("Tree") })),
        "Hen": object(json!({ "eggs": list("Egg") })),
        "Egg": object(json!({ "hens": list("Hen"), "shell": to("Shell") })),
        "Shell": object(json!({ "colour": { "type": "string" } })),
    });
    let report = report(old, json!({ "Kept": object(json!({})) }));
    let wire = |name: &str| {
        let change = report.changes.iter().find(|change| change.pointer == format!("/$defs/{name}"));
        change.map(|change| (change.impact.readers, change.impact.writers))
    };
    for name in ["Tree", "Hen", "Egg"] {
        assert_eq!(wire(name), Some((Unknown, Unknown)), "{name}");
    }
    for name in ["Below", "Shell"] {
        assert_eq!(wire(name), Some((Ok, Ok)), "{name}");
    }
}

/// The net below all steps holds where a member's words have changed too: here a member is there twice, which no step asks
/// for.
#[test]
fn what_no_step_sees_is_still_a_change() {
    let thing = |words: &str| {
        let members = json!({ "a": { "type": "string", "description": words }, "b": { "type": "string" } });
        read(json!({ "X": { "type": "object", "properties": members } }))
    };
    let (old, mut new) = (thing("Before."), thing("After."));
    let Shape::Object(object) = &mut new.parts[0].definitions[0].shape else { panic!("it is an object") };
    object.fields.push(object.fields[1].clone());
    let report = diff(&old, &new, &Settings::default());
    assert_eq!(changes(&report).last(), Some(&(Kind::TypeChanged, "/$defs/X", UNKNOWN)));
}

#[test]
fn a_member_renamed_where_no_others_are_allowed_breaks() {
    let with = |member: &str, open: bool| {
        json!({
            "Name": { "type": "string", "minLength": 1 },
            "Bed": { "type": "object", "properties": { member: to("Name") }, "additionalProperties": open },
        })
    };
    for (was_open, is_open, readers, writers) in [
        (true, true, Unknown, Unknown),
        (false, false, Breaks, Breaks),
        (false, true, Breaks, Unknown),
        (true, false, Unknown, Breaks),
    ] {
        let report = report(with("place", was_open), with("spot", is_open));
        let expected = (Kind::MemberRenamed, "/$defs/Bed/properties/spot", Impact::new(readers, writers, Breaks));
        assert_eq!(changes(&report)[0], expected);
    }
}
