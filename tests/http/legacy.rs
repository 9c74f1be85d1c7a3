//! LEG: the lifecycle of 2025-11-25 beside the extension.

use std::sync::Arc;

use axum::Router;
use mcp_tasks::{engine::Engine, http::TasksLayer, task_handler, task_tool};
use rmcp::{
    ServerHandler, tool, tool_handler, tool_router,
    transport::streamable_http_server::{StreamableHttpService, session::local::LocalSessionManager},
};
use serde_json::{Value, json};

use crate::{
    client::{Client, EXTENSION, Post},
    server::{Server, serve},
};

struct Session {
    client: Client,
    id: String,
}

impl Session {
    /// `initialize` as a client does it that knows the experimental tasks, and declares the extension as well.
    async fn start(client: Client) -> (Self, Value) {
        Self::declaring(client, json!({ "extensions": { EXTENSION: {} }, "tasks": { "requests": {} } })).await
    }

    async fn declaring(client: Client, capabilities: Value) -> (Self, Value) {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "old", "version": "1" },
        });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let reply = client.send(&Post::raw(message.to_string())).await;
        let id = reply.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
        let session = Self { client, id: id.to_owned() };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.send(&session.post(initialized)).await.status, 202);
        (session, reply.result())
    }

    fn post(&self, message: Value) -> Post {
        Post::raw(message.to_string()).with("mcp-session-id", &self.id).with("mcp-protocol-version", "2025-11-25")
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.client.send(&self.post(message)).await.json()
    }
}

/// LEG-01, LEG-03, CAP-02, case 36: under 2025-11-25 the extension does not exist, whatever the client declares.
#[tokio::test]
async fn under_the_earlier_version_there_are_no_tasks() {
    let server = Server::start().await;
    let (session, initialized) = Session::start(server.client).await;
    assert_eq!(initialized["protocolVersion"], "2025-11-25");
    assert_eq!(initialized["capabilities"]["extensions"][EXTENSION], Value::Null);
    assert_eq!(initialized["capabilities"]["tasks"], Value::Null);
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "extensions": { EXTENSION: {} } } });
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments, "task": { "ttl": 1000 }, "_meta": meta });
    let plain = session.ask("tools/call", call("echo", json!({ "text": "a" }))).await;
    assert_eq!(plain["result"]["content"][0]["text"], "a", "{plain}");
    assert_eq!(plain["result"]["taskId"], Value::Null);
    let refused = session.ask("tools/call", call("moment", json!({ "milliseconds": 1 }))).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result"] {
        let params = json!({ "taskId": "0000000000000000000000000000000f", "inputResponses": {} });
        assert_eq!(session.ask(method, params).await["error"]["code"], -32601, "{method}");
    }
}

/// A server of rmcp's own style, under the attribute.
#[derive(Clone)]
struct Attributed;

#[tool_router]
impl Attributed {
    /// Answers.
    #[task_tool]
    #[tool]
    async fn answer(&self) -> String {
        "an answer".into()
    }
}

#[task_handler]
#[tool_handler]
impl ServerHandler for Attributed {}

/// LEG-01: under `#[task_handler]` as well `tasks/*` does not exist, whatever the client declares; and the session, whose
/// end a status 404 would mean, goes on.
#[tokio::test]
async fn under_the_attribute_there_are_no_task_requests_either() {
    let engine = Engine::in_memory().expect("random bytes");
    let service =
        StreamableHttpService::new(|| Ok(Attributed), Arc::new(LocalSessionManager::default()), Default::default());
    let client = serve(Router::new().route_service("/mcp", TasksLayer::new(&engine).around(service))).await;
    for capabilities in [json!({}), json!({ "extensions": { EXTENSION: {} } })] {
        let (session, initialized) = Session::declaring(client, capabilities).await;
        assert_eq!(initialized["protocolVersion"], "2025-11-25");
        for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result"] {
            let params = json!({ "taskId": "0000000000000000000000000000000f", "inputResponses": {} });
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            assert_eq!(client.send(&session.post(message)).await.error(), (200, -32601, json!(1)), "{method}");
        }
        let answer = session.ask("tools/call", json!({ "name": "answer", "arguments": {} })).await;
        assert_eq!(answer["result"]["content"][0]["text"], "an answer", "{answer}");
    }
}

/// CAP-01, LEG-04: what is advertised under the version that has the extension.
#[tokio::test]
async fn the_extension_is_advertised() {
    let server = Server::start().await;
    let result = server.send(&Post::new(1, "server/discover", json!({}))).await.result();
    assert_eq!(result["capabilities"]["extensions"][EXTENSION], json!({}), "{result}");
    assert_eq!(result["capabilities"]["tasks"], Value::Null);
    let legacy = json!({ "tasks": { "requests": { "tools": { "call": {} } } } });
    let call = json!({ "name": "echo", "arguments": { "text": "a" } });
    let result = server.send(&Post::declaring(1, "tools/call", call, legacy)).await.result();
    assert_eq!((&result["resultType"], &result["content"][0]["text"]), (&json!("complete"), &json!("a")));
}
