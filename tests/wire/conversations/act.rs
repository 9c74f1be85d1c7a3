//! The tools of the fixture: they do what the steps of a conversation say, and remember what they are told.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use mcp_tasks::{
    CallInfo, State, TaskContext, TaskServer, Tasks, ToolError, ToolSet, engine::Engine, input::InputKind, task_tool,
};
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};
use tokio::{sync::mpsc, task::JoinSet};

/// All runs of tools in one conversation, in the order in which they began.
#[derive(Default)]
pub struct Stage {
    runs: Mutex<Vec<Arc<Run>>>,
}

/// One run of a tool, from the outside.
pub struct Run {
    commands: mpsc::UnboundedSender<Command>,
    /// The answers it was given, by key.
    pub has: Mutex<Map<String, Value>>,
    pub is_told: AtomicBool,
    pub is_over: AtomicBool,
}

/// What a tool is to do.
pub enum Command {
    Say(String),
    Ask(String, Value),
    Return(Value),
    Fail(Value),
    Break(String),
}

impl Stage {
    pub fn began(&self) -> usize {
        self.runs.lock().expect("no test panics here").len()
    }

    /// The run that began last.
    pub fn last(&self) -> Option<Arc<Run>> {
        self.runs.lock().expect("no test panics here").last().cloned()
    }

    fn begin(&self, has: Map<String, Value>) -> (Arc<Run>, mpsc::UnboundedReceiver<Command>) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let run = Arc::new(Run {
            commands,
            has: Mutex::new(has),
            is_told: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        });
        self.runs.lock().expect("no test panics here").push(Arc::clone(&run));
        (run, receiver)
    }
}

impl Run {
    pub fn order(&self, command: Command) -> Result<(), String> {
        self.commands.send(command).map_err(|_| "the tool runs no more".to_owned())
    }
}

/// Notes that a run is over, however it ends.
struct Curtain(Arc<Run>);

impl Drop for Curtain {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}

/// Does what it is told, until it is told to end.
async fn act(task: TaskContext, stage: &Stage, has: Map<String, Value>) -> Result<CallToolResult, ToolError> {
    let (run, mut commands) = stage.begin(has);
    let _curtain = Curtain(Arc::clone(&run));
    let mut asked = BTreeMap::new();
    let mut answers = JoinSet::new();
    loop {
        let told = run.is_told.load(Ordering::SeqCst);
        tokio::select! {
            Some(command) = commands.recv() => match command {
                Command::Say(text) => task.status(text).await?,
                Command::Ask(name, request) => drop(answers.spawn(ask(task.clone(), key(&mut asked, name), request))),
                Command::Return(result) => return serde_json::from_value(result).map_err(|error| ToolError::new(error.to_string())),
                Command::Fail(error) => return Err(protocol(&error)),
                Command::Break(text) => panic!("{text}"),
            },
            Some(Ok(Some((key, answer)))) = answers.join_next() => drop(run.has.lock().expect("no test panics here").insert(key, answer)),
            () = task.cancelled(), if !told => run.is_told.store(true, Ordering::SeqCst),
        }
    }
}

/// The name of a question, and the key that it has on the wire.
fn key(asked: &mut BTreeMap<String, u32>, name: String) -> (String, String) {
    let count = asked.entry(name.clone()).or_default();
    *count += 1;
    let key = if *count == 1 { name.clone() } else { format!("{name}#{count}") };
    (name, key)
}

async fn ask(task: TaskContext, (name, key): (String, String), request: Value) -> Option<(String, Value)> {
    let answer = task.ask(InputKind::FormElicitation, name, Bytes::from(request.to_string())).await.ok()?;
    Some((key, serde_json::from_slice(&answer).ok()?))
}

fn protocol(error: &Value) -> ToolError {
    let code = error["code"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or_default();
    ToolError::protocol(code, error["message"].as_str().unwrap_or_default(), error.get("data").cloned())
}

/// Greets, at once.
#[task_tool(when = never)]
async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

fn never(_: &CallInfo<'_>) -> bool {
    false
}

/// Becomes a task where it can.
#[task_tool]
async fn work(what: String, task: TaskContext, stage: State<Arc<Stage>>) -> Result<CallToolResult, ToolError> {
    let _ = what;
    act(task, &stage, Map::new()).await
}

/// Is nothing but a task.
#[task_tool(mode = "required")]
async fn must(task: TaskContext, stage: State<Arc<Stage>>) -> Result<CallToolResult, ToolError> {
    act(task, &stage, Map::new()).await
}

/// Is told of a cancellation.
#[task_tool(on_cancel = "signal")]
async fn told(task: TaskContext, stage: State<Arc<Stage>>) -> Result<CallToolResult, ToolError> {
    act(task, &stage, Map::new()).await
}

/// Lives for ten seconds.
#[task_tool(ttl = "10s")]
async fn brief(task: TaskContext, stage: State<Arc<Stage>>) -> Result<CallToolResult, ToolError> {
    act(task, &stage, Map::new()).await
}

fn answered(call: &CallInfo<'_>) -> bool {
    call.has_answers()
}

/// Asks before there is a task, and works as one.
#[task_tool(when = answered)]
async fn ask_first(task: TaskContext, stage: State<Arc<Stage>>) -> Result<CallToolResult, ToolError> {
    let form = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let params = json!({ "mode": "form", "message": "Who are you?", "requestedSchema": form });
    let request = json!({ "method": "elicitation/create", "params": params });
    let key = "name".to_owned();
    let answer = ask(task.clone(), (key.clone(), key), request).await;
    act(task, &stage, answer.into_iter().collect()).await
}

pub fn handler(engine: &Engine, stage: Arc<Stage>) -> Tasks<ToolSet> {
    let server = TaskServer::new("fixture", "1").engine(engine).state(stage);
    let server =
        server.tool::<greet>().tool::<work>().tool::<must>().tool::<told>().tool::<brief>().tool::<ask_first>();
    server.build().expect("the tools are all right").handler()
}
