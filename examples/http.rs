//! Streamable HTTP inside an axum app, with a principal for each bearer token: `cargo run --example http`, then e.g.
//!
//! ```text
//! curl -s http://127.0.0.1:8000/mcp -H 'authorization: Bearer s3cret-of-alice' -H 'content-type: application/json' \
//!   -H 'accept: application/json, text/event-stream' -H 'mcp-protocol-version: 2026-07-28' \
//!   -H 'mcp-method: tools/call' -H 'mcp-name: brew' -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
//!   {"name": "brew", "arguments": {"minutes": 3}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
//!   "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}}}'
//! ```
//!
//! Each party sees its own tasks, and those of others look like tasks that never were.

use std::{error::Error, future::IntoFuture, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    http::{StatusCode, header, request::Parts},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
    serve::ListenerExt,
};
use mcp_tasks::{TaskContext, TaskServer, ToolError, http::TasksLayer, principal::Principal, task_tool};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::TcpListener;

/// Brews tea.
#[task_tool(ttl = "1h", poll_interval = "1s")]
async fn brew(
    /// How long it draws.
    minutes: u64,
    task: TaskContext,
) -> Result<String, ToolError> {
    for minute in 0..minutes {
        task.progress(minute, minutes).await?;
        task.sleep(Duration::from_secs(60)).await;
    }
    Ok(format!("a pot of tea for {}", task.principal()))
}

/// Whom the authentication has made sure of. The token itself goes no further than this.
#[derive(Debug, Clone, Copy)]
struct Account(&'static str);

/// Stands for a real check of real tokens.
async fn authenticate(mut request: Request, next: Next) -> Response {
    let token = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let account = match token {
        Some("Bearer s3cret-of-alice") => Account("alice"),
        Some("Bearer s3cret-of-bob") => Account("bob"),
        _ => return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response(),
    };
    request.extensions_mut().insert(account);
    next.run(request).await
}

fn principal(request: &Parts) -> Option<Principal> {
    request.extensions.get::<Account>().map(|account| Principal::new(account.0))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = TaskServer::new("tea", "1.0").tool::<brew>().in_memory().build()?;
    let layer = TasksLayer::new(server.engine()).principal(principal);
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(server.handler()), Arc::new(LocalSessionManager::default()), config);
    let app = Router::new()
        .route_service("/mcp", layer.around(service))
        .layer(middleware::from_fn(authenticate))
        .route("/health", get(|| async { "well" }));

    let port = std::env::args().nth(1).map_or(Ok(8000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    // Without it an event can wait 40 ms for the one before it to be acknowledged.
    let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
    axum::serve(listener, app).into_future().await?;
    Ok(())
}
