//! A server with a tool for each thing that a task can do, to try a client on, such as the command line of this crate:
//!
//! ```text
//! cargo build --features cli --bin mcp-tasks --example workshop
//! target/debug/mcp-tasks tools --stdio target/debug/examples/workshop
//! target/debug/mcp-tasks call count to=5 --stdio target/debug/examples/workshop
//! ```
//!
//! `workshop --port N` serves `http://127.0.0.1:N/mcp` instead, so that one task can be followed by several clients.
//! Tasks are kept in memory.

use std::{error::Error, future::IntoFuture, sync::Arc, time::Duration};

use axum::{Router, serve::ListenerExt};
use mcp_tasks::{CallInfo, Elicited, TaskContext, TaskServer, ToolError, http::TasksLayer, task_tool};
use rmcp::{
    model::ContentBlock,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio::net::TcpListener;

/// Counts, slowly.
#[task_tool(ttl = "10m", poll_interval = "100ms")]
async fn count(
    /// How far.
    to: u32,
    /// Milliseconds from one number to the next.
    pause: Option<u64>,
    task: TaskContext,
) -> Result<Vec<Number>, ToolError> {
    let mut numbers = Vec::new();
    for number in 1..=to {
        task.status(format!("at {number}")).await?;
        task.progress(number.into(), to.into()).await?;
        task.sleep(Duration::from_millis(pause.unwrap_or(200))).await;
        numbers.push(Number { number, square: u64::from(number) * u64::from(number) });
    }
    Ok(numbers)
}

/// A row of the table that `count` gives.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
struct Number {
    number: u32,
    square: u64,
}

/// Languages that `greet` knows.
#[derive(Debug, Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Language {
    English,
    German,
}

/// Whom to greet, and how.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Guest {
    /// Who is it?
    #[schemars(length(min = 2, max = 20))]
    name: String,
    /// How often?
    #[schemars(range(min = 1, max = 3))]
    times: Option<u8>,
    /// In which language?
    language: Language,
    /// Shall it be loud?
    loud: bool,
}

/// Greets whoever the client says.
#[task_tool(ttl = "10m", poll_interval = "100ms")]
async fn greet(task: TaskContext) -> Result<String, ToolError> {
    let guest = match task.elicit::<Guest>("guest", "Whom shall I greet?").await? {
        Elicited::Accepted(guest) => guest,
        Elicited::Declined => return Ok("you would not say".to_owned()),
        Elicited::Dismissed => return Ok("you closed the form".to_owned()),
    };
    let word = match guest.language {
        Language::English => "hello",
        Language::German => "hallo",
    };
    let greeting = vec![format!("{word} {}", guest.name); guest.times.unwrap_or(1).into()].join(", ");
    Ok(if guest.loud { greeting.to_uppercase() } else { greeting })
}

/// Whether somebody agrees.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Agreement {
    /// Shall it be paid?
    pay: bool,
}

/// Buys nails, which many of take a task; it asks first in either case.
#[task_tool(ttl = "10m", poll_interval = "100ms", when = many)]
async fn buy(nails: u64, task: TaskContext) -> Result<String, ToolError> {
    Ok(match task.elicit::<Agreement>("agreement", format!("Pay for {nails} nails?")).await? {
        Elicited::Accepted(Agreement { pay: true }) => format!("{nails} nails"),
        _ => "nothing".to_owned(),
    })
}

fn many(call: &CallInfo) -> bool {
    call.argument::<u64>("nails").is_some_and(|nails| nails > 100)
}

/// What `fail` ends with.
#[derive(Debug, Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Fault {
    /// An error of the tool's own.
    Tool,
    /// A protocol error.
    Protocol,
}

/// Does not succeed.
#[task_tool(ttl = "10m", poll_interval = "100ms")]
async fn fail(how: Fault) -> Result<(), ToolError> {
    match how {
        Fault::Tool => Err(ToolError::new("the saw is blunt")),
        Fault::Protocol => Err(ToolError::protocol(-32001, "there is no wood", Some(serde_json::json!({"wood": 0})))),
    }
}

/// Goes on until it is cancelled, or its minute is over.
#[task_tool(ttl = "1m", poll_interval = "100ms")]
async fn sand(task: TaskContext) -> Result<(), ToolError> {
    task.status("sanding").await?;
    task.cancelled().await;
    Ok(())
}

/// Draws a dot.
#[task_tool(ttl = "10m", poll_interval = "100ms")]
async fn draw() -> Vec<ContentBlock> {
    const DOT: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    vec![ContentBlock::text("a dot"), ContentBlock::image(DOT, "image/png")]
}

fn server() -> TaskServer {
    TaskServer::new("workshop", "1.0")
        .tool::<count>()
        .tool::<greet>()
        .tool::<buy>()
        .tool::<fail>()
        .tool::<sand>()
        .tool::<draw>()
        .form::<Guest>()
        .form::<Agreement>()
        .in_memory()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    match port()? {
        Some(port) => serve_http(port).await,
        None => Ok(server().serve_stdio().await?),
    }
}

async fn serve_http(port: u16) -> Result<(), Box<dyn Error>> {
    let server = server().build()?;
    let layer = TasksLayer::new(server.engine());
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(server.handler()), Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    // Without it an event can wait 40 ms for the one before it to be acknowledged.
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    axum::serve(listener, Router::new().route_service("/mcp", layer.around(service))).into_future().await?;
    Ok(())
}

/// What follows `--port`, if anything; 0 is any free one.
fn port() -> Result<Option<u16>, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, None) => Ok(None),
        (Some("--port"), Some(port)) => Ok(Some(port.parse()?)),
        _ => Err("usage: workshop [--port N]".into()),
    }
}
