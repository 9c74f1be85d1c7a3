//! A tool that needs a person's consent: it asks in the middle of its task, and waits for as long as the task lives.
//!
//! The answer is one of three, and they are told apart: the form was filled in (`accept`), which may still be a no; the
//! user would not decide (`decline`); the form was closed (`cancel`). The task may also be cancelled while it waits: then the
//! tool is dropped, and what it had set up goes with it.
//!
//! `cargo run --quiet --example approval` reads a message a line. Paste this, and copy the `taskId` of the answer:
//!
//! ```text
//! {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "release", "arguments": {"version": "1.4.0"}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}}}}
//! ```
//!
//! With that id and the same `_meta`, `tasks/get` shows the question under the key `approval`, and any of these answers it:
//!
//! ```text
//! tasks/update  {"taskId": "...", "inputResponses": {"approval": {"action": "accept", "content": {"approve": true}}}}
//! tasks/update  {"taskId": "...", "inputResponses": {"approval": {"action": "decline"}}}
//! tasks/update  {"taskId": "...", "inputResponses": {"approval": {"action": "cancel"}}}
//! tasks/cancel  {"taskId": "..."}
//! ```

use std::{
    collections::BTreeSet,
    error::Error,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_tasks::{Elicited, State, TaskContext, TaskServer, ToolError, task_tool};

/// The form.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Approval {
    /// May it go out?
    approve: bool,
    /// Why, or why not?
    #[schemars(length(max = 200))]
    reason: Option<String>,
}

/// Releases that wait for approval.
#[derive(Debug, Default)]
struct Waiting(Mutex<BTreeSet<String>>);

impl Waiting {
    fn versions(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A release in [`Waiting`]. It leaves when this is dropped, whether the tool returns, fails or is cancelled.
struct Place {
    waiting: State<Waiting>,
    version: String,
}

impl Place {
    fn take(waiting: State<Waiting>, version: &str) -> Result<Self, ToolError> {
        if !waiting.versions().insert(version.to_owned()) {
            return Err(ToolError::new(format!("{version} already waits for approval")));
        }
        Ok(Self { waiting, version: version.to_owned() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.waiting.versions().remove(&self.version);
    }
}

/// Releases a version, if somebody approves.
#[task_tool(ttl = "1d", poll_interval = "1s")]
async fn release(
    /// Which version.
    version: String,
    task: TaskContext,
    waiting: State<Waiting>,
) -> Result<String, ToolError> {
    let _place = Place::take(waiting, &version)?;
    // Cancelling the task drops this future here, and with it the place.
    let answer = task.elicit::<Approval>("approval", format!("Release {version} to everybody?")).await?;
    Ok(match answer {
        Elicited::Accepted(Approval { approve: true, reason }) => format!("{version} is out{}", because(reason)),
        Elicited::Accepted(Approval { approve: false, reason }) => format!("{version} was refused{}", because(reason)),
        Elicited::Declined => format!("{version} is not out: the user would not decide"),
        Elicited::Dismissed => format!("{version} is not out: the form was closed; ask again later"),
    })
}

fn because(reason: Option<String>) -> String {
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}

/// Says what waits for approval: at once, so that no client gets a task for it.
#[task_tool(promote_after = "1s", read_only)]
async fn waiting(waiting: State<Waiting>) -> String {
    let versions = waiting.versions();
    versions.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = TaskServer::new("releases", "1.0").tool::<release>().tool::<waiting>().in_memory();
    server.state(Waiting::default()).form::<Approval>().serve_stdio().await?;
    Ok(())
}
