//! A task that outlives its server: `cargo run --example restart`.
//!
//! The program starts itself as a server, calls a tool there, kills the server with a signal that no process can catch, and
//! starts it again. The client notices nothing but a pause: the task goes on from its last recorded step, and ends.

use std::{
    error::Error,
    path::Path,
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Router, serve::ListenerExt};
use mcp_tasks::{
    TaskContext, TaskServer, ToolError,
    client::{self, Called, TaskClient},
    clock::SystemClock,
    elicit::validate_response,
    engine::Engine,
    http::TasksLayer,
    store::sqlite::SqliteStore,
    task_tool,
};
use rmcp::{
    model::CallToolRequestParams,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::{Child, Command},
};

// ---- The server ----

/// Counts to a number, one every so often, and remembers how far it has come.
#[task_tool(ttl = "10m", poll_interval = "100ms", on_restart = "rerun", max_attempts = 3)]
async fn count(
    /// How far to count.
    to: u64,
    task: TaskContext,
) -> Result<String, ToolError> {
    for number in 1..=to {
        // What is recorded is not done again: a new run comes this far at once.
        task.step(&format!("number {number}"), tokio::time::sleep(Duration::from_millis(300))).await?;
        task.status(format!("{number}, in run {}", task.attempt())).await?;
    }
    Ok(format!("counted to {to} in {} runs", task.attempt()))
}

async fn serve(database: &str, port: u16) -> Result<(), Box<dyn Error>> {
    // A short lease, so that a dead server's tasks are soon taken up. The default is half a minute.
    let engine = Engine::builder(Arc::new(SqliteStore::open(database)?), Arc::new(SystemClock))
        .lease(Duration::from_secs(1))
        .sweep_every(Duration::from_millis(200))
        .validate_input(Arc::new(validate_response))
        .start()?;
    let server = TaskServer::new("counter", "1.0").tool::<count>().engine(&engine).build()?;
    let layer = TasksLayer::new(&engine);
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(server.handler()), Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("{}", listener.local_addr()?.port());
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    Ok(axum::serve(listener, Router::new().route_service("/mcp", layer.around(service))).await?)
}

// ---- The client, and whoever kills the server ----

/// Starts this program as a server, and gives its port.
async fn start(database: &Path, port: u16) -> Result<(Child, u16), Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("serve").arg(database).arg(port.to_string()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut server = command.spawn()?;
    let stdout = server.stdout.take().ok_or("the server has an output")?;
    let line = BufReader::new(stdout).lines().next_line().await?.ok_or("the server says where it is")?;
    Ok((server, line.parse()?))
}

async fn run(database: &Path) -> Result<(), Box<dyn Error>> {
    let (mut server, port) = start(database, 0).await?;
    let client = TaskClient::connect((), client::http(format!("http://127.0.0.1:{port}/mcp"))).await?;
    let arguments = json!({ "to": 8 }).as_object().cloned().unwrap_or_default();
    let called = client.call_tool_task(CallToolRequestParams::new("count").with_arguments(arguments)).await?;
    let Called::Task(mut task) = called else { return Err("the call became no task".into()) };
    let begun = Instant::now();
    let mut killed = false;
    while let Some(state) = task.next_state().await {
        println!("{:>4.1} s  {}", begun.elapsed().as_secs_f64(), state.status_message.unwrap_or_default());
        if !killed && begun.elapsed() >= Duration::from_secs(1) {
            killed = true;
            // SIGKILL on Unix: no goodbye, no last write.
            server.kill().await?;
            println!("       the server is killed, and started again");
            server = start(database, port).await?.0;
        }
    }
    let result = task.result().await?;
    println!("{}", result.content[0].as_text().map_or("", |text| &text.text));
    Ok(server.kill().await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [_, database, port] = &*arguments {
        return serve(database, port.parse()?).await;
    }
    let folder = std::env::temp_dir().join(format!("mcp-tasks-restart-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let told = run(&folder.join("tasks.db")).await;
    std::fs::remove_dir_all(&folder)?;
    told
}
