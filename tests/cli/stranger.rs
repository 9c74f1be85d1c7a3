//! A server that says what a test wants, over HTTP, and remembers who asked how.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

/// What terminals obey: clears the screen (twice, in the two ways to write it) and turns the direction of text.
pub const EVIL: &str = "\u{1b}[2J\u{9b}2J\u{202e}";

/// Whether some text could command a terminal.
pub fn commands(text: &str) -> bool {
    text.chars().any(|c| (c.is_control() && !"\n\t\r".contains(c)) || c == '\u{202e}')
}

type Says = dyn Fn(&str, &Value) -> Result<Value, Value> + Send + Sync;

/// The server; it ends with the test.
pub struct Stranger {
    pub url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Stranger {
    /// `says` gives the result, or the error, of a method with its params.
    pub fn new(says: impl Fn(&str, &Value) -> Result<Value, Value> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let (says, heads): (Arc<Says>, _) = (Arc::new(says), Arc::<Mutex<Vec<String>>>::default());
        let kept = Arc::clone(&heads);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (says, heads) = (Arc::clone(&says), Arc::clone(&kept));
                thread::spawn(move || while answer(&stream, &*says, &heads).is_some() {});
            }
        });
        Self { url, heads }
    }

    /// The heads of all requests so far, in lower case.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("no test failed in it").clone()
    }
}

/// Answers one request; `None` once there are no more.
fn answer(mut stream: &TcpStream, says: &Says, heads: &Mutex<Vec<String>>) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (lines.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let head = head.to_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length:")).unwrap_or("0").trim().parse().ok()?;
    let mut body = vec![0; length];
    lines.read_exact(&mut body).ok()?;
    heads.lock().ok()?.push(head);
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, body) = match &message["id"] {
        Value::Null => ("202 Accepted", String::new()),
        id => ("200 OK", reply(id, &message, says).to_string()),
    };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}").ok()
}

fn reply(id: &Value, message: &Value, says: &Says) -> Value {
    let method = message["method"].as_str().unwrap_or_default();
    let said = match method {
        "server/discover" => Ok(json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
            "capabilities": { "tools": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } },
            "serverInfo": { "name": "stranger", "version": "1" },
        })),
        "subscriptions/listen" => Err(json!({"code": -32601, "message": "no streams"})),
        _ => says(method, &message["params"]),
    };
    match said {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    }
}

/// A task as `tasks/get` gives it.
pub fn task(id: &str, status: &str, more: Value) -> Value {
    let mut task = json!({
        "resultType": "complete", "taskId": id, "status": status, "ttlMs": 600_000, "pollIntervalMs": 100,
        "createdAt": "2026-07-28T10:00:00Z", "lastUpdatedAt": "2026-07-28T10:00:00Z",
    });
    let members = task.as_object_mut().expect("an object");
    members.extend(more.as_object().cloned().expect("an object"));
    task
}

/// A task that asks `key` by a form.
pub fn asking(id: &str, key: &str, message: &str, schema: Value) -> Value {
    let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
    task(id, "input_required", json!({"inputRequests": {key: {"method": "elicitation/create", "params": params}}}))
}
