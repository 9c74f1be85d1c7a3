//! The server that the official conformance suite is run against: `cargo run --example conformance -- --port N` serves
//! `http://127.0.0.1:N/mcp`. Each tool does what one of the suite's scenarios asks of it, and nothing more.
//!
//! `tests/conformance` runs the suite.

mod rounds;
mod tasks;

use std::{error::Error, future::IntoFuture, sync::Arc};

use axum::{Router, serve::ListenerExt};
use mcp_tasks::{TaskServer, http::TasksLayer};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Options { port, store } = options()?;
    let server = on(&store, TaskServer::new("conformance", env!("CARGO_PKG_VERSION"))).await?;
    let server = rounds::add(tasks::add(server)).build()?;
    let layer = TasksLayer::new(server.engine());
    // JSON where there is one message to answer with: an event stream costs more than it is worth then.
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(server.handler()), Arc::new(LocalSessionManager::default()), config);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|socket| {
        if let Err(error) = socket.set_nodelay(true) {
            eprintln!("TCP_NODELAY was not set: {error}");
        }
    });
    axum::serve(listener, Router::new().route_service("/mcp", layer.around(service))).into_future().await?;
    Ok(())
}

struct Options {
    /// 0 is any free one.
    port: u16,
    /// Where tasks are kept: `memory`, the URL of a PostgreSQL database, or a file.
    store: String,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options { port: 0, store: "memory".into() };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        match (&*name, arguments.next()) {
            ("--port", Some(port)) => options.port = port.parse()?,
            ("--store", Some(store)) => options.store = store,
            _ => return Err("usage: conformance [--port N] [--store memory|FILE|URL]".into()),
        }
    }
    Ok(options)
}

/// The server, with its tasks in this store.
async fn on(store: &str, server: TaskServer) -> Result<TaskServer, Box<dyn Error>> {
    match store {
        "memory" => Ok(server.in_memory()),
        #[cfg(feature = "postgres")]
        url if url.starts_with("postgres") => {
            use mcp_tasks::store::postgres::{PostgresConfig, PostgresStore};
            Ok(server.store(Arc::new(PostgresStore::connect(PostgresConfig::from_url(url)?).await?)))
        }
        file => Ok(server.database(file)),
    }
}
