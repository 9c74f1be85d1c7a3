//! Against this project's own server, in process.

use std::{sync::atomic::Ordering, time::Duration};

use mcp_tasks::{
    Elicited, TaskContext, TaskServer, ToolError,
    client::{Called, ClientError, FollowOptions, TaskClient},
    task_tool,
};
use rmcp::model::CallToolRequestParams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::handler::User;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Who {
    name: String,
}

/// Greets whoever answers.
#[task_tool(ttl = "10m", poll_interval = "50ms")]
async fn greet(task: TaskContext) -> Result<String, ToolError> {
    task.status("waiting for a name").await?;
    match task.elicit::<Who>("who", "What is your name?").await? {
        Elicited::Accepted(who) => Ok(format!("hello {}", who.name)),
        _ => Ok("hello nobody".to_owned()),
    }
}

/// Never ends by itself.
#[task_tool(ttl = "10m", poll_interval = "50ms")]
async fn forever(task: TaskContext) -> Result<String, ToolError> {
    task.sleep(Duration::from_secs(86_400)).await;
    Ok("late".to_owned())
}

pub fn server() -> TaskServer {
    TaskServer::new("ours", "1").tool::<greet>().tool::<forever>().form::<Who>().in_memory()
}

pub fn params(tool: &'static str) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(json!({}).as_object().cloned().expect("an object"))
}

async fn connect(user: User) -> TaskClient {
    let (near, far) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(far);
    tokio::spawn(server().serve_on(read, write));
    TaskClient::connect(user, near).await.expect("a session")
}

/// A result, a question and a cancellation, followed as the options say.
pub async fn result_question_and_cancel(client: &TaskClient, user: &User, options: &FollowOptions) {
    let called = client.call_tool_task_with(params("greet"), options.clone()).await;
    let Ok(Called::Task(handle)) = called else { panic!("no task: {called:?}") };
    let result = handle.result().await.expect("a result");
    let text = serde_json::to_value(&result.content).expect("JSON")[0]["text"].clone();
    assert_eq!((text, user.asked.load(Ordering::SeqCst)), (json!("hello Ada"), 1));

    let Ok(Called::Task(handle)) = client.call_tool_task_with(params("forever"), options.clone()).await else {
        panic!("no task")
    };
    handle.cancel().await.expect("the server heard");
    assert!(matches!(handle.result().await, Err(ClientError::Cancelled)));
}

/// CLI-05, CLI-06: over lines: a result, a question, a cancellation.
#[tokio::test]
async fn over_lines() {
    let user = User::default();
    result_question_and_cancel(&connect(user.clone()).await, &user, &FollowOptions::default()).await;
}
