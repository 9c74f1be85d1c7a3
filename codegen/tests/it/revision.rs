//! A specification that moves: a message is added to the schemas, and a command makes its types.

use crate::support::{cargo, codegen, copy, folder, get, put, repository, tree};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// An invented message, in the house style.
fn ping() -> Value {
    let source = "[mcp-tasks: Invented for a test]";
    let core = "urn:mcp-tasks:2026-07-28:core#/$defs";
    json!({
        "PingTaskRequestParams": {
            "title": "Ping task params",
            "description": format!("Which task to ping. {source}"),
            "type": "object",
            "properties": {
                "taskId": { "$ref": "#/$defs/TaskId" },
                "_meta": { "$ref": format!("{core}/RequestMetaObject") },
            },
            "required": ["taskId"],
            "additionalProperties": true,
        },
        "PingTaskRequest": {
            "title": "Ping task request",
            "description": format!("Asks whether a task is still there. {source}"),
            "type": "object",
            "properties": {
                "jsonrpc": { "type": "string", "const": "2.0" },
                "id": { "$ref": format!("{core}/RequestId") },
                "method": { "type": "string", "const": "tasks/ping" },
                "params": { "$ref": "#/$defs/PingTaskRequestParams" },
            },
            "required": ["jsonrpc", "id", "method", "params"],
            "additionalProperties": true,
        },
        "PingTaskResult": {
            "title": "Ping task result",
            "description": format!("How long the task took to answer. {source}"),
            "allOf": [
                { "$ref": format!("{core}/Result") },
                {
                    "type": "object",
                    "properties": {
                        "resultType": { "type": "string", "const": "complete" },
                        "tookMs": { "$ref": format!("{core}/DurationMs") },
                    },
                    "required": ["resultType", "tookMs"],
                    "additionalProperties": true,
                },
            ],
        },
    })
}

/// A program that uses the new types, and says by its exit code whether they are right.
const PROBE: &str = r##"
use mcp_tasks_types::{PingTaskRequest, PingTaskRequestParams, PingTaskResult, Request, RequestId};

fn method<R: Request<Params = PingTaskRequestParams, Result = PingTaskResult>>() -> &'static str {
    R::METHOD
}

fn main() {
    assert_eq!(method::<PingTaskRequest>(), "tasks/ping");
    let request = PingTaskRequest::new(RequestId::String("a".into()), PingTaskRequestParams::new("t"));
    let text = r#"{"jsonrpc":"2.0","id":"a","method":"tasks/ping","params":{"taskId":"t"}}"#;
    assert_eq!(serde_json::to_string(&request).unwrap(), text);
    assert_eq!(serde_json::from_str::<PingTaskRequest>(text).unwrap(), request);
    let error = serde_json::from_str::<PingTaskResult>(r#"{"resultType":"complete","tookMs":-1}"#).unwrap_err();
    assert!(error.to_string().starts_with("PingTaskResult.tookMs: -1 is less than 0"), "{error}");
    println!("pong");
}
"##;

/// The two crates in a workspace like ours.
fn workspace(place: &Path) {
    let ours = get(&repository().join("Cargo.toml"));
    let tables: Vec<_> = ours.split("\n[").filter(|table| table.starts_with("workspace.")).collect();
    put(
        &place.join("Cargo.toml"),
        &format!("[workspace]\nmembers = [\"generated\", \"probe\"]\nresolver = \"3\"\n\n[{}", tables.join("\n[")),
    );
    let types = get(&repository().join("generated/Cargo.toml"));
    let needed: Vec<_> = types.split("\n[").filter(|table| !table.starts_with("dev-dependencies]")).collect();
    put(&place.join("generated/Cargo.toml"), &needed.join("\n["));
    let probe = "[package]\nname = \"probe\"\nedition = \"2024\"\n\n[dependencies]\nmcp-tasks-types.workspace = true\nserde_json.workspace = true\n";
    put(&place.join("probe/Cargo.toml"), probe);
    put(&place.join("probe/src/main.rs"), PROBE);
}

/// A new message needs an entry in `schema/` and one command; nothing else is written, and the types are there.
#[test]
fn a_new_message_needs_a_schema_and_a_command() {
    let place = folder("revision");
    copy(&repository().join("schema"), &place.join("schema"));
    copy(&repository().join("generated/src"), &place.join("generated/src"));
    workspace(&place);

    let path = place.join("schema/2026-07-28/tasks.schema.json");
    let mut document: Value = serde_json::from_str(&get(&path)).expect("our schema is JSON");
    let Value::Object(more) = ping() else { unreachable!("it is written as an object above") };
    document["$defs"].as_object_mut().expect("our schema has definitions").extend(more);
    put(&path, &format!("{document:#}\n"));

    let before = tree(&place);
    let run = codegen(&repository(), &["generate", "--root", &place.display().to_string()]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let after = tree(&place);
    let changed = after.iter().filter(|(path, bytes)| before.get(*path) != Some(bytes)).map(|(path, _)| path.as_str());
    assert_eq!(
        changed.collect::<Vec<_>>(),
        [
            "generated/src/v2026_07_28/schema.json",
            "generated/src/v2026_07_28/schema.rs",
            "generated/src/v2026_07_28/tasks.rs",
            "generated/tests/registry/v2025_11_25.rs",
            "generated/tests/registry/v2026_07_28.rs",
        ]
    );
    assert!(before.keys().all(|path| after.contains_key(path)), "nothing is taken away");
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().count();
    let types = "generated/src/v2026_07_28/tasks.rs";
    assert!(lines(&after[types]) > lines(&before[types]), "what was there stays, and more comes");

    fs::remove_dir_all(place.join("generated/tests")).expect("the registries need more than the types do");
    assert_eq!(cargo(&place, &["run", "--quiet", "--package", "probe"]), "pong\n");
}
