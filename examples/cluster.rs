//! Two nodes on one PostgreSQL, behind a proxy that knows nothing of tasks and sends each connection to the next node:
//!
//! ```text
//! DATABASE_URL=postgres://me:secret@localhost/db cargo run --example cluster --features postgres,http
//! ```
//!
//! The task is created on one node, seen on the other, answered there, and reaches its end where it runs: any node serves
//! any task. In earnest the nodes are processes on machines of their own; here they share one, and nothing else.

use std::{
    error::Error,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    http::{header, request::Parts},
};
use mcp_tasks::{
    Elicited, State, TaskContext, TaskServer, ToolError,
    clock::SystemClock,
    elicit::validate_response,
    engine::Engine,
    http::TasksLayer,
    principal::Principal,
    store::postgres::{PostgresConfig, PostgresStore},
    task_tool,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};

type Any<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Which node it is that runs a tool.
struct Node(usize);

/// Where to.
#[derive(Deserialize, JsonSchema)]
struct Trip {
    town: String,
}

/// Books a trip.
#[task_tool(ttl = "10m", poll_interval = "100ms", on_restart = "rerun")]
async fn book(node: State<Node>, task: TaskContext) -> Result<String, ToolError> {
    task.status("looking at the map").await?;
    match task.elicit::<Trip>("trip", "Where to?").await? {
        Elicited::Accepted(trip) => Ok(format!("node {} has booked a trip to {}", node.0, trip.town)),
        _ => Err(ToolError::new("nobody wants to go anywhere")),
    }
}

/// Stands for a real check of real tokens.
fn principal(request: &Parts) -> Option<Principal> {
    let token = request.headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    (token == "Bearer s3cret-of-alice").then(|| Principal::new("alice"))
}

/// Starts a node on a port of its own.
async fn node(number: usize, url: &str, schema: &str) -> Any<SocketAddr> {
    let store = PostgresStore::connect(PostgresConfig::from_url(url)?.schema(schema)).await?;
    let engine =
        Engine::builder(Arc::new(store), Arc::new(SystemClock)).validate_input(Arc::new(validate_response)).start()?;
    let server =
        TaskServer::new("travel", "1.0").tool::<book>().form::<Trip>().state(Node(number)).engine(&engine).build()?;
    let layer = TasksLayer::new(&engine).principal(principal);
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(server.handler()), Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let app = Router::new().route_service("/mcp", layer.around(service));
    tokio::spawn(axum::serve(listener, app).into_future());
    Ok(address)
}

/// A proxy that takes turns, and says whose it was.
struct Proxy {
    address: SocketAddr,
    last: Arc<AtomicUsize>,
}

impl Proxy {
    async fn before(nodes: Vec<SocketAddr>) -> Any<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (address, last) = (listener.local_addr()?, Arc::new(AtomicUsize::new(0)));
        let turn = Arc::clone(&last);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let node = turn.fetch_add(1, Ordering::SeqCst) % nodes.len();
                if let Ok(mut server) = TcpStream::connect(nodes[node]).await {
                    tokio::spawn(async move { copy_bidirectional(&mut client, &mut server).await });
                }
            }
        });
        Ok(Self { address, last })
    }

    /// Sends a request, each on a connection of its own. Gives the result, and the number of the node that it came from.
    async fn ask(&self, method: &str, name: &str, mut params: Value) -> Any<(Value, usize)> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "traveller", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities":
                { "extensions": { "io.modelcontextprotocol/tasks": {} }, "elicitation": {} },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer s3cret-of-alice\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\nmcp-name: {name}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut connection = TcpStream::connect(self.address).await?;
        connection.write_all(format!("{head}{body}").as_bytes()).await?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await?;
        let json = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let mut message: Value = serde_json::from_str(json).map_err(|_| format!("no JSON in {answer:?}"))?;
        let node = (self.last.load(Ordering::SeqCst) + 1) % 2 + 1;
        match message.get("error") {
            Some(error) => Err(error.to_string().into()),
            None => Ok((message["result"].take(), node)),
        }
    }
}

/// A conversation with both nodes; says line by line what is asked and who answers.
pub async fn converse(url: &str, schema: &str, mut say: impl FnMut(String)) -> Any<()> {
    let proxy = Proxy::before(vec![node(1, url, schema).await?, node(2, url, schema).await?]).await?;
    let (task, by) = proxy.ask("tools/call", "book", json!({ "name": "book", "arguments": {} })).await?;
    let id = task["taskId"].as_str().ok_or("no task")?.to_owned();
    say(format!("tools/call    node {by}: a task, {}", task["status"]));
    let mut answered = false;
    loop {
        let (task, by) = proxy.ask("tasks/get", &id, json!({ "taskId": id })).await?;
        say(format!("tasks/get     node {by}: {}", task["status"]));
        match task["status"].as_str() {
            Some("input_required") if !answered => {
                let response = json!({ "action": "accept", "content": { "town": "Trieste" } });
                let params = json!({ "taskId": id, "inputResponses": { "trip": response } });
                let (_, by) = proxy.ask("tasks/update", &id, params).await?;
                say(format!("tasks/update  node {by}: thank you"));
                answered = true;
            }
            Some("completed") => {
                say(format!("{}", task["result"]["content"][0]["text"]));
                return Ok(());
            }
            Some("failed" | "cancelled") => return Err(task.to_string().into()),
            _ => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

#[tokio::main]
async fn main() -> Any<()> {
    let url = std::env::var("DATABASE_URL").map_err(|_| "DATABASE_URL is not set")?;
    converse(&url, "mcp_tasks_example", |line| println!("{line}")).await
}
