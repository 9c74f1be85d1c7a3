//! A whole server, and a client that speaks JSON to it.

use std::sync::atomic::{AtomicU32, Ordering};

use mcp_tasks::{Elicited, State, TaskContext, TaskServer, ToolError, server::ReadyServer, task_tool};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

pub struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    last_id: u64,
    server: ReadyServer,
}

impl Client {
    async fn new() -> Self {
        Self::of(server().in_memory().build().expect("the tools are all right")).await
    }

    /// A client of this server.
    pub async fn of(server: ReadyServer) -> Self {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (read, write) = tokio::io::split(far);
        tokio::spawn(server.clone().serve_on(read, write));
        let (reader, writer) = tokio::io::split(near);
        let mut client = Self { lines: BufReader::new(reader).lines(), writer, last_id: 0, server };
        client.request("server/discover", json!({}), true).await;
        client
    }

    /// One request, and its `result` or `error`.
    pub async fn request(&mut self, method: &str, mut params: Value, declares_tasks: bool) -> Value {
        self.last_id += 1;
        let mut capabilities = json!({"elicitation": {"form": {}}});
        if declares_tasks {
            capabilities["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
        }
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let message = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.writer.write_all(format!("{message}\n").as_bytes()).await.expect("the server is there");
        loop {
            let line = self.lines.next_line().await.expect("the server is there").expect("the server answers");
            let mut answer: Value = serde_json::from_str(&line).expect("a message is JSON");
            if answer["id"] == self.last_id {
                let result = answer["result"].take();
                return if result.is_null() { answer["error"].take() } else { result };
            }
        }
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}), true).await
    }

    /// Polls until the task has this status.
    pub async fn until(&mut self, id: &Value, status: &str) -> Value {
        loop {
            let task = self.request("tasks/get", json!({"taskId": id}), true).await;
            if task["status"] == status {
                return task;
            }
            assert_eq!(task["status"], "working", "{task}");
            tokio::task::yield_now().await;
        }
    }
}

/// A server with two tools.
pub fn server() -> TaskServer {
    TaskServer::new("test", "1").tool::<order>().tool::<fail>().state(Calls::default()).form::<Order>()
}

#[derive(Default)]
struct Calls(AtomicU32);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    #[schemars(range(min = 1))]
    count: u8,
}

/// Asks how many, and says how often it was started.
#[task_tool]
async fn order(what: String, calls: State<Calls>, task: TaskContext) -> Result<String, ToolError> {
    let started = calls.0.fetch_add(1, Ordering::Relaxed) + 1;
    match task.elicit::<Order>("count", format!("How many {what}?")).await? {
        Elicited::Accepted(Order { count }) => Ok(format!("{count} {what}, started {started} times")),
        Elicited::Declined => Ok("none".to_owned()),
        Elicited::Dismissed => Err(ToolError::new("nobody knows")),
    }
}

#[task_tool]
async fn fail(code: Option<i32>) -> Result<(), ToolError> {
    Err(code.map_or_else(|| ToolError::new("it broke"), |code| ToolError::protocol(code, "refused", Some(json!([1])))))
}

pub fn accept(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

/// ERR-04: arguments that do not fit are a result at once, and there is no task.
#[tokio::test]
async fn arguments_that_do_not_fit_make_no_task() {
    let mut client = Client::new().await;
    let refused = client.call("order", json!({"what": 1})).await;
    let told = "argument `what`: invalid type: integer `1`, expected a string";
    assert_eq!(
        refused,
        json!({"resultType": "complete", "content": [{"type": "text", "text": told}], "isError": true})
    );
    assert_eq!(client.server.engine().running(), 0);
}

/// ERR-05, TSK-07: the tool's own error completes the task, a protocol error fails it with exactly that error.
#[tokio::test]
async fn errors_end_the_task_as_they_should() {
    let mut client = Client::new().await;
    let task = client.call("fail", json!({})).await;
    let told = client.until(&task["taskId"], "completed").await;
    assert_eq!((&told["result"]["isError"], &told["result"]["content"][0]["text"]), (&json!(true), &json!("it broke")));

    let task = client.call("fail", json!({"code": -32001})).await;
    let failed = client.until(&task["taskId"], "failed").await;
    assert_eq!(failed["error"], json!({"code": -32001, "message": "refused", "data": [1]}));
}

/// UPD-07: an answer that does not fit the form is refused with the reason, and the question stays; case 18: then one is
/// taken.
#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused() {
    let mut client = Client::new().await;
    let task = client.call("order", json!({"what": "cakes"})).await;
    let id = &task["taskId"];
    let asked = client.until(id, "input_required").await;
    assert_eq!(asked["inputRequests"]["count"]["params"]["message"], "How many cakes?");

    for (content, why) in [(json!({"count": 0}), "`/count`: 0 is less than 1"), (json!({}), "`count` is missing")] {
        let update = json!({"taskId": id, "inputResponses": {"count": accept(content)}});
        let refused = client.request("tasks/update", update, true).await;
        assert_eq!(refused["code"], -32602);
        assert_eq!(refused["data"], json!({"reason": "invalid_input_response", "keys": {"count": why}}));
        client.until(id, "input_required").await;
    }
    let update = json!({"taskId": id, "inputResponses": {"count": accept(json!({"count": 3, "unknown": []}))}});
    assert_eq!(client.request("tasks/update", update, true).await, json!({"resultType": "complete"}));
    let done = client.until(id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "3 cakes, started 1 times");
}

/// NEW-02, CAP-07: a client that declares no tasks gets the question as the answer to its call, and the fn runs again from
/// its start, as `elicit` says.
#[tokio::test]
async fn without_tasks_the_fn_runs_again_with_the_answer() {
    let mut client = Client::new().await;
    let params = json!({"name": "order", "arguments": {"what": "cakes"}});
    let asked = client.request("tools/call", params.clone(), false).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let mut again = params;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({"count": accept(json!({"count": 2}))});
    let done = client.request("tools/call", again, false).await;
    assert_eq!(done["content"][0]["text"], "2 cakes, started 2 times", "{done}");
    assert_eq!(client.server.engine().running(), 0);
}

/// The options of a tool travel with it inside the server, and never leave it.
#[tokio::test]
async fn tools_are_listed_without_our_marks() {
    let mut client = Client::new().await;
    let listed = client.request("tools/list", json!({}), true).await;
    let tools = listed["tools"].as_array().expect("a list of tools");
    assert_eq!(tools.iter().map(|tool| tool["name"].as_str()).collect::<Vec<_>>(), [Some("order"), Some("fail")]);
    assert!(tools.iter().all(|tool| tool.get("_meta").is_none()), "{listed}");
}
