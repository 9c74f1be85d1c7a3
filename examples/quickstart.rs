//! A server with two task tools, and a client that talks to it, in one process: `cargo run --example quickstart`.
//!
//! The two are joined by a pipe that carries MCP messages, one line of JSON each, as standard input and output would. The
//! server is all that you write; the client is spelled out to show what goes over the wire.

use std::{
    error::Error,
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use mcp_tasks::{Elicited, TaskContext, TaskServer, ToolError, task_tool};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};

// ---- The server ----

/// Adds numbers, one every so often.
#[task_tool(ttl = "10m", poll_interval = "100ms")]
async fn slow_sum(
    /// What to add.
    numbers: Vec<i64>,
    task: TaskContext,
) -> Result<i64, ToolError> {
    let total = numbers.len() as u64;
    let mut sum: i64 = 0;
    for (done, number) in (1..).zip(numbers) {
        task.sleep(Duration::from_millis(300)).await;
        sum = sum.checked_add(number).ok_or("the sum is too large")?;
        task.progress(done, total).await?;
    }
    Ok(sum)
}

/// What a cake can be covered with.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Icing {
    Lemon,
    Chocolate,
}

/// The form that is shown half-way.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Topping {
    /// The icing.
    icing: Icing,
    /// How many candles?
    #[schemars(range(max = 100))]
    candles: Option<u8>,
}

/// Bakes a cake, and asks half-way what goes on top.
#[task_tool(ttl = "10m", poll_interval = "100ms")]
async fn bake(
    /// How many layers the cake has.
    layers: u32,
    task: TaskContext,
) -> Result<String, ToolError> {
    let total = u64::from(layers) + 1;
    for layer in 1..=layers {
        task.progress(layer.into(), total).await?;
        task.status(format!("layer {layer} is in the oven")).await?;
        task.sleep(Duration::from_millis(600)).await;
    }
    let Elicited::Accepted(topping) = task.elicit::<Topping>("topping", "The cake is done. What goes on top?").await?
    else {
        return Ok(format!("a plain cake of {layers} layers"));
    };
    task.progress(total, total).await?;
    task.status("icing it").await?;
    task.sleep(Duration::from_millis(600)).await;
    let candles = topping.candles.unwrap_or(0);
    Ok(format!("a cake of {layers} layers with {:?} icing and {candles} candles", topping.icing))
}

fn server() -> TaskServer {
    TaskServer::new("bakery", "1.0").in_memory().tool::<slow_sum>().tool::<bake>().form::<Topping>()
}

// ---- The client ----

/// Sends requests and prints what happens.
struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    last_id: u64,
    screen: Screen,
}

type Outcome<T> = Result<T, Box<dyn Error>>;

impl Client {
    fn new(pipe: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(pipe);
        Self { lines: BufReader::new(reader).lines(), writer, last_id: 0, screen: Screen::new() }
    }

