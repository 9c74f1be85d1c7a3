//! What is peculiar to a connection that is one stream: a reader who does not read, and an end for all listens at once.
//! And the handler on rmcp's own transport, with nothing of ours around it.

use std::{collections::HashSet, time::Duration};

use mcp_tasks::{ToolSet, principal::Principal, stdio};
use rmcp::{RoleServer, ServiceExt, service::RunningService, transport::Transport};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    sync::watch,
    time::timeout,
};

use crate::{
    stores,
    support::{EXTENSION, SUBSCRIPTION, Wire, World},
};

/// A connection that reads only when it is told to.
struct Raw {
    write: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Raw {
    fn over(stream: DuplexStream) -> Self {
        let (read, write) = tokio::io::split(stream);
        Self { write, lines: BufReader::new(read).lines() }
    }

    async fn send(&mut self, id: u32, method: &str, params: Value) {
        self.send_as_is(request(id, method, params)).await;
    }

    async fn send_as_is(&mut self, message: Value) {
        self.write.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
    }

    async fn next(&mut self) -> Option<Value> {
        let line = timeout(Duration::from_secs(20), self.lines.next_line()).await.expect("a line in time");
        line.expect("text").map(|line| serde_json::from_str(&line).expect("JSON"))
    }
}

fn request(id: u32, method: &str, mut params: Value) -> Value {
    if params.get("protocolVersion").is_none() {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "extensions": { EXTENSION: {} } },
        });
    }
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// A connection with room for `room` bytes on the way, that has begun.
async fn connect(world: &World, room: usize) -> (Raw, RunningService<RoleServer, mcp_tasks::Tasks<ToolSet>>) {
    let (near, far) = tokio::io::duplex(room);
    let tasks = world.tasks().principal(|_| Principal::new("alice"));
    let (read, write) = tokio::io::split(far);
    let transport = stdio::transport(&tasks, read, write);
    let serving = tokio::spawn(async move { tasks.serve(transport).await.expect("a session") });
    let mut raw = Raw::over(near);
    raw.send(1, "tools/call", json!({ "name": "greet", "arguments": { "name": "A" } })).await;
    let service = serving.await.expect("no panic");
    assert_eq!(raw.next().await.expect("a response")["id"], 1);
    (raw, service)
}

/// Case 43: a listener that does not read makes the server hold a bounded number of states, delays nobody else, and hears
/// the end when it reads again.
#[tokio::test]
async fn a_listener_that_does_not_read_delays_nobody() {
    let world = World::new(Wire::Stdio).await;
    let (mut raw, _service) = connect(&world, 4096).await;
    let alice = world.client("alice");
    // Each state is written down durably, where the store does that.
    let (count, held) = if stores::kind() == "memory" { (20_000, 1_000) } else { (1_000, 900) };
    let id = alice.task("chatter", json!({ "count": count })).await;
    raw.send(2, "subscriptions/listen", json!({ "notifications": { "taskIds": [id] } })).await;
    let mut others = alice.listen(&[&id]);
    others.notified("notifications/subscriptions/acknowledged").await;
    alice.reach(&id, "completed").await;
    let mut states = 0;
    loop {
        let message = raw.next().await.expect("a message");
        states += 1;
        if message["params"]["status"] == "completed" {
            break;
        }
    }
    assert!(states < held, "{states} messages were held");
}

/// NOT-06: a server that ends a listen sends its result.
#[tokio::test]
async fn a_server_that_ends_a_listen_says_so() {
    let world = World::new(Wire::Stdio).await;
    let (mut raw, service) = connect(&world, 1 << 16).await;
    let id = world.client("alice").task("wait", json!({})).await;
    raw.send(2, "subscriptions/listen", json!({ "notifications": { "taskIds": [id] } })).await;
    for method in ["notifications/subscriptions/acknowledged", "notifications/tasks"] {
        assert_eq!(raw.next().await.expect("a message")["method"], method);
    }
    service.cancel().await.expect("no panic");
    let mut last = Value::Null;
    while let Some(message) = raw.next().await {
        last = message;
    }
    let result = json!({ "resultType": "complete", "_meta": { SUBSCRIPTION: 2 } });
    assert_eq!(last, json!({ "jsonrpc": "2.0", "id": 2, "result": result }));
}

