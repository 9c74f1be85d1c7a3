//! What an engine measures, as Prometheus text beside `/mcp`: `cargo run --example metrics`, call a tool or two, then
//!
//! ```text
//! curl -s http://127.0.0.1:8000/metrics
//! ```
//!
//! The names are in `mcp_tasks::engine::metrics`. Any recorder of the crate `metrics` will do; it is installed first.

use std::{error::Error, future::IntoFuture, sync::Arc, time::Duration};

use axum::{Router, routing::get};
use mcp_tasks::{TaskContext, TaskServer, http::TasksLayer, task_tool};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::TcpListener;

/// Does nothing for a while; one at a time.
#[task_tool(max_running = 1)]
async fn nap(
    /// How long.
    milliseconds: u64,
    task: TaskContext,
) -> String {
    task.sleep(Duration::from_millis(milliseconds)).await;
    "rested".into()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &[0.001, 0.01, 0.1, 1.0, 10.0, 100.0])?
        .build_recorder();
    let rendered = recorder.handle();
    metrics::set_global_recorder(recorder)?;

    let server = TaskServer::new("nap", "1.0").tool::<nap>().in_memory().build()?;
    let layer = TasksLayer::new(server.engine());
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(server.handler()), Arc::new(LocalSessionManager::default()), config);
    let app = Router::new()
        .route_service("/mcp", layer.around(service))
        .route("/metrics", get(move || async move { rendered.render() }));

    let port = std::env::args().nth(1).map_or(Ok(8000), |port| port.parse())?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, app).into_future().await?;
    Ok(())
}
