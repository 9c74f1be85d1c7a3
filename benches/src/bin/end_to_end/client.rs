//! A client of one connection that stays open: HTTP/1.1 by hand, so that it costs little.

use mcp_tasks_benches::http;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// Where a server is.
#[derive(Clone)]
pub struct Url {
    authority: String,
    path: String,
}

impl Url {
    pub fn parse(url: &str) -> Self {
        let rest = url.strip_prefix("http://").expect("a URL of http");
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        Self { authority: authority.to_owned(), path: format!("/{path}") }
    }
}

pub struct Client {
    url: Url,
    stream: TcpStream,
    answer: Vec<u8>,
}

impl Client {
    pub async fn connect(url: &Url) -> Self {
        let stream = TcpStream::connect(&url.authority).await.expect("the server listens");
        stream.set_nodelay(true).expect("an option of TCP");
        Self { url: url.clone(), stream, answer: Vec::with_capacity(4096) }
    }

    /// Calls the tool, and gives the id of the task that it becomes.
    pub async fn create(&mut self) -> String {
        let params = json!({"name": "add", "arguments": {"a": 20, "b": 22}});
        let result = self.ask("tools/call", "add", params).await;
        assert_eq!(result["resultType"], "task", "{result}");
        result["taskId"].as_str().expect("a task id").to_owned()
    }

    /// The task as it stands.
    pub async fn get(&mut self, id: &str) -> Value {
        self.ask("tasks/get", id, json!({"taskId": id})).await
    }

    async fn ask(&mut self, method: &str, name: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0.0"},
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, \
             text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\nmcp-name: \
             {name}\r\ncontent-length: {}\r\n\r\n",
            self.url.path,
            self.url.authority,
            body.len()
        );
        self.stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await.expect("the connection stays open");
        let body = http::read_body(&mut self.stream, &mut self.answer).await;
        let mut answer: Value = serde_json::from_slice(body).expect("the body is JSON");
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }
}