/// LEG-01, GET-03, ERR-01: the handler does without our transport, save for `taskIds`: sessions have no `tasks/*` even for
/// clients that declare nothing, and bad parameters are `-32602`.
#[tokio::test]
async fn the_handler_answers_without_our_transport() {
    let world = World::new(Wire::Stdio).await;
    let id = world.client("alice").task("wait", json!({})).await;
    let connect = || {
        let (near, far) = tokio::io::duplex(1 << 16);
        let tasks = world.tasks().principal(|_| Principal::new("alice"));
        tokio::spawn(async move { tasks.serve(far).await.expect("a session").waiting().await });
        Raw::over(near)
    };
    let mut modern = connect();
    for (params, code) in [
        (json!({}), -32602),
        (json!({ "taskId": 5, "inputResponses": {} }), -32602),
        (json!({ "taskId": "x", "inputResponses": {} }), -32602),
    ] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            modern.send(1, method, params.clone()).await;
            assert_eq!(modern.next().await.expect("a response")["error"]["code"], code, "{method} {params}");
        }
    }
    modern.send(1, "tasks/list", json!({})).await;
    assert_eq!(modern.next().await.expect("a response")["error"]["code"], -32601);
    modern.send(1, "tasks/get", json!({ "taskId": id })).await;
    assert_eq!(modern.next().await.expect("a response")["result"]["status"], "working");
    modern.send(1, "server/discover", json!({})).await;
    let discovered = modern.next().await.expect("a response");
    assert_eq!(discovered["result"]["capabilities"]["extensions"][EXTENSION], json!({}));

    let mut session = connect();
    let client = json!({ "name": "old", "version": "1" });
    let begin = json!({ "protocolVersion": "2025-11-25", "clientInfo": client, "capabilities": {} });
    session.send(0, "initialize", begin).await;
    let initialized = session.next().await.expect("a response");
    assert!(initialized["result"]["capabilities"].get("extensions").is_none(), "{initialized}");
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/list"] {
        let params = json!({ "taskId": id, "inputResponses": {} });
        session.send_as_is(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await;
        assert_eq!(session.next().await.expect("a response")["error"]["code"], -32601, "{method}");
    }
}

/// Case 43: a client that asks and asks and does not read is not read from either, after a bounded number of questions; it
/// gets each answer when it reads.
#[tokio::test]
async fn a_client_that_only_asks_is_made_to_wait() {
    const QUESTIONS: u32 = 2_000;
    let world = World::new(Wire::Stdio).await;
    let (raw, _service) = connect(&world, 1024).await;
    let id = world.client("alice").task("wait", json!({})).await;
    let Raw { mut write, mut lines } = raw;
    let (asked, mut progress) = watch::channel(0);
    let asking = tokio::spawn(async move {
        for n in 1..=QUESTIONS {
            let line = format!("{}\n", request(n, "tasks/get", json!({ "taskId": id })));
            write.write_all(line.as_bytes()).await.expect("the server reads");
            asked.send_replace(n);
        }
        write
    });
    // Until no question is taken while everything else has time to.
    while let Ok(Ok(())) = timeout(Duration::from_millis(100), progress.changed()).await {}
    let taken = *progress.borrow();
    assert!(taken < 300, "{taken} questions were taken");
    let mut open: HashSet<u64> = (1..=QUESTIONS.into()).collect();
    while !open.is_empty() {
        let line = timeout(Duration::from_secs(20), lines.next_line()).await.expect("a line in time").expect("text");
        let answer: Value = serde_json::from_str(&line.expect("an answer")).expect("JSON");
        assert_eq!(answer["result"]["status"], "working", "{answer}");
        assert!(open.remove(&answer["id"].as_u64().expect("an id")), "{answer}");
    }
    asking.await.expect("no panic");
}

/// NOT-06: a listen that is cancelled while its acknowledgement waits for the client says nothing after that. The test is
/// rmcp's side of the connection as well, so that it knows who has come how far.
#[tokio::test]
async fn a_listen_can_be_cancelled_while_it_is_acknowledged() {
    let world = World::new(Wire::Stdio).await;
    let id = world.client("alice").task("wait", json!({})).await;
    let (near, far) = tokio::io::duplex(1024);
    let (read, write) = tokio::io::split(far);
    let mut core = stdio::transport(&world.tasks().principal(|_| Principal::new("alice")), read, write);
    let mut raw = Raw::over(near);
    let filter = json!({ "notifications": { "taskIds": [id], "toolsListChanged": true } });
    raw.send(1, "subscriptions/listen", filter).await;
    core.receive().await.expect("the core's part of the listen");
    let say = |method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        serde_json::from_value(message).expect("a message of the server's")
    };
    // The client does not read: one message is half written, 64 wait for it, and so the acknowledgement has to wait too.
    for n in 0..65 {
        let padding = if n == 0 { "x".repeat(2048) } else { String::new() };
        let filler = json!({ "level": "info", "data": padding });
        core.send(say("notifications/message", filler)).await.expect("the transport takes it");
    }
    let agreed = json!({ "notifications": { "toolsListChanged": true }, "_meta": { SUBSCRIPTION: 1 } });
    core.send(say("notifications/subscriptions/acknowledged", agreed)).await.expect("the transport takes it");
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    raw.send_as_is(cancelled).await;
    core.receive().await.expect("the cancellation, once it is dealt with");
    for _ in 0..65 {
        assert_eq!(raw.next().await.expect("a message")["method"], "notifications/message");
    }
    let acknowledged = raw.next().await.expect("the acknowledgement");
    assert_eq!(acknowledged["params"]["notifications"]["taskIds"], json!([id]), "{acknowledged}");
    // While everything else has time to.
    let more = timeout(Duration::from_millis(100), raw.lines.next_line()).await;
    assert!(more.is_err(), "{more:?}");
}
