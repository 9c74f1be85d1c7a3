//! A server in the form that its users have: a `TaskServer` behind the layer, inside axum.

use axum::Router;
use axum::serve::ListenerExt;
use mcp_tasks::http::TasksLayer;
use mcp_tasks::limits::{Limits, Quota};
use mcp_tasks::{TaskServer, task_tool};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::io::Write;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

/// Adds two numbers.
#[task_tool(ttl = "15s", poll_interval = "1s")]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Serves until the process is killed.
pub fn run(database: Option<&str>) {
    let runtime = Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (listener, app) = app(database).await;
        axum::serve(listener, app).await.expect("it serves");
    });
}

async fn app(database: Option<&str>) -> (impl axum::serve::Listener<Addr: std::fmt::Debug>, Router) {
    let mut limits = Limits::default();
    limits.quota = Quota::UNLIMITED;
    let server = TaskServer::new("end_to_end", "1.0").tool::<add>().limits(limits);
    let server = match database {
        Some(file) => server.database(file),
        None => server.in_memory(),
    };
    let server = server.build().expect("a server");
    let layer = TasksLayer::new(server.engine());
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(server.handler()), Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    println!("http://{}/mcp", listener.local_addr().expect("an address"));
    std::io::stdout().flush().expect("somebody reads");
    let listener = listener.tap_io(|socket| socket.set_nodelay(true).expect("an option of TCP"));
    (listener, Router::new().route_service("/mcp", layer.around(service)))
}
