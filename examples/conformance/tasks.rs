//! The tools of the scenarios about tasks.

use std::time::Duration;

use mcp_tasks::{CallInfo, Elicited, TaskContext, TaskServer, ToolError, task_tool};

pub fn add(server: TaskServer) -> TaskServer {
    server
        .tool::<greet>()
        .tool::<slow_compute>()
        .tool::<failing_job>()
        .tool::<protocol_error_job>()
        .tool::<confirm_delete>()
        .tool::<multi_input>()
        .tool::<test_tool_with_task>()
}

/// Greets somebody, at once.
#[task_tool(when = never)]
async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

fn never(_: &CallInfo<'_>) -> bool {
    false
}

/// Computes for some seconds.
#[task_tool(ttl = "10m", poll_interval = "500ms")]
async fn slow_compute(seconds: u64, label: Option<String>, task: TaskContext) -> String {
    task.sleep(Duration::from_secs(seconds.min(60))).await;
    format!("{} took {seconds} s", label.as_deref().unwrap_or("the computation"))
}

/// Fails as a tool does: with a result that says so.
#[task_tool(mode = "required")]
async fn failing_job(task: TaskContext) -> Result<String, ToolError> {
    task.sleep(Duration::from_secs(1)).await;
    Err(ToolError::new("the job came to nothing"))
}

/// Fails as a request does: with an error of the protocol.
#[task_tool]
async fn protocol_error_job() -> Result<String, ToolError> {
    Err(ToolError::protocol(-32_000, "the job could not be carried out", None))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Confirmation {
    /// Go ahead?
    confirm: bool,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    /// What is your name?
    name: String,
}

/// Deletes a file, or pretends to, if the client agrees.
#[task_tool]
async fn confirm_delete(filename: String, task: TaskContext) -> Result<String, ToolError> {
    let answer = task.elicit::<Confirmation>("confirm", format!("Delete {filename}?")).await?;
    let agreed = matches!(answer, Elicited::Accepted(Confirmation { confirm: true }));
    Ok(if agreed { format!("{filename} is deleted") } else { format!("{filename} stays") })
}

/// Asks two things at the same time.
#[task_tool]
async fn multi_input(task: TaskContext) -> Result<String, ToolError> {
    let (name, confirmation) =
        tokio::join!(task.elicit::<Name>("name", "Who are you?"), task.elicit::<Confirmation>("confirm", "Go ahead?"),);
    let name = name?.accepted().map_or_else(|| "nobody".to_owned(), |name| name.name);
    let agreed = confirmation?.accepted().is_some_and(|answer| answer.confirm);
    Ok(format!("{name} {}", if agreed { "agrees" } else { "does not agree" }))
}

/// Asks before there is a task, and works as one once it has the answer.
#[task_tool(when = has_answers)]
async fn test_tool_with_task(task: TaskContext) -> Result<String, ToolError> {
    let Elicited::Accepted(Name { name }) = task.elicit::<Name>("user_name", "Who are you?").await? else {
        return Ok("nobody said hello".to_owned());
    };
    task.sleep(Duration::from_millis(500)).await;
    Ok(format!("Hello, {name}!"))
}

fn has_answers(call: &CallInfo<'_>) -> bool {
    call.has_answers()
}
