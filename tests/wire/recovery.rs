//! Tasks that outlive the server that ran them: two servers, one after the other or side by side, on one store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_tasks::{
    Elicited, State, TaskContext, TaskServer, Tasks, ToolError, ToolSet,
    clock::ManualClock,
    engine::Engine,
    handler::TaskHandler,
    limits::Quota,
    principal::Principal,
    store::{Lease, WorkerId},
    task::{NewTask, OnRestart, Target},
    task_handler,
    task_id::TaskId,
    task_tool,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::wrapper::Parameters,
    model::{ListToolsResult, PaginatedRequestParams},
    service::RequestContext,
    tool, tool_handler, tool_router,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    stores::{self, Fresh},
    support::{Client, Wire, World},
    tools::Signals,
};

/// How long a lease is, unless a builder is told otherwise.
const LEASE: Duration = Duration::from_secs(30);

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// Your name.
    name: String,
}

/// Asks, takes a step, waits for the test, and says what happened.
#[task_tool(on_restart = "rerun", max_attempts = 2)]
async fn resumed(greeting: String, task: TaskContext, signals: State<Arc<Signals>>) -> Result<String, ToolError> {
    let _run = signals.run();
    let attempt = task.attempt();
    let first = task.step("first", async { attempt }).await?;
    let Elicited::Accepted(Name { name }) = task.elicit::<Name>("name", "Who are you?").await? else {
        return Err(ToolError::new("nobody"));
    };
    task.status("greeting").await?;
    signals.go.acquire().await.expect("it is never closed").forget();
    Ok(format!("{greeting}, {name}! Step of run {first}, end of run {}.", task.attempt()))
}

/// The same name and another version.
#[task_tool(name = "resumed", on_restart = "rerun", version = "2")]
async fn resumed_2(task: TaskContext) -> String {
    format!("version 2, run {}", task.attempt())
}

/// Must not run twice.
#[task_tool]
async fn once(task: TaskContext, signals: State<Arc<Signals>>) -> String {
    let _run = signals.run();
    task.sleep(Duration::from_secs(3_600)).await;
    "once".into()
}

fn server(engine: &Engine, signals: Arc<Signals>) -> Tasks<ToolSet> {
    let server = TaskServer::new("test", "1").engine(engine).state(signals);
    server.tool::<resumed>().tool::<once>().build().expect("the tools are all right").handler()
}

fn server_2(engine: &Engine, _: Arc<Signals>) -> Tasks<ToolSet> {
    let server = TaskServer::new("test", "2").engine(engine);
    server.tool::<resumed_2>().build().expect("the tools are all right").handler()
}

/// A store, and a clock for all who use it.
#[derive(Clone)]
struct Shared {
    clock: ManualClock,
    fresh: Fresh,
    signals: Arc<Signals>,
}

impl Shared {
    async fn new() -> Self {
        let clock = ManualClock::default();
        let fresh = stores::fresh(&clock).await;
        Self { clock, fresh, signals: Arc::default() }
    }

    async fn node<H: ServerHandler>(
        &self,
        wire: Wire,
        server: impl FnOnce(&Engine, Arc<Signals>) -> Tasks<H>,
    ) -> World<H> {
        let store = self.fresh.reopened(&self.clock).await;
        let (clock, signals) = (self.clock.clone(), Arc::clone(&self.signals));
        let shared = Arc::clone(&self.signals);
        World::on(store, clock, wire, |builder| builder, signals, move |engine| server(engine, shared)).await
    }

    /// A task of alice's whose worker has died.
    async fn orphan(&self, target: Target, arguments: &'static str, on_restart: OnRestart) -> String {
        let task = NewTask::new(Principal::new("alice"), Arc::new(target), Bytes::from_static(arguments.as_bytes()));
        let task = NewTask { on_restart, ..task };
        let (id, dead) = (TaskId::random().expect("random bytes"), Lease { worker: WorkerId(1), period: LEASE });
        self.fresh.store.create(id, task, Some(dead), &Quota::UNLIMITED).await.expect("created");
        id.to_string()
    }
}

