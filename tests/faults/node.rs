//! A server for `tests/faults/run.py` to kill: `faults_node STORE LOG [NAME]` serves over HTTP on a free port of loopback, prints its
//! URL, and writes a line to LOG whenever a tool starts: task, tool, attempt, word.
//!
//! STORE is `sqlite:PATH`, `memory:` or, with the feature `postgres`, a URL of PostgreSQL. Leases are short, so that a lost node is
//! soon noticed.

use std::{error::Error, fs::OpenOptions, io::Write, path::PathBuf, sync::Arc, time::Duration};

use axum::{Router, serve::ListenerExt};
use mcp_tasks::{
    Elicited, State, TaskContext, TaskServer, ToolError,
    clock::SystemClock,
    elicit::validate_response,
    engine::Engine,
    http::TasksLayer,
    store::{TaskStore, memory::MemoryStore, sqlite::SqliteStore},
    task_tool,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

const LEASE: Duration = Duration::from_secs(2);
const SWEEP: Duration = Duration::from_millis(250);

/// Where each start of a tool is written down. One `write` of an appended line is whole, whatever happens to the process.
struct Starts(PathBuf);

impl Starts {
    fn add(&self, tool: &str, task: &TaskContext, word: &str) -> Result<(), ToolError> {
        let id = task.task_id().ok_or(ToolError::new("the call is no task"))?;
        let line = format!("{id} {tool} {} {word}\n", task.attempt());
        let log = OpenOptions::new().append(true).create(true).open(&self.0);
        let written = log.and_then(|mut log| log.write_all(line.as_bytes()));
        written.map_err(|error| ToolError::new(format!("the log is not written: {error}")))
    }
}

/// Works for a while, and must not be started twice.
#[task_tool(ttl = "10m", poll_interval = "100ms")]
async fn once(millis: u64, word: String, starts: State<Starts>, task: TaskContext) -> Result<String, ToolError> {
    starts.add("once", &task, &word)?;
    task.sleep(Duration::from_millis(millis)).await;
    Ok(word)
}

/// Works for a while, and may be started again.
#[task_tool(ttl = "10m", poll_interval = "100ms", on_restart = "rerun", max_attempts = 1_000)]
async fn again(millis: u64, word: String, starts: State<Starts>, task: TaskContext) -> Result<String, ToolError> {
    starts.add("again", &task, &word)?;
    let kept: String = task.step("word", async { word.clone() }).await?;
    task.sleep(Duration::from_millis(millis)).await;
    Ok(kept)
}

#[derive(Deserialize, JsonSchema)]
struct Said {
    word: String,
}

/// Says what it is told.
#[task_tool(ttl = "10m", poll_interval = "100ms", on_restart = "rerun", max_attempts = 1_000)]
async fn ask(starts: State<Starts>, task: TaskContext) -> Result<String, ToolError> {
    starts.add("ask", &task, "")?;
    match task.elicit::<Said>("word", "Which word?").await? {
        Elicited::Accepted(said) => Ok(said.word),
        _ => Err(ToolError::new("no word")),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(store), Some(log)) = (arguments.next(), arguments.next()) else {
        return Err("faults_node STORE LOG".into());
    };
    let engine = Engine::builder(open(&store).await?, Arc::new(SystemClock))
        .lease(LEASE)
        .sweep_every(SWEEP)
        .validate_input(Arc::new(validate_response))
        .start()?;
    let server = TaskServer::new("faults", "1.0")
        .tool::<once>()
        .tool::<again>()
        .tool::<ask>()
        .state(Starts(log.into()))
        .engine(&engine)
        .build()?;
    let layer = TasksLayer::new(&engine);
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(server.handler()), Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    Ok(axum::serve(listener, Router::new().route_service("/mcp", layer.around(service))).await?)
}

async fn open(store: &str) -> Result<Arc<dyn TaskStore>, Box<dyn Error>> {
    match store.split_once(':') {
        // Loses everything when it is killed: the test has to notice that.
        Some(("memory", _)) => Ok(Arc::new(MemoryStore::new(Arc::new(SystemClock)))),
        Some(("sqlite", path)) => Ok(Arc::new(SqliteStore::open(path)?)),
        #[cfg(feature = "postgres")]
        Some(("postgres" | "postgresql", _)) => {
            use mcp_tasks::store::postgres::{PostgresConfig, PostgresStore};
            Ok(Arc::new(PostgresStore::connect(PostgresConfig::from_url(store)?).await?))
        }
        _ => Err(format!("`{store}` is no store").into()),
    }
}
