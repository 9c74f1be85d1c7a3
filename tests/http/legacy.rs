//! LEG: the lifecycle of 2025-11-25 beside the extension.

use serde_json::{Value, json};

use crate::{client::Post, server::Server};

struct Session<'a> {
    server: &'a Server,
    id: String,
}

impl<'a> Session<'a> {
    /// `initialize` as a client does it that knows the experimental tasks, and declares the extension as well.
    async fn start(server: &'a Server) -> (Self, Value) {
        let capabilities = json!({ "extensions": { crate::client::EXTENSION: {} }, "tasks": { "requests": {} } });
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "old", "version": "1" },
        });
        let message = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let reply = server.send(&Post::raw(message.to_string())).await;
        let id = reply.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
        let session = Self { server, id: id.to_owned() };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(server.send(&session.post(initialized)).await.status, 202);
        (session, reply.result())
    }

    fn post(&self, message: Value) -> Post {
        Post::raw(message.to_string()).with("mcp-session-id", &self.id).with("mcp-protocol-version", "2025-11-25")
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.server.send(&self.post(message)).await.json()
    }
}

/// LEG-01, LEG-03, CAP-02, case 36: under 2025-11-25 the extension does not exist, whatever the client declares.
#[tokio::test]
async fn under_the_earlier_version_there_are_no_tasks() {
    let server = Server::start().await;
    let (session, initialized) = Session::start(&server).await;
    assert_eq!(initialized["protocolVersion"], "2025-11-25");
    assert_eq!(initialized["capabilities"]["extensions"][crate::client::EXTENSION], Value::Null);
    assert_eq!(initialized["capabilities"]["tasks"], Value::Null);
    let meta =
        json!({ "io.modelcontextprotocol/clientCapabilities": { "extensions": { crate::client::EXTENSION: {} } } });
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

/// CAP-01, LEG-04: what is advertised under the version that has the extension.
#[tokio::test]
async fn the_extension_is_advertised() {
    let server = Server::start().await;
    let result = server.send(&Post::new(1, "server/discover", json!({}))).await.result();
    assert_eq!(result["capabilities"]["extensions"][crate::client::EXTENSION], json!({}), "{result}");
    assert_eq!(result["capabilities"]["tasks"], Value::Null);
    let legacy = json!({ "tasks": { "requests": { "tools": { "call": {} } } } });
    let call = json!({ "name": "echo", "arguments": { "text": "a" } });
    let result = server.send(&Post::declaring(1, "tools/call", call, legacy)).await.result();
    assert_eq!((&result["resultType"], &result["content"][0]["text"]), (&json!("complete"), &json!("a")));
}
