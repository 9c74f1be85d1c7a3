//! A server on a port of its own, with tools that do what a test needs.

use std::{sync::Arc, time::Duration};

use axum::{Router, http::request::Parts, serve::ListenerExt};
use mcp_tasks::{
    TaskContext, TaskServer, ToolError, engine::Engine, http::TasksLayer, principal::Principal, task_tool,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::client::{Client, Post, Reply};

/// Says it back.
#[task_tool]
async fn echo(text: String) -> String {
    text
}

/// Works until it is cancelled.
#[task_tool]
async fn wait(task: TaskContext) -> Result<String, ToolError> {
    task.status("waiting").await?;
    task.cancelled().await;
    Ok("never".to_owned())
}

/// Changes its status message many times.
#[task_tool]
async fn count(to: u32, task: TaskContext) -> Result<u32, ToolError> {
    for n in 0..to {
        task.status(format!("{n}")).await?;
    }
    Ok(to)
}

/// Works for a moment.
#[task_tool(mode = "required")]
async fn moment(milliseconds: u64) -> String {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    "over".to_owned()
}

pub struct Server {
    pub client: Client,
    pub config: StreamableHttpServerConfig,
    #[expect(dead_code, reason = "keeps the leases of its tasks")]
    engine: Engine,
}

impl Server {
    pub async fn start() -> Self {
        Self::configured(StreamableHttpServerConfig::default()).await
    }

    pub async fn configured(config: StreamableHttpServerConfig) -> Self {
        let server =
            TaskServer::new("test", "1").in_memory().tool::<echo>().tool::<wait>().tool::<count>().tool::<moment>();
        let server = server.build().expect("the tools are all right");
        let engine = server.engine().clone();
        // What the handler is told of principals does not count behind the layer.
        let tasks = server.handler().principal(|_| Principal::new("somebody else"));
        let handler = move || Ok(tasks.clone());
        let service = StreamableHttpService::new(handler, Arc::new(LocalSessionManager::default()), config.clone());
        let service = TasksLayer::new(&engine).principal(principal).around(service);
        let client = serve(Router::new().route_service("/mcp", service)).await;
        Self { client, config, engine }
    }

    pub async fn send(&self, post: &Post) -> Reply {
        self.client.send(post).await
    }

    /// Calls a tool as `who`, and gives the id of the task that it became.
    pub async fn task(&self, who: &str, tool: &str, arguments: Value) -> String {
        let call = Post::new(1, "tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = self.send(&call.bearer(who)).await.result();
        assert_eq!(result["resultType"], "task", "{result}");
        result["taskId"].as_str().expect("an id").to_owned()
    }

    pub async fn get(&self, who: &str, id: &str) -> Reply {
        self.send(&about(id, "tasks/get").bearer(who)).await
    }

    /// The task once it has this status.
    pub async fn reach(&self, who: &str, id: &str, status: &str) -> Value {
        for _ in 0..1_000 {
            let task = self.get(who, id).await.result();
            if task["status"] == status {
                return task;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the task never was {status}");
    }
}

/// A request about a task.
pub fn about(id: &str, method: &str) -> Post {
    let mut params = json!({ "taskId": id });
    if method == "tasks/update" {
        params["inputResponses"] = json!({});
    }
    Post::new(2, method, params)
}

pub async fn serve(app: Router) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let listener = listener.tap_io(|socket| socket.set_nodelay(true).expect("an option of TCP"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    Client(address)
}

fn principal(request: &Parts) -> Option<Principal> {
    let token = request.headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")?;
    (!token.is_empty() && token != "nobody").then(|| Principal::new(token))
}
