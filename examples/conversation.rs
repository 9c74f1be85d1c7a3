//! Reads a conversation about a task and says what each message is and what it tells.
//!
//! A client calls a tool, gets a task instead of a result, polls it, answers its question and fetches the result; another
//! task fails. The messages have the shapes of the walk-through in SEP-2663, in words and values of our own.
//!
//! ```text
//! cargo run --example conversation
//! ```

use mcp_tasks::types::{
    CallToolRequest, CallToolResponse, CallToolResult, ContentBlock, DurationMs, EXTENSION_ID, ElicitRequestParams,
    ElicitResult, ElicitResultContent, ErrorObject, GetTaskRequest, GetTaskResult, InputRequest, InputRequests,
    RawObject, Response, TaskStatusNotification, TaskStatusNotificationParams, UpdateTaskRequest, UpdateTaskResult,
};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;

/// Who sent a message, and the message.
type Sent = (&'static str, &'static str);

const CONVERSATION: &[Sent] = &[
    (
        "client",
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "greet", "arguments": {},
            "_meta": {"io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}}}}"#,
    ),
    (
        "server",
        r#"{"jsonrpc": "2.0", "id": 1, "result": {
            "resultType": "task", "taskId": "greet-5b1d90c4", "status": "working",
            "createdAt": "2026-08-03T09:00:00.000Z", "lastUpdatedAt": "2026-08-03T09:00:00.000Z",
            "ttlMs": 600000, "pollIntervalMs": 500}}"#,
    ),
    ("client", r#"{"jsonrpc": "2.0", "id": 2, "method": "tasks/get", "params": {"taskId": "greet-5b1d90c4"}}"#),
    (
        "server",
        r#"{"jsonrpc": "2.0", "id": 2, "result": {
            "resultType": "complete", "taskId": "greet-5b1d90c4", "status": "working",
            "statusMessage": "choosing a greeting",
            "createdAt": "2026-08-03T09:00:00.000Z", "lastUpdatedAt": "2026-08-03T09:00:00.420Z",
            "ttlMs": 600000, "pollIntervalMs": 500}}"#,
    ),
    ("client", r#"{"jsonrpc": "2.0", "id": 3, "method": "tasks/get", "params": {"taskId": "greet-5b1d90c4"}}"#),
    (
        "server",
        r#"{"jsonrpc": "2.0", "id": 3, "result": {
            "resultType": "complete", "taskId": "greet-5b1d90c4", "status": "input_required",
            "createdAt": "2026-08-03T09:00:00.000Z", "lastUpdatedAt": "2026-08-03T09:00:01.100Z",
            "ttlMs": 600000, "pollIntervalMs": 500,
            "inputRequests": {"guest": {"method": "elicitation/create", "params": {
                "mode": "form", "message": "Whom shall I greet?",
                "requestedSchema": {
                    "type": "object", "properties": {"guest": {"type": "string"}}, "required": ["guest"]}}}}}}"#,
    ),
    (
        "client",
        r#"{"jsonrpc": "2.0", "id": 4, "method": "tasks/update", "params": {
            "taskId": "greet-5b1d90c4",
            "inputResponses": {"guest": {"action": "accept", "content": {"guest": "Ada"}}}}}"#,
    ),
    ("server", r#"{"jsonrpc": "2.0", "id": 4, "result": {"resultType": "complete"}}"#),
    (
        "server",
        r#"{"jsonrpc": "2.0", "method": "notifications/tasks", "params": {
            "taskId": "greet-5b1d90c4", "status": "working", "statusMessage": "greeting Ada",
            "createdAt": "2026-08-03T09:00:00.000Z", "lastUpdatedAt": "2026-08-03T09:00:09.250Z",
            "ttlMs": 600000, "pollIntervalMs": 500}}"#,
    ),
    ("client", r#"{"jsonrpc": "2.0", "id": 5, "method": "tasks/get", "params": {"taskId": "greet-5b1d90c4"}}"#),
    (
        "server",
        r#"{"jsonrpc": "2.0", "id": 5, "result": {
            "resultType": "complete", "taskId": "greet-5b1d90c4", "status": "completed",
            "createdAt": "2026-08-03T09:00:00.000Z", "lastUpdatedAt": "2026-08-03T09:00:09.900Z",
            "ttlMs": 600000, "pollIntervalMs": 500,
            "result": {"resultType": "complete", "content": [{"type": "text", "text": "Good morning, Ada."}]}}}"#,
    ),
    ("client", r#"{"jsonrpc": "2.0", "id": 6, "method": "tasks/get", "params": {"taskId": "report-e27f083a"}}"#),
    (
        "server",
        r#"{"jsonrpc": "2.0", "id": 6, "result": {
            "resultType": "complete", "taskId": "report-e27f083a", "status": "failed",
            "statusMessage": "the printer did not answer",
            "createdAt": "2026-08-03T08:12:00.000Z", "lastUpdatedAt": "2026-08-03T08:14:31.007Z", "ttlMs": null,
            "error": {"code": -32603, "message": "internal error"}}}"#,
    ),
];

