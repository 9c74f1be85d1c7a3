//! What becomes of answers, cancellations, questions and streams when something ends before they do.

use std::time::Duration;

use mcp_tasks::client::{Called, ClientError, FollowOptions, Input, OnDrop, TaskClient, TaskHandle};
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability, ErrorData,
        Implementation,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{handler::User, scripted::*};

const SOON: Duration = Duration::from_secs(1);

async fn started(client: &TaskClient, options: FollowOptions) -> TaskHandle {
    match client.call_tool_task_with(tool(), options).await {
        Ok(Called::Task(handle)) => handle,
        other => panic!("no task: {other:?}"),
    }
}

fn by_hand() -> FollowOptions {
    FollowOptions::default().with_input(Input::Manual)
}

fn answer() -> Value {
    json!({ "action": "decline" })
}

/// Panics whatever it is asked.
#[derive(Clone)]
struct Clumsy;

impl ClientHandler for Clumsy {
    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        panic!("the user interface has a fault")
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("clumsy", "1"))
    }
}

/// CLI-05: a handler that panics leaves nobody waiting, and the task that nobody can answer is cancelled.
#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_has_failed() {
    let server = Server::new().gets([Act::Result(asking(1))]);
    let ended = server.connect(Clumsy).await.call_tool(tool()).await;
    assert!(matches!(&ended, Err(ClientError::Handler { method, .. }) if method == "elicitation/create"), "{ended:?}");
    tokio::time::sleep(SOON).await;
    assert_eq!(server.got("tasks/cancel").len(), 1);
}

/// A call that ends although its task lives on leaves no task behind; a handle leaves it if it was told to.
#[tokio::test(start_paused = true)]
async fn what_ends_without_its_task_cancels_it() {
    for (on_drop, cancellations) in [(OnDrop::Cancel, 1), (OnDrop::Detach, 0)] {
        let server = Server::new().gets([Act::Result(asking(1))]);
        let client = server.connect(()).await;
        let handle = started(&client, FollowOptions::default().with_on_drop(on_drop)).await;
        assert!(matches!(handle.result().await, Err(ClientError::MissingHandler { .. })));
        drop(handle);
        tokio::time::sleep(SOON).await;
        assert_eq!(server.got("tasks/cancel").len(), cancellations);
    }
}

/// CLI-03, CLI-09: an answer that is given to a resumed task before it was seen waits until it is known whether it is wanted.
#[tokio::test(start_paused = true)]
async fn an_early_answer_waits_for_the_first_state() {
    for (now, is_taken) in [(asking(1), true), (working(2), false), (completed(2), false)] {
        let server = Server::new().gets([Act::Result(asking(1))]);
        let mut handle = started(&server.connect(()).await, by_hand()).await;
        while handle.next_state().await.expect("a state").input_requests.is_empty() {}
        let ticket = handle.detach();

        let server = Server::new().gets([Act::Result(now)]);
        let client = server.connect(()).await;
        let resumed = client.resume_with(ticket, by_hand()).expect("the same server");
        match resumed.answer("name", answer()).await {
            Ok(()) if is_taken => assert_eq!(server.got("tasks/update").len(), 1),
            Err(ClientError::NotOutstanding(_)) if !is_taken => assert!(server.got("tasks/update").is_empty()),
            other => panic!("{is_taken}: {other:?}"),
        }
    }
}

/// CLI-09: an answer to a task that has ended is not taken, whatever the task's end.
#[tokio::test(start_paused = true)]
async fn an_answer_after_the_end_is_not_outstanding() {
    let server = Server::new().gets([Act::Result(completed(1))]);
    let handle = started(&server.connect(()).await, by_hand()).await;
    handle.result().await.expect("a result");
    assert!(matches!(handle.answer("name", answer()).await, Err(ClientError::NotOutstanding(_))));
}

/// CLI-03: `wait` and the like see the first state of a resumed task, also if it is the one that was saved.
#[tokio::test(start_paused = true)]
async fn a_resumed_task_shows_its_first_state() {
    let server = Server::new().gets([Act::Result(asking(1))]);
    let client = server.connect(()).await;
    let mut handle = started(&client, by_hand()).await;
    while handle.next_state().await.expect("a state").input_requests.is_empty() {}
    let mut resumed = client.resume_with(handle.detach(), by_hand()).expect("the same server");
    let state = tokio::time::timeout(SOON, resumed.next_state()).await.expect("it is shown").expect("a state");
    assert!(state.input_requests.contains_key("name"));
}

/// CAN-01: whoever cancels once more hears that the server has heard.
#[tokio::test(start_paused = true)]
async fn cancelling_twice_is_heard_twice() {
    let server = Server::new();
    let handle = started(&server.connect(()).await, FollowOptions::default()).await;
    for _ in 0..2 {
        tokio::time::timeout(SOON, handle.cancel()).await.expect("at once").expect("the server heard");
    }
    assert_eq!(server.got("tasks/cancel").len(), 1);
}

/// A stream ends with whoever listened.
#[tokio::test(start_paused = true)]
async fn a_handle_that_is_gone_does_not_listen() {
    let server = Server::new().listens([Act::Silence]);
    let client = server.connect(()).await;
    let handle = started(&client, FollowOptions::default()).await;
    tokio::time::sleep(SOON).await;
    let listen = server.got("subscriptions/listen")[0].message["id"].clone();
    let _ticket = handle.detach();
    tokio::time::sleep(SOON).await;
    let taken_back = server.got("notifications/cancelled");
    assert!(taken_back.iter().any(|got| got.params()["requestId"] == listen), "{taken_back:?}");
}

/// RES-04: a result of a type that is not known is none: of a poll, and of an update, which is made again.
#[tokio::test(start_paused = true)]
async fn answers_of_an_unknown_type_are_none() {
    let odd = |value: Value| {
        let mut value = value;
        value["resultType"] = json!("surprise");
        Act::Result(value)
    };
    let ended = Server::new().gets([odd(completed(1))]).connect(()).await.call_tool(tool()).await;
    assert!(matches!(&ended, Err(ClientError::InvalidResponse(why)) if why.contains("surprise")), "{ended:?}");

    let server =
        Server::new().gets([Act::Result(asking(1)), Act::Result(completed(2))]).updates([odd(json!({})), ack()]);
    server.connect(User::default()).await.call_tool(tool()).await.expect("a result");
    assert_eq!(server.got("tasks/update").len(), 2);
}

/// CLI-03: a ticket knows the time to live from the first moment on.
#[tokio::test(start_paused = true)]
async fn a_fresh_ticket_has_its_time_to_live() {
    let handle = started(&Server::new().connect(()).await, FollowOptions::default()).await;
    assert_eq!(handle.ticket().ttl, Some(3_600_000));
}
