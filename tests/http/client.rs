//! A client that writes HTTP/1.1 by hand, so that it can also say what no HTTP library would.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const PATIENCE: Duration = Duration::from_secs(20);

/// A request that can still be changed.
#[derive(Debug, Clone)]
pub struct Post {
    pub method: &'static str,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Post {
    /// A request of 2026-07-28 as a client that knows tasks makes it, with the headers that go with its body.
    pub fn new(id: impl Into<Value>, method: &str, params: Value) -> Self {
        Self::declaring(id, method, params, json!({ "extensions": { EXTENSION: {} }, "elicitation": {} }))
    }

    pub fn declaring(id: impl Into<Value>, method: &str, mut params: Value, capabilities: Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let name = params.get("taskId").or(params.get("name")).and_then(Value::as_str).map(str::to_owned);
        let message = json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params });
        let post = Self::raw(message.to_string()).with("mcp-protocol-version", "2026-07-28").with("mcp-method", method);
        match name {
            Some(name) => post.with("mcp-name", &name),
            None => post,
        }
    }

    /// A body with the headers that the transport asks for and no others.
    pub fn raw(body: impl Into<String>) -> Self {
        Self { method: "POST", headers: Vec::new(), body: body.into() }
            .with("content-type", "application/json")
            .with("accept", "application/json, text/event-stream")
            .with("host", "localhost")
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    pub fn set(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    pub fn bearer(self, name: &str) -> Self {
        self.set("authorization", &format!("Bearer {name}"))
    }

    /// The same request with some text of its body replaced.
    pub fn replace(mut self, from: &str, to: &str) -> Self {
        assert!(self.body.contains(from), "{from} is not in {}", self.body);
        self.body = self.body.replace(from, to);
        self
    }
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    /// The JSON of the body, or of the last message of a body that is an event stream.
    pub fn json(&self) -> Value {
        let text = self.body.lines().rev().find_map(|line| line.strip_prefix("data:")).unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn result(&self) -> Value {
        let mut message = self.json();
        assert!(message["error"].is_null(), "{message}");
        message["result"].take()
    }

    /// Status, code and id of an error.
    pub fn error(&self) -> (u16, i64, Value) {
        let message = self.json();
        let code = message["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self:?}"));
        (self.status, code, message["id"].clone())
    }
}

/// Where a server listens.
#[derive(Debug, Clone, Copy)]
pub struct Client(pub SocketAddr);

impl Client {
    pub async fn send(self, post: &Post) -> Reply {
        timeout(PATIENCE, async { self.open(post).await.rest().await }).await.expect("an answer in time")
    }

    /// Sends a request, and reads the head of its answer.
    pub async fn open(self, post: &Post) -> Stream {
        let mut stream = self.start(post).await;
        timeout(PATIENCE, stream.read_head()).await.expect("a head in time");
        stream
    }

    /// Sends a request whose answer may take a while.
    pub async fn start(self, post: &Post) -> Stream {
        let mut socket = TcpStream::connect(self.0).await.expect("the server listens");
        socket.set_nodelay(true).expect("an option of TCP");
        let headers: String = post.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = post.body.len();
        let text = format!(
            "{} /mcp HTTP/1.1\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{}",
            post.method, post.body
        );
        socket.write_all(text.as_bytes()).await.expect("the server reads");
        Stream { socket, unread: Vec::new(), status: 0, head: String::new(), chunked: false }
    }
}

/// An answer that may still be coming.
pub struct Stream {
    socket: TcpStream,
    unread: Vec<u8>,
    pub status: u16,
    pub head: String,
    chunked: bool,
}

impl Stream {
    async fn fill(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let read = self.socket.read(&mut buffer).await.unwrap_or(0);
        self.unread.extend_from_slice(&buffer[..read]);
        read > 0
    }

    /// Bytes up to and with `end`.
    async fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(start) = self.unread.windows(end.len()).position(|window| window == end) {
                return Some(self.unread.drain(..start + end.len()).collect());
            }
            if !self.fill().await {
                return None;
            }
        }
    }

    async fn read_head(&mut self) {
        let head = self.until(b"\r\n\r\n").await.expect("a head");
        self.head = String::from_utf8(head).expect("text").to_ascii_lowercase();
        self.status = self.head[9..12].parse().expect("a status");
        self.chunked = self.head.contains("transfer-encoding: chunked");
    }

    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = self.until(b"\r\n").await?;
        let size = usize::from_str_radix(String::from_utf8(size).expect("text").trim(), 16).expect("a size");
        while self.unread.len() < size + 2 {
            if !self.fill().await {
                return None;
            }
        }
        let chunk = self.unread.drain(..size + 2).take(size).collect();
        (size > 0).then_some(chunk)
    }

    pub async fn rest(mut self) -> Reply {
        let body = self.body().await;
        Reply { status: self.status, head: self.head, body }
    }

    /// What has not been read yet.
    async fn body(&mut self) -> String {
        let mut body = Vec::new();
        if self.chunked {
            while let Some(chunk) = self.chunk().await {
                body.extend(chunk);
            }
        } else {
            while self.fill().await {}
            body.append(&mut self.unread);
        }
        String::from_utf8(body).expect("text")
    }

    /// The next message, whether the answer is one or a stream of them. `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        if self.head.is_empty() {
            self.read_head().await;
        }
        if self.head.contains("text/event-stream") {
            return self.message().await;
        }
        let body = self.body().await;
        (!body.is_empty()).then(|| serde_json::from_str(&body).expect("JSON"))
    }

    /// The next message of an event stream; each event is one chunk. `None` at its end.
    pub async fn message(&mut self) -> Option<Value> {
        assert!(self.chunked && self.head.contains("text/event-stream"), "no stream: {}", self.head);
        loop {
            let chunk = timeout(PATIENCE, self.chunk()).await.expect("a message in time")?;
            let text = String::from_utf8(chunk).expect("text");
            assert!(text.ends_with("\n\n"), "{text:?}");
            if let Some(data) = text.lines().find_map(|line| line.strip_prefix("data: ")) {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
        }
    }

    /// Whether nothing comes for a while.
    pub async fn is_quiet(&mut self, period: Duration) -> bool {
        timeout(period, self.chunk()).await.is_err()
    }
}