/// What there is to say about one message.
struct Line {
    /// The Rust type it was read as.
    kind: &'static str,
    /// The method, the state of the task, or the kind of answer.
    state: String,
    /// What it tells.
    tells: String,
}

/// The conversation, a line for each message.
pub fn transcript() -> Result<String, serde_json::Error> {
    // A response does not name its type: the request with the same id decides.
    let mut asked = HashMap::new();
    let mut text = String::new();
    for (sender, message) in CONVERSATION {
        let Line { kind, state, tells } = read(message, &mut asked)?;
        let line = format!("{sender}  {kind:26}  {state:19}  {tells}");
        text += line.trim_end();
        text += "\n";
    }
    Ok(text)
}

fn read(message: &str, asked: &mut HashMap<String, String>) -> Result<Line, serde_json::Error> {
    let envelope: Value = serde_json::from_str(message)?;
    let (id, method) = (envelope["id"].to_string(), envelope["method"].as_str());
    if let Some(method) = method {
        asked.insert(id, method.to_owned());
        return match method {
            CallToolRequest::METHOD => serde_json::from_str(message).map(call),
            GetTaskRequest::METHOD => serde_json::from_str(message).map(poll),
            UpdateTaskRequest::METHOD => serde_json::from_str(message).and_then(update),
            <TaskStatusNotification>::METHOD => serde_json::from_str(message).map(notification),
            _ => Ok(line("Value", method, "")),
        };
    }
    match asked.remove(&id).as_deref() {
        Some(CallToolRequest::METHOD) => serde_json::from_str(message).map(called),
        Some(GetTaskRequest::METHOD) => serde_json::from_str(message).and_then(polled),
        Some(UpdateTaskRequest::METHOD) => serde_json::from_str(message).map(updated),
        _ => Ok(line("Value", "", "an answer that nobody asked for")),
    }
}

fn call(request: CallToolRequest) -> Line {
    let params = request.params;
    let capabilities = params.meta.and_then(|meta| meta.client_capabilities);
    let extensions = capabilities.and_then(|capabilities| capabilities.extensions);
    let declares = extensions.is_some_and(|extensions| extensions.contains_key(EXTENSION_ID));
    let may = if declares { "may become a task" } else { "must not become a task" };
    line("CallToolRequest", CallToolRequest::METHOD, format!("{}; it {may}", params.name))
}

fn called(response: Response<CallToolResponse>) -> Line {
    let (state, tells) = match response.outcome {
        Ok(CallToolResponse::Complete(result)) => ("complete".to_owned(), said(&result)),
        Ok(CallToolResponse::InputRequired(_)) => ("input_required".to_owned(), "input first".to_owned()),
        Ok(CallToolResponse::Task(task)) => {
            let terms = format!("kept {}, poll {}", kept(task.ttl_ms), pace(task.poll_interval_ms));
            (format!("task, {}", task.status), format!("{}; {terms}", task.task_id))
        }
        Ok(other) => (other.result_type().to_owned(), String::new()),
        Err(error) => ("error".to_owned(), refusal(&error)),
    };
    line("Response<CallToolResponse>", state, tells)
}

