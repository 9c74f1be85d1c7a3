//! What a fn returns, and the result that it becomes.

use mcp_tasks::{Json, TaskContext, ToolError, task_tool};
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock},
};
use serde_json::{Value, json};

use crate::support::{call, call_in, listed};

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Point {
    x: i64,
}

#[task_tool]
async fn point() -> Point {
    Point { x: 1 }
}

#[task_tool]
async fn number() -> Result<i64, ToolError> {
    Ok(7)
}

#[task_tool]
async fn text() -> String {
    "hi".into()
}

#[task_tool]
async fn literal() -> Result<&'static str, String> {
    Ok("hi")
}

#[task_tool]
async fn json_text() -> Json<String> {
    Json("hi".into())
}

#[task_tool]
async fn nothing() {}

#[task_tool]
async fn blocks() -> Vec<ContentBlock> {
    vec![ContentBlock::text("a"), ContentBlock::text("b")]
}

#[task_tool]
async fn own_result() -> CallToolResult {
    let mut result = CallToolResult::structured_error(json!({"why": 1}));
    result.content.clear();
    result
}

type Outcome = Result<Point, ToolError>;

#[task_tool]
async fn behind_an_alias() -> Outcome {
    Err(ToolError::new("no"))
}

fn completed(content: Value) -> Value {
    json!({"resultType": "complete", "content": content, "isError": false})
}

fn structured(text: &str, value: Value) -> Value {
    let mut result = completed(json!([{"type": "text", "text": text}]));
    result["structuredContent"] = value;
    result
}

#[tokio::test]
async fn each_return_type_has_its_result() {
    assert_eq!(call::<point>(json!({})).await, structured("{\"x\":1}", json!({"x": 1})));
    assert_eq!(call::<number>(json!({})).await, structured("7", json!(7)));
    assert_eq!(call::<json_text>(json!({})).await, structured("\"hi\"", json!("hi")));
    assert_eq!(call::<text>(json!({})).await, completed(json!([{"type": "text", "text": "hi"}])));
    assert_eq!(call::<literal>(json!({})).await, completed(json!([{"type": "text", "text": "hi"}])));
    assert_eq!(call::<nothing>(json!({})).await, completed(json!([])));
    assert_eq!(call::<blocks>(json!({})).await["content"].as_array().map(Vec::len), Some(2));
}

/// A result that the tool made itself is passed on as it is (GET-06, case 35).
#[tokio::test]
async fn an_own_result_is_not_changed() {
    let result = json!({"resultType": "complete", "content": [], "structuredContent": {"why": 1}, "isError": true});
    assert_eq!(call::<own_result>(json!({})).await, result);
}

/// Only what is structured has an output schema.
#[tokio::test]
async fn structured_outputs_have_a_schema() {
    let kind = |tool: Value| tool.get("outputSchema").map(|schema| schema["type"].clone());
    assert_eq!(kind(listed::<point>()), Some(json!("object")));
    assert_eq!(kind(listed::<behind_an_alias>()), Some(json!("object")));
    assert_eq!(kind(listed::<number>()), Some(json!("integer")));
    assert_eq!(kind(listed::<json_text>()), Some(json!("string")));
    for tool in [listed::<text>(), listed::<literal>(), listed::<nothing>(), listed::<blocks>(), listed::<own_result>()]
    {
        assert_eq!(kind(tool), None);
    }
}

#[task_tool]
async fn parse(text: String) -> Result<i64, ToolError> {
    Ok(text.parse::<i64>()?)
}

#[task_tool]
async fn with_texts(which: u8) -> Result<i64, ToolError> {
    let failed: Result<i64, String> = Err("a String".into());
    let literal: Result<i64, &'static str> = Err("a literal");
    Ok(if which == 0 { failed? } else { literal? })
}

#[task_tool]
async fn std_error() -> Result<i64, std::num::ParseIntError> {
    "x".parse()
}

#[task_tool]
async fn boxed_error() -> Result<i64, Box<dyn std::error::Error + Send + Sync>> {
    Err("boxed".into())
}

#[task_tool]
async fn protocol(through: bool) -> Result<i64, ToolError> {
    if through {
        Err(ErrorData::resource_not_found("gone", Some(json!(1))))?;
    }
    Err(ToolError::protocol(-32001, "refused", None))
}

#[task_tool]
async fn error_data() -> Result<i64, ErrorData> {
    Err(ErrorData::invalid_params("bad", None))
}

/// ERR-05, TSK-07: an error of the tool's own is told; whatever can be displayed may be one.
#[tokio::test]
async fn errors_are_told() {
    assert_eq!(call::<parse>(json!({"text": "x"})).await, json!({"tool": "invalid digit found in string"}));
    assert_eq!(call::<with_texts>(json!({"which": 0})).await, json!({"tool": "a String"}));
    assert_eq!(call::<with_texts>(json!({"which": 1})).await, json!({"tool": "a literal"}));
    assert_eq!(call::<std_error>(json!({})).await, json!({"tool": "invalid digit found in string"}));
    assert_eq!(call::<boxed_error>(json!({})).await, json!({"tool": "boxed"}));
    assert_eq!(call::<behind_an_alias>(json!({})).await, json!({"tool": "no"}));
}

/// ERR-05: a protocol error stays one, whichever way it comes.
#[tokio::test]
async fn protocol_errors_stay_protocol_errors() {
    assert_eq!(call::<protocol>(json!({"through": true})).await, json!({"protocol": "gone"}));
    assert_eq!(call::<protocol>(json!({"through": false})).await, json!({"protocol": "refused"}));
    assert_eq!(call::<error_data>(json!({})).await, json!({"protocol": "bad"}));
}

#[task_tool]
async fn progress(task: TaskContext) -> Result<(), ToolError> {
    task.progress(1, 2).await?;
    task.status("half").await?;
    Ok(())
}

/// What the context refuses is an error like any other.
#[tokio::test]
async fn errors_of_the_context_pass_through() {
    let mut test = TaskContext::for_test();
    assert_eq!(call_in::<progress>(json!({}), test.context()).await, completed(json!([])));
    assert_eq!(test.status_messages(), ["1/2".into(), "half".into()]);
}
