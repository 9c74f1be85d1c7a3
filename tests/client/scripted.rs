//! A server that does what the test says, on lines of JSON, with the time of the test's runtime.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_tasks::client::{ClientOptions, TaskClient};
use rmcp::{RoleClient, model::CallToolRequestParams, service::Service};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, WriteHalf},
    sync::mpsc,
    time::Instant,
};

pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    Result(Value),
    Error(i64, &'static str),
    ErrorData(i64, &'static str, Value),
    /// Says nothing, ever.
    Silence,
    /// Answers later.
    Late(Duration, Value),
}

/// A request or notification that the server got, and when.
#[derive(Debug, Clone)]
pub struct Got {
    pub at: Duration,
    pub message: Value,
}

impl Got {
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or("")
    }

    pub fn params(&self) -> &Value {
        &self.message["params"]
    }
}

#[derive(Default)]
struct Script {
    calls: VecDeque<Act>,
    gets: VecDeque<Act>,
    updates: VecDeque<Act>,
    listens: VecDeque<Act>,
    log: Vec<Got>,
}

/// The server, from the test's side.
#[derive(Clone)]
pub struct Server {
    script: Arc<Mutex<Script>>,
    extensions: Value,
    legacy: bool,
    began: Instant,
    write: Arc<Mutex<Option<mpsc::UnboundedSender<Value>>>>,
}

impl Server {
    pub fn new() -> Self {
        Self {
            script: Arc::default(),
            extensions: json!({ EXTENSION: {} }),
            legacy: false,
            began: Instant::now(),
            write: Arc::default(),
        }
    }

    pub fn extensions(mut self, extensions: Value) -> Self {
        self.extensions = extensions;
        self
    }

    /// A server of 2025-11-25.
    pub fn legacy(mut self) -> Self {
        self.legacy = true;
        self
    }

    /// The answers to calls, in order; the last one stays.
    pub fn calls(self, acts: impl IntoIterator<Item = Act>) -> Self {
        self.script.lock().unwrap().calls.extend(acts);
        self
    }

    pub fn gets(self, acts: impl IntoIterator<Item = Act>) -> Self {
        self.script.lock().unwrap().gets.extend(acts);
        self
    }

    pub fn updates(self, acts: impl IntoIterator<Item = Act>) -> Self {
        self.script.lock().unwrap().updates.extend(acts);
        self
    }

    pub fn listens(self, acts: impl IntoIterator<Item = Act>) -> Self {
        self.script.lock().unwrap().listens.extend(acts);
        self
    }

    /// Everything with this method that came.
    pub fn got(&self, method: &str) -> Vec<Got> {
        self.script.lock().unwrap().log.iter().filter(|got| got.method() == method).cloned().collect()
    }

    /// Sends something by itself.
    pub fn push(&self, message: Value) {
        self.write.lock().unwrap().as_ref().expect("a client").send(message).expect("a connection");
    }

    pub async fn connect<H: Service<RoleClient>>(&self, handler: H) -> TaskClient {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(far);
        let (sender, receiver) = mpsc::unbounded_channel();
        *self.write.lock().unwrap() = Some(sender.clone());
        tokio::spawn(write_lines(write, receiver));
        let server = self.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                server.take(serde_json::from_str(&line).expect("a message"), &sender);
            }
        });
        let options = ClientOptions::default().with_server("scripted");
        TaskClient::connect_with(handler, near, options).await.expect("a session")
    }

    fn take(&self, message: Value, sender: &mpsc::UnboundedSender<Value>) {
        let id = message["id"].clone();
        let act = self.decide(&message);
        self.script.lock().unwrap().log.push(Got { at: self.began.elapsed(), message });
        if id.is_null() {
            return;
        }
        let sender = sender.clone();
        let result = |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
        let error = |error: Value| json!({ "jsonrpc": "2.0", "id": id, "error": error });
        match act {
            Act::Result(value) => drop(sender.send(result(value))),
            Act::Error(code, text) => drop(sender.send(error(json!({ "code": code, "message": text })))),
            Act::ErrorData(code, text, data) => {
                drop(sender.send(error(json!({ "code": code, "message": text, "data": data }))));
            }
            Act::Silence => {}
            Act::Late(delay, value) => {
                let message = result(value);
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    let _ = sender.send(message);
                });
            }
        }
    }

    fn decide(&self, message: &Value) -> Act {
        let mut script = self.script.lock().unwrap();
        match message["method"].as_str().unwrap_or("") {
            "server/discover" if self.legacy => Act::Error(-32601, "unknown"),
            "server/discover" => Act::Result(json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                "capabilities": { "tools": {}, "extensions": self.extensions },
                "serverInfo": { "name": "scripted", "version": "1" },
            })),
            "initialize" => Act::Result(json!({
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "scripted", "version": "1" },
            })),
            "tools/call" => next(&mut script.calls, Act::Result(created())),
            "tasks/get" => next(&mut script.gets, Act::Result(working(0))),
            "tasks/update" => next(&mut script.updates, ack()),
            "tasks/cancel" => ack(),
            "subscriptions/listen" => next(&mut script.listens, Act::Error(-32601, "no streams")),
            "tools/list" => Act::Result(created()),
            _ => Act::Error(-32601, "unknown"),
        }
    }
}

fn next(acts: &mut VecDeque<Act>, otherwise: Act) -> Act {
    match acts.len() {
        0 => otherwise,
        1 => acts[0].clone(),
        _ => acts.pop_front().expect("more than one"),
    }
}

async fn write_lines<S: tokio::io::AsyncWrite>(mut write: WriteHalf<S>, mut messages: mpsc::UnboundedReceiver<Value>) {
    while let Some(message) = messages.recv().await {
        if write.write_all(format!("{message}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

pub fn ack() -> Act {
    Act::Result(json!({ "resultType": "complete" }))
}

fn state(kind: &str, status: &str, updated: u64, more: Value) -> Value {
    let mut task = json!({
        "resultType": kind, "taskId": "t-1", "status": status, "ttlMs": 3_600_000, "pollIntervalMs": 1_000,
        "createdAt": "2026-07-28T10:00:00Z", "lastUpdatedAt": format!("2026-07-28T10:00:{updated:02}Z"),
    });
    task.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    task
}

pub fn created() -> Value {
    state("task", "working", 0, json!({}))
}

pub fn task(status: &str, updated: u64, more: Value) -> Value {
    state("complete", status, updated, more)
}

pub fn working(updated: u64) -> Value {
    task("working", updated, json!({}))
}

pub fn completed(updated: u64) -> Value {
    task("completed", updated, json!({ "result": { "content": [{ "type": "text", "text": "done" }] } }))
}

pub fn asking(updated: u64) -> Value {
    let form = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
    task(
        "input_required",
        updated,
        json!({ "inputRequests": { "name": {
        "method": "elicitation/create", "params": { "mode": "form", "message": "Who?", "requestedSchema": form }
    } } }),
    )
}

pub fn tool() -> CallToolRequestParams {
    CallToolRequestParams::new("tool")
}
