//! Tools that do what a test needs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_tasks::{
    CallInfo, Elicited, State, TaskContext, TaskServer, Tasks, ToolError, ToolSet, engine::Engine,
    error::TaskContextError, input::InputKind, task_tool,
};
use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Notify, Semaphore};

/// What tests and tools tell each other.
pub struct Signals {
    /// Lets one tool that waits for it go on.
    pub go: Semaphore,
    /// How many tools ran into their first line.
    pub started: AtomicUsize,
    /// How many tools were dropped or ended.
    pub ended: AtomicUsize,
    /// That one of the two has changed.
    pub changed: Notify,
}

impl Default for Signals {
    fn default() -> Self {
        Self { go: Semaphore::new(0), started: AtomicUsize::new(0), ended: AtomicUsize::new(0), changed: Notify::new() }
    }
}

impl Signals {
    pub fn started(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }

    pub fn ended(&self) -> usize {
        self.ended.load(Ordering::SeqCst)
    }

    /// Counts a run, from now to where the guard is dropped.
    pub fn run(self: &Arc<Self>) -> Running {
        self.started.fetch_add(1, Ordering::SeqCst);
        self.changed.notify_waiters();
        Running(Arc::clone(self))
    }

    /// Resolves once so many tools have ended.
    pub async fn all_ended(&self, count: usize) {
        let waited = async {
            while self.ended() < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waited).await.expect("the tools end");
    }

    pub async fn all_started(&self, count: usize) {
        let waited = async {
            while self.started() < count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waited).await.expect("the tools start");
    }
}

pub struct Running(Arc<Signals>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }
}

async fn go(signals: &Signals) {
    signals.go.acquire().await.expect("it is never closed").forget();
}

/// Says it back.
#[task_tool]
async fn echo(text: String, signals: State<Arc<Signals>>) -> String {
    let _run = signals.run();
    text
}

fn never(_: &CallInfo<'_>) -> bool {
    false
}

/// Greets, at once.
#[task_tool(when = never)]
async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

/// Waits until the test says go.
#[task_tool]
async fn wait(task: TaskContext, signals: State<Arc<Signals>>) -> Result<String, ToolError> {
    let _run = signals.run();
    task.status("waiting").await?;
    go(&signals).await;
    Ok("over".into())
}

/// Reports each time the test says go.
#[task_tool]
async fn steps(count: u64, task: TaskContext, signals: State<Arc<Signals>>) -> Result<u64, ToolError> {
    for n in 1..=count {
        go(&signals).await;
        task.progress(n, count).await?;
    }
    Ok(count)
}

/// Reports without a pause.
#[task_tool]
async fn chatter(count: u64, task: TaskContext) -> Result<u64, ToolError> {
    for n in 1..=count {
        task.status(format!("{n}")).await?;
    }
    Ok(count)
}

/// Ends in its own way when it is cancelled.
#[task_tool(on_cancel = "signal")]
async fn polite(task: TaskContext, signals: State<Arc<Signals>>) -> Result<String, ToolError> {
    let _run = signals.run();
    task.cancelled().await;
    let asked = task.ask(InputKind::FormElicitation, "late", bytes::Bytes::from_static(b"{}")).await;
    go(&signals).await;
    Ok(format!("told to stop; {}", matches!(asked, Err(TaskContextError::Cancelled))))
}

/// Ends with an error when it is cancelled: of its own, or one of the protocol.
#[task_tool(on_cancel = "signal")]
async fn gives_up(protocol: bool, task: TaskContext, signals: State<Arc<Signals>>) -> Result<String, ToolError> {
    let _run = signals.run();
    task.cancelled().await;
    Err(if protocol { ToolError::protocol(-32055, "stopped", None) } else { ToolError::new("stopped") })
}

/// Only runs as a task.
#[task_tool(mode = "required")]
async fn required(signals: State<Arc<Signals>>) -> Result<String, ToolError> {
    let _run = signals.run();
    Err(ToolError::new("it did not work"))
}

/// Runs inside the request for a second.
#[task_tool(promote_after = "1s")]
async fn promoted(milliseconds: u64, task: TaskContext, signals: State<Arc<Signals>>) -> String {
    let _run = signals.run();
    task.sleep(Duration::from_millis(milliseconds)).await;
    format!("took {milliseconds}")
}

/// Panics.
#[task_tool]
async fn panics() -> String {
    panic!("a secret");
}

/// Fails with a JSON-RPC error.
#[task_tool]
async fn breaks() -> Result<String, ToolError> {
    Err(ToolError::protocol(-32055, "broken", Some(json!({ "why": "so" }))))
}

/// Kept for ever.
#[task_tool(ttl = "unlimited")]
async fn unlimited() -> String {
    "kept".into()
}

/// Lives for ten seconds.
#[task_tool(ttl = "10s")]
async fn short_lived(task: TaskContext, signals: State<Arc<Signals>>) -> String {
    let _run = signals.run();
    task.sleep(Duration::from_secs(3600)).await;
    "late".into()
}

