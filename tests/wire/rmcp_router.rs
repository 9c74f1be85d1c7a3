//! A server that already is an rmcp server: its tools, with tasks.

use std::{sync::Arc, time::Duration};

use mcp_tasks::{TaskContext, Tasks, task_handler, task_tool, tool::ToolOptions};
use rmcp::{
    RoleServer, ServerHandler, ServiceExt,
    model::{NumberOrString, ProgressNotificationParam, ProgressToken},
    service::RequestContext,
    tool, tool_handler, tool_router,
};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, ReadHalf, WriteHalf};

use crate::{
    support::{Wire, World},
    tools::Signals,
};

/// rmcp's own style, and one line more above two of its tools.
#[derive(Clone)]
struct Existing {
    signals: Arc<Signals>,
}

#[tool_router]
impl Existing {
    /// Stays as it was.
    #[tool]
    async fn untouched(&self) -> String {
        let _run = self.signals.run();
        "as ever".into()
    }

    /// Sends progress notifications to whoever called, as a tool that knows nothing of tasks does.
    #[task_tool]
    #[tool]
    async fn noisy(&self, context: RequestContext<RoleServer>) -> String {
        let _run = self.signals.run();
        let token = context.meta.get_progress_token().unwrap_or(ProgressToken(NumberOrString::Number(1)));
        let sent = context.peer.notify_progress(ProgressNotificationParam::new(token, 1.0)).await;
        format!("sent: {}", sent.is_ok())
    }

    /// Notices rmcp's own cancellation token.
    #[task_tool(on_cancel = "signal")]
    #[tool]
    async fn tokened(&self, context: RequestContext<RoleServer>, task: TaskContext) -> String {
        let _run = self.signals.run();
        let was_cancelled = context.ct.is_cancelled();
        context.ct.cancelled().await;
        format!("{was_cancelled} {}", task.is_cancelled())
    }
}

#[tool_handler]
impl ServerHandler for Existing {}

async fn world(wire: Wire, with: impl FnOnce(Tasks<Existing>) -> Tasks<Existing>) -> World<Existing> {
    let signals = Arc::new(Signals::default());
    let existing = Existing { signals: Arc::clone(&signals) };
    World::of(wire, |builder| builder, signals, |engine| with(Tasks::new(existing, engine))).await
}

on_every_wire! {
    /// A tool that nobody touched stays inside the request.
    async fn untouched_tools_stay_as_they_were(wire: Wire) {
        let world = world(wire, |tasks| tasks).await;
        let result = world.client("alice").call("untouched", json!({})).await;
        assert_eq!((&result["resultType"], &result["content"][0]["text"]), (&json!("complete"), &json!("as ever")));
    }

    /// The wrapper alone makes tasks of tools that nobody touched, if it is told to.
    async fn untouched_tools_can_have_tasks(wire: Wire) {
        let world = world(wire, |tasks| tasks.default_options(ToolOptions::new().ttl_ms(5_000))).await;
        let alice = world.client("alice");
        let created = alice.call("untouched", json!({})).await;
        assert_eq!((&created["resultType"], &created["ttlMs"]), (&json!("task"), &json!(5_000)));
        let done = alice.reach(created["taskId"].as_str().expect("an id"), "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "as ever");
    }

    /// NOT-04: no progress notification of a task goes anywhere, whatever `progressToken` its call had.
    async fn a_task_sends_no_progress_notifications(wire: Wire) {
        let world = world(wire, |tasks| tasks).await;
        let alice = world.client("alice");
        let id = alice.task("noisy", json!({})).await;
        let done = alice.reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "sent: false");
        assert!(alice.strays().is_empty(), "{:?}", alice.strays());
    }

    /// rmcp cancels a request's token when it is answered; a task's token is cancelled when the task is.
    async fn the_token_of_a_task_is_its_own(wire: Wire) {
        let world = world(wire, |tasks| tasks).await;
        let alice = world.client("alice");
        let id = alice.task("tokened", json!({})).await;
        world.signals.all_started(1).await;
        assert_eq!(alice.get(&id).await["status"], "working");
        alice.cancel(&id).await;
        let done = alice.reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "false true");
    }
}

/// The same with the attribute on the handler, and with rmcp's own transport: no wrapper anywhere.
#[derive(Clone)]
struct Attributed;

#[tool_router]
impl Attributed {
    /// Echoes.
    #[task_tool]
    #[tool]
    async fn slow(&self, task: TaskContext) -> String {
        tokio::time::sleep(Duration::from_millis(1)).await;
        format!("{}", task.is_task())
    }
}

#[task_handler]
#[tool_handler]
impl ServerHandler for Attributed {}

type Near = tokio::io::DuplexStream;

/// The two ends of a connection to it.
fn attributed() -> (WriteHalf<Near>, Lines<BufReader<ReadHalf<Near>>>) {
    let (near, far) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { Attributed.serve(far).await.expect("a session").waiting().await });
    let (read, write) = tokio::io::split(near);
    (write, BufReader::new(read).lines())
}

/// LEG-01: a handler under the attribute does not advertise the extension in answer to `initialize`.
#[tokio::test]
async fn the_attribute_advertises_nothing_to_sessions() {
    let (mut write, mut lines) = attributed();
    let params =
        json!({ "protocolVersion": "2025-11-25", "clientInfo": { "name": "c", "version": "1" }, "capabilities": {} });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    write.write_all(format!("{request}\n").as_bytes()).await.expect("the server reads");
    let line = lines.next_line().await.expect("text").expect("a line");
    let initialized: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(initialized["result"]["protocolVersion"], "2025-11-25");
    assert!(initialized["result"]["capabilities"].get("extensions").is_none(), "{initialized}");
}

/// `#[task_handler]` makes tasks over any transport of rmcp's.
#[tokio::test]
async fn the_attribute_does_without_a_wrapper() {
    let (mut write, mut lines) = attributed();
    let mut ask = async |id: u32, method: &str, mut params: serde_json::Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
        });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        write.write_all(format!("{request}\n").as_bytes()).await.expect("the server reads");
        let line = lines.next_line().await.expect("text").expect("a line");
        serde_json::from_str::<serde_json::Value>(&line).expect("JSON")
    };
    let created = ask(1, "tools/call", json!({ "name": "slow", "arguments": {} })).await;
    let id = created["result"]["taskId"].clone();
    assert_eq!(created["result"]["resultType"], "task", "{created}");
    let mut task = serde_json::Value::Null;
    while task["result"]["status"] != "completed" {
        task = ask(2, "tasks/get", json!({ "taskId": id })).await;
        assert!(task["error"].is_null(), "{task}");
    }
    assert_eq!(task["result"]["result"]["content"][0]["text"], "true");
    assert_eq!(ask(3, "tasks/get", json!({})).await["error"]["code"], -32602);
    assert_eq!(ask(4, "tasks/get", json!({ "taskId": 5 })).await["error"]["code"], -32602);
    assert_eq!(ask(5, "tasks/list", json!({})).await["error"]["code"], -32601);
    assert_eq!(ask(6, "tasks/cancel", json!({ "taskId": id })).await["result"], json!({ "resultType": "complete" }));
    let listed = ask(7, "tools/list", json!({})).await;
    assert!(listed["result"]["tools"][0].get("_meta").is_none(), "{listed}");
}
