//! Looks at tools as JSON.

use mcp_tasks::{
    TaskContext, TaskServer,
    private::{TaskTool, ToolCall},
    server::ReadyServer,
};
use rmcp::{ServerHandler, model::CallToolResult};
use serde_json::Value;

/// The state of each server here.
pub struct Shared;

/// The tool as `tools/list` shows it, without the `_meta` that never leaves the server.
pub fn listed<T: TaskTool>() -> Value {
    let server = server::<T>();
    let mut tool = server.tools().get_tool(T::definition().name()).expect("the tool is there");
    tool.meta = None;
    serde_json::to_value(tool).expect("a tool is JSON")
}

/// A server with this one tool. The engine that comes with it needs a runtime.
fn server<T: TaskTool>() -> ReadyServer {
    TaskServer::new("test", "1").in_memory().state(Shared).tool::<T>().build().expect("the tool is all right")
}

/// Whether arguments fit: `fits`, or why not.
pub fn check<T: TaskTool>(arguments: Value) -> String {
    let server = server::<T>();
    let fit = server.tools().check(T::definition().name(), &object(arguments));
    fit.map_or_else(|bad| bad.to_string(), |()| "fits".to_owned())
}

/// What a call gives: the result, or the code and message of a JSON-RPC error.
pub async fn call<T: TaskTool>(arguments: Value) -> Value {
    call_in::<T>(arguments, TaskContext::for_test().context()).await
}

/// As [`call`], in a context of the test's own.
pub async fn call_in<T: TaskTool>(arguments: Value, task: TaskContext) -> Value {
    match T::call(ToolCall::new(object(arguments), task)).await {
        Ok(result) => json(&result),
        Err(failed) => {
            let error = failed.into_error();
            let kind = if error.is_protocol() { "protocol" } else { "tool" };
            serde_json::json!({ kind: error.message() })
        }
    }
}

fn json(result: &CallToolResult) -> Value {
    serde_json::to_value(result).expect("a result is JSON")
}

/// A JSON object.
pub fn object(value: Value) -> serde_json::Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}