/// Ends at once, and lives for ten seconds.
#[task_tool(ttl = "10s")]
async fn short_kept() -> String {
    "soon gone".into()
}

/// Answers with all that a result can have.
#[task_tool]
async fn rich() -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text("no")]);
    result.structured_content =
        Some(json!({ "large": 9_007_199_254_740_993_u64, "nested": [[[{ "a": null }]]], "u": "\u{0}" }));
    let mut meta = MetaObject::new();
    meta.0.insert("rs.example/key".into(), json!({ "a": [1, 2] }));
    result.meta = Some(meta);
    result
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// Your name.
    name: String,
}

/// Asks for a name.
#[task_tool]
async fn ask(task: TaskContext) -> Result<String, ToolError> {
    Ok(match task.elicit::<Name>("name", "Who are you?").await? {
        Elicited::Accepted(Name { name }) => format!("Hello, {name}!"),
        Elicited::Declined => "declined".into(),
        Elicited::Dismissed => "dismissed".into(),
    })
}

/// Asks two things at once, and then one of them again.
#[task_tool]
async fn ask_more(task: TaskContext) -> Result<String, ToolError> {
    let (first, second) =
        tokio::try_join!(task.elicit::<Name>("first", "First?"), task.elicit::<Name>("second", "Second?"))?;
    let again = task.elicit::<Name>("first", "First?").await?;
    let name = |answer: Elicited<Name>| answer.accepted().map_or_else(|| "-".to_owned(), |answer| answer.name);
    Ok(format!("{} {} {}", name(first), name(second), name(again)))
}

/// Asks for a name, and stops waiting for it after a second.
#[task_tool]
async fn ask_briefly(task: TaskContext, signals: State<Arc<Signals>>) -> Result<String, ToolError> {
    tokio::select! {
        answer = task.elicit::<Name>("name", "Who are you?") => drop(answer?),
        () = task.sleep(Duration::from_secs(1)) => {}
    }
    go(&signals).await;
    Ok("went on".into())
}

/// Wants the client's model.
#[task_tool]
async fn sample(task: TaskContext) -> String {
    let request = bytes::Bytes::from_static(br#"{"method":"sampling/createMessage"}"#);
    match task.ask(InputKind::Sampling, "model", request).await {
        Ok(_) => "asked".into(),
        Err(error) => error.to_string(),
    }
}

fn answered(call: &CallInfo<'_>) -> bool {
    call.has_answers()
}

/// Asks before there is a task, and works as one.
#[task_tool(when = answered)]
async fn ask_first(task: TaskContext, signals: State<Arc<Signals>>) -> Result<String, ToolError> {
    let _run = signals.run();
    match task.elicit::<Name>("name", "Who are you?").await? {
        Elicited::Accepted(Name { name }) => Ok(format!("Hello, {name}! ({})", task.is_task())),
        _ => Err(ToolError::new("nobody")),
    }
}

/// Asks two things at once, and a third when it has waited long enough for both.
#[task_tool(when = answered)]
async fn ask_on(task: TaskContext, signals: State<Arc<Signals>>) -> Result<String, ToolError> {
    let both = async { tokio::try_join!(task.elicit::<Name>("a", "A?"), task.elicit::<Name>("b", "B?")) };
    tokio::select! {
        both = both => drop(both?),
        () = go(&signals) => {}
    }
    let name = task.elicit::<Name>("c", "C?").await?.accepted();
    Ok(name.map_or_else(|| "-".to_owned(), |answer| answer.name))
}

/// Takes one number.
#[task_tool]
async fn number(n: u32, signals: State<Arc<Signals>>) -> u32 {
    let _run = signals.run();
    n
}

/// Blocks its thread until the test says go.
#[task_tool]
async fn block(signals: State<Arc<Signals>>) -> String {
    let _run = signals.run();
    while signals.go.try_acquire().is_err() {
        std::thread::sleep(Duration::from_millis(1));
    }
    "unblocked".into()
}

pub fn handler(engine: &Engine, signals: Arc<Signals>) -> Tasks<ToolSet> {
    let server = TaskServer::new("test", "1")
        .engine(engine)
        .state(signals)
        .tool::<echo>()
        .tool::<greet>()
        .tool::<wait>()
        .tool::<steps>()
        .tool::<chatter>()
        .tool::<polite>()
        .tool::<gives_up>()
        .tool::<required>()
        .tool::<promoted>()
        .tool::<panics>()
        .tool::<breaks>()
        .tool::<unlimited>()
        .tool::<short_lived>()
        .tool::<short_kept>()
        .tool::<rich>()
        .tool::<ask>()
        .tool::<ask_more>()
        .tool::<ask_briefly>()
        .tool::<sample>()
        .tool::<ask_first>()
        .tool::<ask_on>()
        .tool::<number>()
        .tool::<block>();
    server.build().expect("the tools are all right").handler()
}