    /// One request and its result.
    async fn request(&mut self, method: &str, mut params: Value) -> Outcome<Value> {
        self.last_id += 1;
        // Each request says what the client can do: a server only makes tasks for those that declare them.
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "quickstart", "version": "1.0"},
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {"form": {}},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
            },
        });
        let message = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params});
        self.writer.write_all(format!("{message}\n").as_bytes()).await?;
        loop {
            let line = self.lines.next_line().await?.ok_or("the server has gone")?;
            let mut answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == self.last_id {
                return match answer["error"].take() {
                    Value::Null => Ok(answer["result"].take()),
                    error => Err(format!("{method}: {error}").into()),
                };
            }
        }
    }

    /// Calls a tool and follows its task to the end.
    async fn call(&mut self, tool: &str, arguments: Value) -> Outcome<()> {
        self.screen.line("call", &format!("{tool} {arguments}"));
        let mut task = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        let id = task["taskId"].clone();
        self.screen.line("task", &format!("{} is {}", text(&id), text(&task["status"])));
        let mut status = task["status"].clone();
        loop {
            let pause = task["pollIntervalMs"].as_u64().unwrap_or(1000);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            task = self.request("tasks/get", json!({"taskId": id})).await?;
            if task["status"] != status {
                status = task["status"].clone();
                self.screen.line("status", text(&status));
            }
            match text(&status) {
                "working" => self.screen.progress(&task),
                "input_required" => self.answer(&id, &task["inputRequests"]).await?,
                "completed" => return self.completed(&task["result"]),
                _ => return Err(format!("the task ended: {task}").into()),
            }
        }
    }

    /// Answers what the server asks; a real client would ask its user.
    async fn answer(&mut self, id: &Value, requests: &Value) -> Outcome<()> {
        for (key, request) in requests.as_object().into_iter().flatten() {
            let params = &request["params"];
            self.screen.line("asks", &format!("{key}: {}", text(&params["message"])));
            self.screen.line("form", &params["requestedSchema"]["properties"].to_string());
            tokio::time::sleep(Duration::from_millis(800)).await;
            let content = json!({"icing": "lemon", "candles": 7});
            self.screen.line("answer", &content.to_string());
            let responses = json!({key: {"action": "accept", "content": content}});
            self.request("tasks/update", json!({"taskId": id, "inputResponses": responses})).await?;
        }
        Ok(())
    }

    /// Hangs up, which ends the server; the lines that were printed.
    fn close(self) -> Vec<String> {
        self.screen.told
    }

    fn completed(&mut self, result: &Value) -> Outcome<()> {
        let told = text(&result["content"][0]["text"]);
        self.screen.line("result", told);
        self.screen.line("", "");
        Ok(())
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

/// Lines, and below them one that is written over while the task goes on.
struct Screen {
    start: Instant,
    terminal: bool,
    shown: String,
    told: Vec<String>,
}

impl Screen {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            terminal: std::io::stdout().is_terminal(),
            shown: String::new(),
            told: Vec::new(),
        }
    }

    fn line(&mut self, what: &str, said: &str) {
        self.wipe();
        if what.is_empty() {
            println!();
        } else {
            println!("{:4.1}s  {what:<7} {said}", self.start.elapsed().as_secs_f32());
            self.told.push(format!("{what} {said}"));
        }
    }

    /// How far the task says it has come: in `_meta` as numbers, and as a message for whoever reads it.
    fn progress(&mut self, task: &Value) {
        let progress = &task["_meta"]["rs.mcp-tasks/progress"];
        let (Some(done), Some(total)) = (progress["done"].as_u64(), progress["total"].as_u64()) else { return };
        let filled = usize::try_from(done * 20 / total.max(1)).unwrap_or(0).min(20);
        let bar = format!("[{:-<20}] {}", "#".repeat(filled), text(&task["statusMessage"]));
        if bar != self.shown {
            self.show(bar);
        }
    }

    fn show(&mut self, bar: String) {
        if self.terminal {
            self.wipe();
            print!("       {bar}");
            // A bar that does not show is no reason to stop.
            let _ = std::io::stdout().flush();
        } else {
            println!("       {bar}");
        }
        self.shown = bar;
    }

    fn wipe(&mut self) {
        if self.terminal && !self.shown.is_empty() {
            print!("\r\x1b[2K");
        }
        self.shown.clear();
    }
}

/// Runs server and client; returns the lines that were printed, without their times.
pub async fn run() -> Outcome<Vec<String>> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (read, write) = tokio::io::split(far);
    let serving = tokio::spawn(server().serve_on(read, write));

    let mut client = Client::new(near);
    client.request("server/discover", json!({})).await?;
    client.call("slow_sum", json!({"numbers": [3, 4, 5, 6]})).await?;
    client.call("bake", json!({"layers": 2})).await?;
    let told = client.close();
    serving.await??;
    Ok(told)
}

#[tokio::main]
async fn main() -> Outcome<()> {
    run().await?;
    println!("Read next:");
    println!("  the two fns at the top of examples/quickstart.rs: that is the whole server");
    println!("  cargo doc --open -p mcp-tasks    TaskServer, TaskContext and the arguments of #[task_tool]");
    println!("  examples/existing_rmcp_server.rs the same in a server that you already have");
    Ok(())
}
