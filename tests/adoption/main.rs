//! A program outside the workspace, with an existing rmcp server in it, gets its first task tool.
//!
//! `before_*.rs` are such programs, `after_*.rs` the same with a task tool. They are built as a crate of their own, which
//! knows this one as a dependency and nothing else of the workspace, and then spoken to.

mod changes;
mod programs;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::programs::{Program, Wire};

const PATIENCE: Duration = Duration::from_secs(20);

/// A request of a client that knows tasks. It comes without `initialize`, as in 2026-07-28.
fn request(id: u32, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn call() -> Value {
    request(1, "tools/call", json!({ "name": "index", "arguments": { "title": "Emma" } }))
}

/// Polls a task until it has completed.
fn completed(program: &mut Program, task_id: &Value) -> Value {
    let deadline = Instant::now() + PATIENCE;
    for id in 2.. {
        let mut task = program.ask(&request(id, "tasks/get", json!({ "taskId": task_id })));
        if task["status"] == "completed" {
            return task["result"].take();
        }
        assert_eq!(task["status"], "working", "{task}");
        assert!(Instant::now() < deadline, "it does not complete: {task}");
    }
    unreachable!("there are many numbers");
}

/// The call that had a result before has a task after, with the same result.
fn gets_a_task(wire: Wire, before: &str, after: &str) {
    let plain = Program::start(before, wire).ask(&call());
    assert_eq!((&plain["resultType"], &plain["taskId"]), (&json!("complete"), &Value::Null));
    assert_eq!(plain["content"][0]["text"], "the index of Emma");

    let mut program = Program::start(after, wire);
    let task = program.ask(&call());
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    assert_eq!(completed(&mut program, &task["taskId"])["content"], plain["content"]);
}

#[test]
fn a_server_on_stdio_changes_in_two_lines() {
    assert_eq!(changes::lines(include_str!("before_stdio.rs"), include_str!("after_stdio.rs")), 2);
}

#[test]
fn a_server_over_http_changes_in_three_lines() {
    assert_eq!(changes::lines(include_str!("before_http.rs"), include_str!("after_http.rs")), 3);
}

#[test]
fn the_tool_is_a_task_on_stdio() {
    gets_a_task(Wire::Stdio, "before_stdio", "after_stdio");
}

#[test]
fn the_tool_is_a_task_over_http() {
    gets_a_task(Wire::Http, "before_http", "after_http");
}
