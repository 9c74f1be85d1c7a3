//! The examples of servers, run as anybody would run them.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::{Client, Post};

/// A running example; it ends with this.
struct Example(Child);

impl Example {
    fn start(name: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO"));
        command.args(["run", "--quiet", "--example", name, "--"]).args(arguments);
        command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().expect("cargo runs it"))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let stdout = self.0.stdout.as_mut().expect("it is piped");
        BufReader::with_capacity(1, stdout).read_line(&mut line).expect("a line");
        line
    }

    /// Where it says that it listens.
    fn client(&mut self) -> Client {
        let url = self.line();
        let address = url.trim().strip_prefix("http://").and_then(|url| url.strip_suffix("/mcp"));
        Client(address.and_then(|address| address.parse().ok()).unwrap_or_else(|| panic!("no address: {url:?}")))
    }

    fn ask(&mut self, post: &Post) -> Value {
        writeln!(self.0.stdin.as_mut().expect("it is piped"), "{}", post.body).expect("it reads");
        serde_json::from_str(&self.line()).expect("JSON")
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // On Unix cargo has become the example.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// SEC-02: bearer tokens are told apart, and a caller without one gets nowhere.
#[tokio::test]
async fn http_has_a_principal_for_each_bearer_token() {
    let mut example = Example::start("http", &["0"]);
    let client = example.client();
    let call = Post::new(1, "tools/call", json!({ "name": "brew", "arguments": { "minutes": 3 } }));
    assert_eq!(client.send(&call).await.status, 401);
    assert_eq!(client.send(&call.clone().bearer("guessed")).await.status, 401);
    let task = client.send(&call.bearer("s3cret-of-alice")).await.result();
    let get = Post::new(2, "tasks/get", json!({ "taskId": task["taskId"] }));
    assert_eq!(client.send(&get.clone().bearer("s3cret-of-alice")).await.result()["status"], "working");
    assert_eq!(client.send(&get.bearer("s3cret-of-bob")).await.error(), (200, -32602, json!(2)));
}

/// What the engine measures is there as Prometheus text: two naps, of which the second waited for the first, and one client
/// that takes a plain result.
#[tokio::test]
async fn metrics_are_served_as_prometheus_text() {
    let mut example = Example::start("metrics", &["0"]);
    let client = example.client();
    let mut ids = Vec::new();
    for id in 0..2 {
        let call = Post::new(id, "tools/call", json!({ "name": "nap", "arguments": { "milliseconds": 200 } }));
        ids.push(client.send(&call).await.result()["taskId"].take());
    }
    for task_id in ids {
        let get = Post::new(2, "tasks/get", json!({ "taskId": task_id }));
        while client.send(&get).await.result()["status"] != "completed" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    let text = get_text(client, "/metrics").await;
    for line in [
        "# TYPE mcp_tasks_created_total counter",
        "mcp_tasks_created_total 2",
        "mcp_tasks_settled_total{status=\"completed\"} 2",
        "mcp_tasks_running 0",
        "mcp_tasks_queue_seconds_bucket{le=\"0.001\"} 1",
        "mcp_tasks_queue_seconds_bucket{le=\"+Inf\"} 2",
        "mcp_tasks_run_seconds_bucket{le=\"0.1\"} 0",
        "mcp_tasks_store_seconds_count{call=\"create\",outcome=\"ok\"} 2",
    ] {
        assert!(text.lines().any(|found| found == line), "no `{line}` in\n{text}");
    }
}

/// What a server has at a path.
async fn get_text(Client(address): Client, path: &str) -> String {
    let mut socket = tokio::net::TcpStream::connect(address).await.expect("the server listens");
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.expect("the server reads");
    let mut text = String::new();
    socket.read_to_string(&mut text).await.expect("an answer");
    text
}

#[tokio::test]
async fn conformance_serves_the_port_that_it_is_told() {
    let mut example = Example::start("conformance", &["--port", "0"]);
    let greet = Post::new(1, "tools/call", json!({ "name": "greet", "arguments": { "name": "you" } }));
    let greeting = example.client().send(&greet).await.result();
    assert_eq!((&greeting["resultType"], &greeting["content"][0]["text"]), (&json!("complete"), &json!("Hello, you!")));
}

/// One line above a tool and one where the server is served make a task of one tool, and leave the other alone.
#[test]
fn existing_rmcp_server_has_one_task_tool() {
    let mut example = Example::start("existing_rmcp_server", &[]);
    let mut call = |id: i32, tool: &str| {
        let book = json!({ "title": "Emma", "pages": 100 });
        example.ask(&Post::new(id, "tools/call", json!({ "name": tool, "arguments": book })))["result"].take()
    };
    assert_eq!(call(1, "estimate")["content"][0]["text"], "1 s");
    let task = call(2, "translate");
    assert_eq!(task["resultType"], "task");
    let get = Post::new(3, "tasks/get", json!({ "taskId": task["taskId"] }));
    let result = loop {
        let mut state = example.ask(&get)["result"].take();
        if state["status"] == "completed" {
            break state["result"].take();
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(result["content"][0]["text"], "Emma, in another language");
}

/// The id of a task that has asked for approval.
fn asks_for_approval(example: &mut Example) -> Value {
    let call = Post::new(1, "tools/call", json!({ "name": "release", "arguments": { "version": "1.4.0" } }));
    let mut task = example.ask(&call)["result"].take();
    assert_eq!(task["resultType"], "task", "{task}");
    let asking = reach(example, &task["taskId"], "input_required");
    let question = &asking["inputRequests"]["approval"]["params"];
    assert_eq!((&question["mode"], &question["message"]), (&json!("form"), &json!("Release 1.4.0 to everybody?")));
    assert_eq!(question["requestedSchema"]["required"], json!(["approve"]));
    assert_eq!(releases(example), "1.4.0");
    task["taskId"].take()
}

/// Polls a task until it is in a state. Each poll waits for its answer.
fn reach(example: &mut Example, task_id: &Value, status: &str) -> Value {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let task = example.ask(&Post::new(2, "tasks/get", json!({ "taskId": task_id })))["result"].take();
        if task["status"] == status {
            return task;
        }
        assert!(Instant::now() < deadline, "it does not become {status}: {task}");
    }
}

/// What still waits for approval.
fn releases(example: &mut Example) -> Value {
    let call = Post::new(3, "tools/call", json!({ "name": "waiting", "arguments": {} }));
    example.ask(&call)["result"]["content"][0]["text"].take()
}

/// Nothing waits any more: at the latest when the tool, whose task has ended already, has been dropped.
fn leaves_nothing(example: &mut Example) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while releases(example) != "" {
        assert!(Instant::now() < deadline, "it keeps its place");
    }
}

/// Case 18: accepted, declined and dismissed are three outcomes, and an acceptance may say yes or no.
#[test]
fn approval_tells_the_three_actions_apart() {
    let mut example = Example::start("approval", &[]);
    for (answer, outcome) in [
        (json!({ "action": "accept", "content": { "approve": true } }), "1.4.0 is out"),
        (
            json!({ "action": "accept", "content": { "approve": false, "reason": "it is Friday" } }),
            "1.4.0 was refused: it is Friday",
        ),
        (json!({ "action": "decline" }), "1.4.0 is not out: the user would not decide"),
        (json!({ "action": "cancel" }), "1.4.0 is not out: the form was closed; ask again later"),
    ] {
        let task_id = asks_for_approval(&mut example);
        let responses = json!({ "taskId": task_id, "inputResponses": { "approval": answer } });
        let updated = example.ask(&Post::new(4, "tasks/update", responses));
        assert_eq!(updated["result"], json!({ "resultType": "complete" }));
        let done = reach(&mut example, &task_id, "completed");
        assert_eq!(done["result"]["content"][0]["text"], outcome);
        leaves_nothing(&mut example);
    }
}

/// CAN-05: cancelled while it waits, the tool leaves nothing behind, and no later answer counts.
#[test]
fn approval_can_be_cancelled() {
    let mut example = Example::start("approval", &[]);
    let task_id = asks_for_approval(&mut example);
    let cancelled = example.ask(&Post::new(4, "tasks/cancel", json!({ "taskId": task_id })));
    assert_eq!(cancelled["result"], json!({ "resultType": "complete" }));
    let cancelled = reach(&mut example, &task_id, "cancelled");
    let late = json!({ "approval": { "action": "accept", "content": { "approve": true } } });
    example.ask(&Post::new(5, "tasks/update", json!({ "taskId": task_id, "inputResponses": late })));
    assert_eq!(reach(&mut example, &task_id, "cancelled"), cancelled);
    leaves_nothing(&mut example);
}

/// Case 7: a server is killed in the middle of a task and started again; the same client sees the task end.
#[test]
fn a_task_outlives_the_kill_of_its_server() {
    let mut restart = Command::new(env!("CARGO"));
    restart.args(["run", "--quiet", "--example", "restart"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let told = restart.output().expect("cargo runs it");
    let text = String::from_utf8(told.stdout).expect("text");
    assert!(told.status.success(), "{text}\n{}", String::from_utf8_lossy(&told.stderr));
    assert_eq!(text.lines().last(), Some("counted to 8 in 2 runs"), "{text}");
    // The run that was killed has said something before, and only the second one says something after.
    let killed = text.lines().position(|line| line.contains("the server is killed")).expect("it is killed");
    let lines: Vec<&str> = text.lines().collect();
    let all = |said: &[&str], run: &str| said.iter().all(|line| line.contains("counted") || line.ends_with(run));
    assert!(all(&lines[1..killed], "in run 1"), "{text}");
    assert!(all(&lines[killed + 1..], "in run 2"), "{text}");
}
