//! A client that calls a tool, answers what it asks, and prints the result: `cargo run --example client`.
//!
//! The server is in the same process, at the other end of a pipe. To the client it could be anywhere: give `TaskClient` any
//! transport of rmcp's.

use std::error::Error;

use mcp_tasks::{
    Elicited, TaskContext, TaskServer, ToolError,
    client::{Called, TaskClient},
    task_tool,
};
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
        ElicitationCapability, ErrorData, Implementation,
    },
    service::RequestContext,
};
use serde_json::json;

/// Who is to be greeted.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Guest {
    name: String,
}

/// Greets whoever is there.
#[task_tool(ttl = "10m", poll_interval = "100ms")]
async fn greet(task: TaskContext) -> Result<String, ToolError> {
    task.status("looking who is there").await?;
    match task.elicit::<Guest>("guest", "Who is there?").await? {
        Elicited::Accepted(guest) => Ok(format!("Good evening, {}.", guest.name)),
        _ => Ok("Good evening, stranger.".to_owned()),
    }
}

/// Answers for the user. A real client shows the form, and says that it can by declaring `elicitation`.
struct User;

impl ClientHandler for User {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if let ElicitRequestParams::FormElicitationParams { message, .. } = request {
            println!("asked: {message}");
        }
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": "Ada" })))
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("example", "1.0"))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(far);
    tokio::spawn(TaskServer::new("door", "1.0").tool::<greet>().form::<Guest>().in_memory().serve_on(read, write));

    let client = TaskClient::connect(User, near).await?;
    let result = match client.call_tool_task(CallToolRequestParams::new("greet")).await? {
        Called::Result(result) => *result,
        Called::Task(mut task) => {
            while let Some(state) = task.next_state().await {
                println!("{}: {}", state.status, state.status_message.unwrap_or_default());
            }
            task.result().await?
        }
    };
    for content in result.content {
        println!("result: {}", content.as_text().map_or("", |text| &text.text));
    }
    Ok(())
}
