//! `JsonSchema` of the types (feature `schemars`): the definition a type was made from.

use crate::messages::Definitions;
use crate::revisions;
use mcp_tasks_types::{CallToolResponse, GetTaskResult, Task};
use schemars::{JsonSchema, SchemaGenerator, schema_for};
use serde_json::{Value, json};

fn definition(name: &str) -> Value {
    Definitions::parse(revisions::ALL[1].schema).0[name].clone()
}

/// A reference to a definition of ours, as schemars keeps it.
fn with_our_references(schema: Value) -> Value {
    let text = schema.to_string().replace("#/$defs/", "#/$defs/mcp.");
    serde_json::from_str(&text).expect("still JSON")
}

/// The schema of a type is its own definition, and all that it refers to comes with it.
#[test]
fn the_schema_of_a_type_is_its_definition() {
    let mut schema = schema_for!(GetTaskResult).to_value();
    let definitions = schema["$defs"].take();
    schema.as_object_mut().unwrap().retain(|key, _| !matches!(key.as_str(), "$schema" | "$defs"));
    assert_eq!(schema, with_our_references(definition("GetTaskResult")));
    for name in
        ["WorkingTaskResult", "CompletedTaskResult", "Task", "Result", "InputRequests", "DurationMs", "JSONObject"]
    {
        assert_eq!(definitions[format!("mcp.{name}")], with_our_references(definition(name)), "{name}");
    }
}

/// A user's type, which has a name in common with ours.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Report {
    newest: Task,
    all: Vec<GetTaskResult>,
    answer: Option<CallToolResponse>,
    result: Result,
}

/// Not ours.
#[derive(JsonSchema)]
#[allow(dead_code)]
struct Result {
    count: u8,
}

/// A user's struct that holds our types gets a schema that holds of what is written.
#[test]
fn a_users_schema_validates_messages() {
    let schema = SchemaGenerator::default().into_root_schema_for::<Report>().to_value();
    let validator = jsonschema::draft202012::new(&schema).expect("a valid schema");
    let task = json!({ "taskId": "t", "status": "working", "createdAt": "c", "lastUpdatedAt": "l", "ttlMs": null });
    let mut poll = task.clone();
    poll["resultType"] = json!("complete");
    let report = json!({ "newest": task, "all": [poll], "answer": null, "result": { "count": 1 } });
    assert!(validator.is_valid(&report), "{:?}", validator.validate(&report));
    for (pointer, wrong) in [
        ("/newest/ttlMs", json!(-1)),
        ("/newest/status", json!("paused")),
        ("/all/0/resultType", json!("task")),
        ("/all/0/status", json!("completed")),
        ("/answer", json!({ "resultType": "task" })),
        ("/result/count", json!("one")),
    ] {
        let mut report = report.clone();
        *report.pointer_mut(pointer).expect(pointer) = wrong;
        assert!(!validator.is_valid(&report), "{pointer}");
    }
}
