//! Servers of four makes, each on a port of its own, with tasks that run and never end.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use axum::serve::ListenerExt;
use bytes::Bytes;
use mcp_tasks::clock::SystemClock;
use mcp_tasks::engine::{Call, Engine, TaskEngine, Work};
use mcp_tasks::http::TasksLayer;
use mcp_tasks::limits::{Limits, Quota};
use mcp_tasks::principal::Principal;
use mcp_tasks::store::memory::MemoryStore;
use mcp_tasks::task::{NewTask, Settlement, Target};
use rmcp::model::{GetTaskParams, GetTaskResult, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskManager, TaskOptions};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;
use tower_mcp::async_task::{MemoryTaskStore, TaskRetentionLimits, TaskStore};
use tower_mcp::extract::RawArgs;
use tower_mcp::{CallToolResult, HttpTransport, McpRouter, ToolBuilder};

const HOUR_MS: u64 = 3_600_000;

/// Where a server listens, and the ids of its tasks.
pub struct Server {
    pub address: SocketAddr,
    pub ids: Vec<String>,
}

async fn serve(app: Router, ids: Vec<String>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let listener = listener.tap_io(|socket| socket.set_nodelay(true).expect("an option of TCP"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    Server { address, ids }
}

/// No protocol at all: reads a request, and sends this text.
pub async fn bare(text: Vec<u8>, ids: Vec<String>) -> Server {
    let text = Bytes::from(text);
    let handler = move |_request: Bytes| async move { ([(CONTENT_TYPE, "application/json")], text) };
    serve(Router::new().route("/", post(handler)), ids).await
}

/// Our layer in front of rmcp's service.
pub async fn ours(live: usize) -> Server {
    let clock = Arc::new(SystemClock);
    let mut limits = Limits::default();
    (limits.quota, limits.running) = (Quota::UNLIMITED, usize::MAX);
    let builder = Engine::builder(Arc::new(MemoryStore::new(clock.clone())), clock).limits(limits);
    let engine = builder.start().expect("an engine");
    let target = Arc::new(Target::new("tools/call", "report", "1"));
    let mut ids = Vec::with_capacity(live);
    for _ in 0..live {
        let task = NewTask::new(Principal::new("alice"), Arc::clone(&target), Bytes::new());
        let work = Work::new(|task| async move {
            let _task = task;
            pending::<Settlement>().await
        });
        ids.push(engine.create(Call::new(task, work)).await.expect("it is created").id.to_string());
    }
    let layer = TasksLayer::new(&engine).principal(|_| Some(Principal::new("alice")));
    let service = layer.around(streamable(|| Ok(Handler::default())));
    serve(Router::new().route_service("/", service), ids).await
}

/// rmcp's own server, on its own `TaskManager`.
pub async fn rmcp(live: usize) -> Server {
    let handler = Handler::default();
    let mut ids = Vec::with_capacity(live);
    for _ in 0..live {
        let options = TaskOptions::new().with_ttl_ms(HOUR_MS);
        let task = handler.tasks.spawn(options, |task| {
            Box::pin(async move {
                let _task = task;
                pending().await
            })
        });
        ids.push(task.task_id);
    }
    serve(Router::new().route_service("/", streamable(move || Ok(handler.clone()))), ids).await
}

/// tower-mcp's own server, on its own store.
pub async fn tower(live: usize) -> Server {
    let store = Arc::new(MemoryTaskStore::with_retention_limits(TaskRetentionLimits::unbounded()));
    let mut ids = Vec::with_capacity(live);
    for _ in 0..live {
        let created = store.create_task("report", serde_json::json!({}), Some(HOUR_MS), None).await;
        ids.push(created.expect("it is created").0);
    }
    let tool = ToolBuilder::new("report")
        .description("Reports")
        .extractor_handler((), |_: RawArgs| async { Ok(CallToolResult::text("done")) });
    let router = McpRouter::new().server_info("bench", "1.0.0").task_store(store).tool(tool.build()).with_tasks();
    serve(HttpTransport::new(router).into_router(), ids).await
}

fn streamable(
    handler: impl Fn() -> std::io::Result<Handler> + Send + Sync + 'static,
) -> StreamableHttpService<Handler, LocalSessionManager> {
    // One message is answered with JSON and not with a stream, which costs more.
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    StreamableHttpService::new(handler, Arc::new(LocalSessionManager::default()), config)
}

#[derive(Clone, Default)]
struct Handler {
    tasks: TaskManager,
}

impl ServerHandler for Handler {
    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
    }
}