fn poll(request: GetTaskRequest) -> Line {
    line("GetTaskRequest", GetTaskRequest::METHOD, request.params.task_id.as_str())
}

/// The result of the tool stays JSON text until somebody wants it: `RawObject`.
fn polled(response: Response<GetTaskResult<RawObject>>) -> Result<Line, serde_json::Error> {
    let (state, tells) = match response.outcome {
        Ok(result) => (result.status().to_owned(), news(&result)?),
        Err(error) => ("error".to_owned(), refusal(&error)),
    };
    Ok(line("Response<GetTaskResult>", state, tells))
}

fn news(result: &GetTaskResult<RawObject>) -> Result<String, serde_json::Error> {
    Ok(match result {
        GetTaskResult::Working(task) => task.status_message.clone().unwrap_or_default(),
        GetTaskResult::InputRequired(task) => questions(&task.input_requests),
        GetTaskResult::Completed(task) => said(&task.result.parse()?),
        GetTaskResult::Failed(task) => {
            let why = task.status_message.as_deref().unwrap_or("no reason given");
            format!("{why}: {}", refusal(&task.error))
        }
        _ => String::new(),
    })
}

fn update(request: UpdateTaskRequest) -> Result<Line, serde_json::Error> {
    let answers = &request.params.input_responses;
    let mut told = Vec::new();
    for key in answers.keys() {
        let Some(answer) = answers.typed::<ElicitResult>(key).transpose()? else { continue };
        told.push(format!("{key}: {} {}", answer.action, filled_in(answer.content.as_ref())?));
    }
    Ok(line("UpdateTaskRequest", UpdateTaskRequest::METHOD, told.join(", ")))
}

fn filled_in(form: Option<&ElicitResultContent>) -> Result<String, serde_json::Error> {
    form.map_or_else(|| Ok(String::new()), serde_json::to_string)
}

fn updated(response: Response<UpdateTaskResult>) -> Line {
    match response.outcome {
        Ok(_) => line("Response<UpdateTaskResult>", "complete", "acknowledged"),
        Err(error) => line("Response<UpdateTaskResult>", "error", refusal(&error)),
    }
}

fn notification(notification: TaskStatusNotification) -> Line {
    let params = notification.params;
    let message = match &params {
        TaskStatusNotificationParams::Working(task) => task.status_message.clone(),
        _ => None,
    };
    line("TaskStatusNotification", params.status(), message.unwrap_or_default())
}

fn questions(requests: &InputRequests) -> String {
    let question = |request: &InputRequest| match request {
        InputRequest::ElicitationCreate(request) => match &request.params {
            ElicitRequestParams::Form(form) => form.message.clone(),
            other => other.mode().to_owned(),
        },
        other => other.method().to_owned(),
    };
    requests.iter().map(|(key, request)| format!("{key}: {}", question(request))).collect::<Vec<_>>().join(", ")
}

fn said(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join(" ")
}

fn kept(ttl: Option<DurationMs>) -> String {
    ttl.map_or_else(|| "without limit".to_owned(), |ttl| format!("for {:?}", Duration::from(ttl)))
}

fn pace(interval: Option<DurationMs>) -> String {
    interval.map_or_else(|| "as you like".to_owned(), |interval| format!("every {:?}", Duration::from(interval)))
}

fn refusal(error: &ErrorObject) -> String {
    format!("{} ({})", error.message, error.code)
}

fn line(kind: &'static str, state: impl Into<String>, tells: impl Into<String>) -> Line {
    Line { kind, state: state.into(), tells: tells.into() }
}

fn main() -> Result<(), serde_json::Error> {
    print!("{}", transcript()?);
    Ok(())
}
