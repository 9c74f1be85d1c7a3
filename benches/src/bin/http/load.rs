//! Asks a server over and over, on connections that stay open: HTTP/1.1 by hand, so that the client costs little.

use mcp_tasks_benches::http;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

const CONNECTIONS: usize = 16;

/// `tasks/get` as a client of 2026-07-28 sends it.
fn poll(task_id: &str) -> Vec<u8> {
    let body = format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{{"taskId":"{}","_meta":{{"#,
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1.0.0"}},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{{"extensions":{{"io.modelcontextprotocol/tasks":{{}}}}}}"#,
            r#"}}}}}}"#
        ),
        task_id
    );
    let head = format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, \
         text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tasks/get\r\nmcp-name: \
         {task_id}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body.into_bytes()].concat()
}

/// The connections to one server, and what is asked on them in turn.
pub struct Load {
    runtime: Runtime,
    connections: Vec<Connection>,
    asked: Arc<Asked>,
}

/// What all connections ask for in turn. All ids are of one length, so that a request is made from the one before.
struct Asked {
    ids: String,
    id_len: usize,
    next: AtomicUsize,
}

impl Load {
    pub fn new(server: SocketAddr, ids: &[String]) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut connections = Vec::new();
        for _ in 0..CONNECTIONS {
            connections.push(runtime.block_on(Connection::open(server, &ids[0])));
        }
        // In an order that has nothing to do with that of their creation.
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        let asked = Asked { id_len: ids[0].len(), ids: ids.concat(), next: AtomicUsize::new(0) };
        Self { runtime, connections, asked: Arc::new(asked) }
    }

    /// The body of one answer, checked to be about a task that is worked on.
    pub fn sample(&mut self) -> Vec<u8> {
        let body = self.runtime.block_on(self.connections[0].exchange(self.asked.id(0))).to_vec();
        let answer: Value = serde_json::from_slice(&body).expect("the body is JSON");
        assert_eq!(answer["result"]["status"], "working", "{answer}");
        body
    }

    /// Asks so many times in all: the time that took, and how many bytes came.
    pub fn ask(&mut self, count: usize) -> (Duration, u64) {
        let Self { runtime, connections, asked } = self;
        let end = asked.next.load(Ordering::Relaxed) + count;
        let start = Instant::now();
        let bytes = runtime.block_on(async {
            let asking: Vec<_> =
                connections.drain(..).map(|connection| tokio::spawn(ask(connection, Arc::clone(asked), end))).collect();
            let mut sum = 0;
            for asking in asking {
                let (connection, bytes) = asking.await.expect("the server answers");
                connections.push(connection);
                sum += bytes;
            }
            sum
        });
        let taken = start.elapsed();
        asked.next.store(end, Ordering::Relaxed);
        (taken, bytes)
    }
}

impl Asked {
    fn id(&self, index: usize) -> &str {
        let at = index * self.id_len % self.ids.len();
        &self.ids[at..at + self.id_len]
    }
}

async fn ask(mut connection: Connection, asked: Arc<Asked>, end: usize) -> (Connection, u64) {
    let mut bytes = 0;
    loop {
        let index = asked.next.fetch_add(1, Ordering::Relaxed);
        if index >= end {
            return (connection, bytes);
        }
        bytes += connection.exchange(asked.id(index)).await.len() as u64;
    }
}

struct Connection {
    stream: TcpStream,
    request: Vec<u8>,
    /// Where the id of the task stands in the request.
    places: Vec<usize>,
    answer: Vec<u8>,
}

impl Connection {
    async fn open(server: SocketAddr, id: &str) -> Self {
        let stream = TcpStream::connect(server).await.expect("the server listens");
        stream.set_nodelay(true).expect("an option of TCP");
        let request = poll(id);
        let places = request.windows(id.len()).enumerate().filter(|(_, text)| *text == id.as_bytes());
        let places = places.map(|(place, _)| place).collect();
        Self { stream, places, request, answer: Vec::with_capacity(4096) }
    }

    /// Asks for a task, and gives the body of the answer.
    async fn exchange(&mut self, id: &str) -> &[u8] {
        for place in &self.places {
            self.request[*place..place + id.len()].copy_from_slice(id.as_bytes());
        }
        self.stream.write_all(&self.request).await.expect("the connection stays open");
        http::read_body(&mut self.stream, &mut self.answer).await
    }
}
