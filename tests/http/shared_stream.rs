//! NOT-06: a listen that asks for tasks and for other kinds of notifications.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use mcp_tasks::{
    Tasks,
    clock::SystemClock,
    engine::{Call, Engine, TaskEngine, Work},
    http::TasksLayer,
    principal::Principal,
    store::memory::MemoryStore,
    task::{NewTask, Settlement, Target},
};
use rmcp::{
    ErrorData, ServerHandler,
    model::{ServerCapabilities, ServerConfig, SubscriptionFilter},
    service::SubscriptionContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    client::{Client, Post, Stream},
    server::serve,
};

/// A server whose tools change when it is told so.
#[derive(Clone)]
struct Changing {
    change: Arc<Notify>,
    /// How its listen ends after a change, if it does.
    end: Option<Result<(), ErrorData>>,
}

impl ServerHandler for Changing {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.change.notified() => {}
            }
            context.sink().notify_tool_list_changed().await.expect("it was accepted");
            if let Some(end) = self.end.clone() {
                return end;
            }
        }
    }
}

struct World {
    client: Client,
    config: StreamableHttpServerConfig,
    change: Arc<Notify>,
    finish: Arc<Notify>,
    task: String,
    _engine: Engine,
}

impl World {
    /// With one task, which goes on until `finish`.
    async fn new(end: Option<Result<(), ErrorData>>) -> Self {
        let clock = Arc::new(SystemClock);
        let engine = Engine::builder(Arc::new(MemoryStore::new(clock.clone())), clock).start().expect("random bytes");
        let (change, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let handler = Changing { change: change.clone(), end };
        let config = StreamableHttpServerConfig::default();
        let tasks = Tasks::new(handler, &engine);
        let factory = move || Ok::<_, io::Error>(tasks.clone());
        let service = StreamableHttpService::new(factory, Arc::new(LocalSessionManager::default()), config.clone());
        let layer = TasksLayer::new(&engine);
        let client = serve(Router::new().route_service("/mcp", layer.around(service))).await;
        let task = engine.create(call(finish.clone())).await.expect("room for a task").id.to_string();
        Self { client, config, change, finish, task, _engine: engine }
    }

    async fn listen(&self, tasks: &[&str]) -> Stream {
        let notifications = json!({ "taskIds": tasks, "toolsListChanged": true, "promptsListChanged": true });
        self.client.open(&Post::new("both", "subscriptions/listen", json!({ "notifications": notifications }))).await
    }
}

fn call(finish: Arc<Notify>) -> Call {
    let target = Arc::new(Target::new("tools/call", "work", "1"));
    let work = Work::new(move |_| async move {
        finish.notified().await;
        Settlement::Completed(r#"{"content":[]}"#.into())
    });
    Call::new(NewTask::new(Principal::anonymous(), target, "{}".into()), work)
}

async fn next(stream: &mut Stream) -> Value {
    let message = stream.message().await.expect("the stream goes on");
    let subscription = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert!(message["method"].is_null() || subscription == "both", "{message}");
    message
}

async fn acknowledged(stream: &mut Stream, tasks: &[&str]) {
    let first = next(stream).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    // Prompts were asked for, and are not offered.
    assert_eq!(first["params"]["notifications"], json!({ "toolsListChanged": true, "taskIds": tasks }));
}

/// NOT-06: one acknowledgement with all that was agreed to, and all kinds on one stream.
#[tokio::test]
async fn all_kinds_come_on_one_stream() {
    let world = World::new(None).await;
    let mut stream = world.listen(&[&world.task, "0000000000000000000000000000000f"]).await;
    acknowledged(&mut stream, &[&world.task]).await;
    assert_eq!(next(&mut stream).await["params"]["status"], "working");
    world.change.notify_one();
    assert_eq!(next(&mut stream).await["method"], "notifications/tools/list_changed");
    world.finish.notify_one();
    assert_eq!(next(&mut stream).await["params"]["status"], "completed");
    world.change.notify_one();
    assert_eq!(next(&mut stream).await["method"], "notifications/tools/list_changed");
    world.config.cancellation_token.cancel();
    let last = next(&mut stream).await;
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!("both"), &json!("complete")));
    assert!(stream.message().await.is_none());
}

/// NOT-05: a handler that has nothing more to tell ends its own kinds; tasks are told of to their end.
#[tokio::test]
async fn tasks_go_on_when_the_other_kinds_have_ended() {
    let world = World::new(Some(Ok(()))).await;
    let mut stream = world.listen(&[&world.task]).await;
    acknowledged(&mut stream, &[&world.task]).await;
    assert_eq!(next(&mut stream).await["params"]["status"], "working");
    world.change.notify_one();
    assert_eq!(next(&mut stream).await["method"], "notifications/tools/list_changed");
    assert!(stream.is_quiet(Duration::from_millis(100)).await);
    world.finish.notify_one();
    assert_eq!(next(&mut stream).await["params"]["status"], "completed");
}

/// A listen that fails half-way ends with its error, and nothing follows.
#[tokio::test]
async fn an_error_ends_the_whole_listen() {
    let world = World::new(Some(Err(ErrorData::internal_error("no more", None)))).await;
    let mut stream = world.listen(&[&world.task]).await;
    acknowledged(&mut stream, &[&world.task]).await;
    assert_eq!(next(&mut stream).await["params"]["status"], "working");
    world.change.notify_one();
    assert_eq!(next(&mut stream).await["method"], "notifications/tools/list_changed");
    let last = next(&mut stream).await;
    assert_eq!((&last["id"], &last["error"]["code"]), (&json!("both"), &json!(-32603)));
    assert!(stream.message().await.is_none());
}

/// NOT-02: the other kinds do not come without the capability either; nothing was acknowledged.
#[tokio::test]
async fn a_client_without_tasks_gets_no_half_of_it() {
    let world = World::new(None).await;
    let notifications = json!({ "taskIds": [world.task], "toolsListChanged": true });
    let params = json!({ "notifications": notifications });
    let post = Post::declaring("both", "subscriptions/listen", params, json!({}));
    assert_eq!(world.client.send(&post).await.error(), (400, -32021, json!("both")));
}

/// NOT-06: a listen that asks for no tasks is rmcp's alone.
#[tokio::test]
async fn a_listen_without_tasks_is_left_alone() {
    let world = World::new(None).await;
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let mut stream = world.client.open(&Post::declaring("both", "subscriptions/listen", params, json!({}))).await;
    let first = next(&mut stream).await;
    assert_eq!(first["params"]["notifications"], json!({ "toolsListChanged": true }));
    world.finish.notify_one();
    assert!(stream.is_quiet(Duration::from_millis(100)).await);
    world.change.notify_one();
    assert_eq!(next(&mut stream).await["method"], "notifications/tools/list_changed");
}