/// Calls a tool, and answers its question.
async fn call_and_answer(alice: &Client) -> String {
    let id = alice.task("resumed", json!({ "greeting": "Hello" })).await;
    alice.reach(&id, "input_required").await;
    alice.update(&id, json!({ "name": { "action": "accept", "content": { "name": "Ada" } } })).await;
    loop {
        if alice.get(&id).await["statusMessage"] == "greeting" {
            return id;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

on_every_wire! {
    /// Case 9: a server that shuts down lets its tasks go, and one that is there already goes on with them at once, with the
    /// recorded step and answer, without the clock's moving. The same client sees the end.
    async fn another_server_goes_on_at_once(wire: Wire) {
        let shared = Shared::new().await;
        let (first, second) = (shared.node(wire, server).await, shared.node(wire, server).await);
        let id = call_and_answer(&first.client("alice")).await;
        assert_eq!(first.engine.shutdown(Duration::ZERO).await, 0);
        shared.signals.all_started(2).await;
        shared.signals.go.add_permits(1);
        let done = second.client("alice").reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada! Step of run 1, end of run 2.");
        assert_eq!(shared.signals.started(), 2);
    }

    /// Case 7: a server that starts again goes on with the tasks of its earlier life as soon as it is there.
    async fn a_server_that_starts_again_goes_on(wire: Wire) {
        let shared = Shared::new().await;
        let first = shared.node(wire, server).await;
        let id = call_and_answer(&first.client("alice")).await;
        assert_eq!(first.engine.shutdown(Duration::ZERO).await, 0);
        drop(first);
        let second = shared.node(wire, server).await;
        shared.signals.go.add_permits(1);
        let done = second.client("alice").reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada! Step of run 1, end of run 2.");
    }

    /// Case 7, TSK-10: the tasks of a server that died end when their lease does: one that may not run again has failed and
    /// says why, for whoever asks; the other runs again.
    async fn tasks_of_a_dead_server_end(wire: Wire) {
        let shared = Shared::new().await;
        let once = shared.orphan(Target::new("tools/call", "once", ""), "{}", OnRestart::Fail).await;
        let rerun = OnRestart::Rerun { max_attempts: 2 };
        let again = shared.orphan(Target::new("tools/call", "resumed", ""), r#"{"greeting":"Hi"}"#, rerun).await;
        let node = shared.node(wire, server).await;
        let alice = node.client("alice");
        assert_eq!(alice.get(&once).await["status"], "working");
        node.advance(LEASE, 2).await;
        let failed = alice.reach(&once, "failed").await;
        assert_eq!(failed["statusMessage"], "the server restarted while the task was running");
        assert_eq!(failed["error"]["code"], -32603);
        // A client that was lost with its server declared nothing that is known, so that it cannot be asked.
        let done = alice.reach(&again, "completed").await;
        assert_eq!(done["result"]["isError"], true, "{done}");
        assert_eq!(shared.signals.started(), 1);
    }

    /// A tool is started as often as it says, and no more.
    async fn attempts_are_limited(wire: Wire) {
        let shared = Shared::new().await;
        let first = shared.node(wire, server).await;
        let id = call_and_answer(&first.client("alice")).await;
        first.engine.shutdown(Duration::ZERO).await;
        let second = shared.node(wire, server).await;
        shared.signals.all_started(2).await;
        second.engine.shutdown(Duration::ZERO).await;
        let third = shared.node(wire, server).await;
        let failed = third.client("alice").reach(&id, "failed").await;
        assert_eq!(failed["statusMessage"], "the server restarted while the task was running");
        assert_eq!(shared.signals.started(), 2);
    }

    /// Programs of two versions share one store: each goes on with tasks of its own version alone.
    async fn each_version_takes_its_own(wire: Wire) {
        let shared = Shared::new().await;
        let rerun = OnRestart::Rerun { max_attempts: 3 };
        let old = shared.orphan(Target::new("tools/call", "resumed", ""), r#"{"greeting":"Hi"}"#, rerun).await;
        let new = shared.orphan(Target::new("tools/call", "resumed", "2"), "{}", rerun).await;
        let second = shared.node(wire, server_2).await;
        second.advance(LEASE, 2).await;
        let alice = second.client("alice");
        let done = alice.reach(&new, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "version 2, run 2");
        assert_eq!(alice.get(&old).await["status"], "working");
        let first = shared.node(wire, server).await;
        first.client("alice").reach(&old, "completed").await;
    }

    /// A handler of rmcp's own style takes part: its tools run again with their arguments.
    async fn a_wrapped_handler_goes_on(wire: Wire) {
        let shared = Shared::new().await;
        let rerun = OnRestart::Rerun { max_attempts: 3 };
        let id = shared.orphan(Target::new("tools/call", "shout", "7"), r#"{"word":"hey"}"#, rerun).await;
        let node = shared.node(wire, |engine, _| Tasks::new(Rmcp, engine)).await;
        node.advance(LEASE, 2).await;
        let done = node.client("alice").reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "HEY 2");
    }

    /// A handler that is gone takes part no more, and does not stand in the way of one that is there.
    async fn a_handler_that_is_gone_takes_no_part(wire: Wire) {
        let shared = Shared::new().await;
        let node = shared.node(wire, server).await;
        drop(Tasks::new(Rmcp, &node.engine));
        let rerun = OnRestart::Rerun { max_attempts: 3 };
        let id = shared.orphan(Target::new("tools/call", "shout", "7"), r#"{"word":"hey"}"#, rerun).await;
        node.advance(LEASE, 2).await;
        node.advance(Duration::from_secs(1), 2).await;
        assert_eq!(node.client("alice").get(&id).await["status"], "working");
        let _there = Tasks::new(Rmcp, &node.engine);
        node.advance(Duration::from_secs(1), 2).await;
        node.client("alice").reach(&id, "completed").await;
    }
}

/// A handler as rmcp's users write it.
#[derive(Clone)]
struct Rmcp;

#[derive(Deserialize, JsonSchema)]
struct Word {
    word: String,
}

#[tool_router]
impl Rmcp {
    /// Shouts.
    #[task_tool(on_restart = "rerun", version = "7")]
    #[tool]
    async fn shout(&self, Parameters(Word { word }): Parameters<Word>, task: TaskContext) -> String {
        format!("{} {}", word.to_uppercase(), task.attempt())
    }
}

#[tool_handler]
impl ServerHandler for Rmcp {}

/// The same with the attribute on the handler, which names its engine.
#[derive(Clone)]
struct Attributed {
    engine: Engine,
}

#[tool_router]
impl Attributed {
    /// Shouts.
    #[task_tool(on_restart = "rerun")]
    #[tool]
    async fn shout(&self, Parameters(Word { word }): Parameters<Word>, task: TaskContext) -> String {
        format!("{} {}", word.to_uppercase(), task.attempt())
    }
}

#[task_handler(engine = self.engine)]
#[tool_handler]
impl ServerHandler for Attributed {}

/// A handler under `#[task_handler]`, of which rmcp makes one for each request, takes part once it is told to or is served;
/// after a shutdown nothing keeps it.
#[tokio::test]
async fn a_handler_with_the_attribute_goes_on() {
    for told in [true, false] {
        let shared = Shared::new().await;
        let rerun = OnRestart::Rerun { max_attempts: 3 };
        let id = shared.orphan(Target::new("tools/call", "shout", ""), r#"{"word":"hey"}"#, rerun).await;
        let node = shared.node(Wire::Stdio, server).await;
        let handler = Attributed { engine: node.engine.clone() };
        if told {
            handler.recover_tasks();
        } else {
            drop(handler.get_info());
        }
        drop(handler);
        node.advance(LEASE, 2).await;
        let done = node.client("alice").reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "HEY 2");
        node.engine.shutdown(Duration::ZERO).await;
    }
}

/// A handler that reads what only a request over HTTP has.
#[derive(Clone)]
struct Unwrapping;

impl ServerHandler for Unwrapping {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        context.extensions.get::<http::request::Parts>().expect("a request over HTTP");
        Ok(ListToolsResult::default())
    }
}

/// A handler whose list has always one more page.
#[derive(Clone, Default)]
struct Endless(Arc<AtomicUsize>);

impl ServerHandler for Endless {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let asked = self.0.fetch_add(1, Ordering::SeqCst);
        assert!(asked < 1_000_000, "it is asked for ever");
        Ok(ListToolsResult { next_cursor: Some(asked.to_string()), ..ListToolsResult::default() })
    }
}

/// A handler that cannot list its tools without a client, and one whose list has no end, keep no other's tasks from running
/// again, and end no sweep.
#[tokio::test]
async fn a_handler_that_cannot_list_its_tools_is_passed_over() {
    let shared = Shared::new().await;
    let node = shared.node(Wire::Stdio, |engine, _| Tasks::new(Rmcp, engine)).await;
    let _unwrapping = Tasks::new(Unwrapping, &node.engine);
    let _endless = Tasks::new(Endless::default(), &node.engine);
    // Each is called at once when it is added.
    node.advance(Duration::from_secs(1), 2).await;
    let rerun = OnRestart::Rerun { max_attempts: 3 };
    let id = shared.orphan(Target::new("tools/call", "shout", "7"), r#"{"word":"hey"}"#, rerun).await;
    node.advance(LEASE, 2).await;
    let done = node.client("alice").reach(&id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "HEY 2");
}
