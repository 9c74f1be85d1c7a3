//! The server's end of a connection: what the client sent, and a way to answer it.

use std::{collections::BTreeMap, pin::Pin, sync::Arc};

use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::post,
};
use mcp_tasks::client::{ClientOptions, TaskClient};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::user::Person;

/// A message of the client's.
pub struct Got {
    pub message: Value,
    pub at: Instant,
    /// Over HTTP.
    pub headers: Option<BTreeMap<String, String>>,
    reply: Reply,
}

enum Reply {
    Line(mpsc::UnboundedSender<Value>),
    Body(oneshot::Sender<Value>),
}

impl Got {
    /// Answers, with the response of the file under the id that the client gave.
    pub fn answer(self, response: &Value) {
        let mut response = response.clone();
        response["id"] = self.message["id"].clone();
        match self.reply {
            Reply::Line(lines) => drop(lines.send(response)),
            Reply::Body(body) => drop(body.send(response)),
        }
    }
}

/// What clients send, however many there are one after the other.
pub struct Server {
    pub incoming: mpsc::UnboundedReceiver<Got>,
    /// Whether time is real, so that nobody waits for it longer than need be.
    pub is_real: bool,
}

pub type Connect = Box<dyn Fn(Person) -> Pin<Box<dyn Future<Output = TaskClient>>>>;

fn options() -> ClientOptions {
    ClientOptions::default().with_server("replayer")
}

/// A connection of lines, on the clock of the runtime.
pub fn lines() -> (Server, Connect) {
    let (sender, incoming) = mpsc::unbounded_channel();
    let connect: Connect = Box::new(move |person| {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, mut write) = tokio::io::split(far);
        let (lines, mut messages) = mpsc::unbounded_channel::<Value>();
        tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                if write.write_all(format!("{message}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        let sender = sender.clone();
        tokio::spawn(async move {
            let mut text = BufReader::new(read).lines();
            while let Ok(Some(line)) = text.next_line().await {
                let message = serde_json::from_str(&line).expect("a message");
                let reply = Reply::Line(lines.clone());
                let _ = sender.send(Got { message, at: Instant::now(), headers: None, reply });
            }
        });
        Box::pin(async move { TaskClient::connect_with(person, near, options()).await.expect("a session") })
    });
    (Server { incoming, is_real: false }, connect)
}

/// Streamable HTTP, with real sockets and real time.
pub async fn http() -> (Server, Connect) {
    let (sender, incoming) = mpsc::unbounded_channel();
    let sender = Arc::new(sender);
    let take = move |headers: HeaderMap, body: Bytes| take(Arc::clone(&sender), headers, body);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let uri = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/mcp", post(take))).await });
    let connect: Connect = Box::new(move |person| {
        let transport = mcp_tasks::client::http(uri.clone());
        Box::pin(async move { TaskClient::connect_with(person, transport, options()).await.expect("a session") })
    });
    (Server { incoming, is_real: true }, connect)
}

async fn take(sender: Arc<mpsc::UnboundedSender<Got>>, headers: HeaderMap, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).expect("a message");
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let headers = headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    let (body, answer) = oneshot::channel();
    let is_request = !message["id"].is_null();
    let _ = sender.send(Got { message, at: Instant::now(), headers: Some(headers), reply: Reply::Body(body) });
    if !is_request {
        return StatusCode::ACCEPTED.into_response();
    }
    match answer.await {
        Ok(response) => ([(CONTENT_TYPE, "application/json")], response.to_string()).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
