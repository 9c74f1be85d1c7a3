//! NOT: subscriptions to tasks.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    client::{Post, Stream},
    server::{Server, about},
};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn listen(id: impl Into<Value>, notifications: Value) -> Post {
    Post::new(id, "subscriptions/listen", json!({ "notifications": notifications })).bearer("alice")
}

async fn open(server: &Server, id: impl Into<Value>, tasks: &[&str]) -> Stream {
    server.client.open(&listen(id, json!({ "taskIds": tasks }))).await
}

/// Reads until a task is in this state.
async fn until(stream: &mut Stream, status: &str) -> Value {
    loop {
        let mut message = stream.message().await.expect("the stream goes on");
        assert_eq!(message["method"], "notifications/tasks", "{message}");
        if message["params"]["status"] == status {
            return message["params"].take();
        }
    }
}

/// NOT-01, NOT-03, NOT-05, NOT-06, case 42: whenever the listen comes, the end is heard, as `tasks/get` tells it.
#[tokio::test]
async fn the_end_is_heard_whenever_the_listen_comes() {
    let server = Server::start().await;
    for wait in [0, 100, 400] {
        let id = server.task("alice", "moment", json!({ "milliseconds": 200 })).await;
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let mut stream = open(&server, "s", &[&id, "0000000000000000000000000000000f", "no id"]).await;
        let acknowledged = stream.message().await.expect("an acknowledgement");
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(acknowledged["params"]["notifications"], json!({ "taskIds": [id] }));
        assert_eq!(acknowledged["params"]["_meta"][SUBSCRIPTION], "s");
        let mut told = until(&mut stream, "completed").await;
        let mut got = server.reach("alice", &id, "completed").await;
        told.as_object_mut().expect("an object").remove("_meta");
        got.as_object_mut().expect("an object").remove("resultType");
        assert_eq!(told, got);
        assert!(stream.is_quiet(Duration::from_millis(50)).await);
    }
}

/// NOT-03, case 44: a subscription id keeps its JSON type, and each stream has its own.
#[tokio::test]
async fn a_subscription_id_keeps_its_type() {
    let server = Server::start().await;
    let id = server.task("alice", "wait", json!({})).await;
    let mut streams = Vec::new();
    for listen in [json!(7), json!("7")] {
        streams.push((listen.clone(), open(&server, listen, &[&id]).await));
    }
    server.send(&about(&id, "tasks/cancel").bearer("alice")).await.result();
    for (listen, mut stream) in streams {
        assert_eq!(stream.message().await.expect("an acknowledgement")["params"]["_meta"][SUBSCRIPTION], listen);
        assert_eq!(until(&mut stream, "cancelled").await["_meta"][SUBSCRIPTION], listen);
    }
}

/// NOT-02: without the capability there is no acknowledgement, but `-32021`.
#[tokio::test]
async fn a_listen_without_the_capability_is_refused() {
    let server = Server::start().await;
    let params = json!({ "notifications": { "taskIds": ["0000000000000000000000000000000f"] } });
    let reply = server.send(&Post::declaring(4, "subscriptions/listen", params, json!({}))).await;
    assert_eq!(reply.error(), (400, -32021, json!(4)));
    let malformed = listen(4, json!({ "taskIds": 5 }));
    assert_eq!(server.send(&malformed).await.error(), (200, -32602, json!(4)));
    let unnamed = listen(4, json!({ "taskIds": [] })).without("mcp-method");
    assert_eq!(server.send(&unnamed).await.error(), (400, -32020, json!(4)));
}

/// NOT-05, case 43: a listener that stops reading costs the server next to nothing, holds nobody up, and hears the last
/// state when it reads again.
#[tokio::test]
async fn a_listener_that_stops_reading_hears_the_last_state() {
    let server = Server::start().await;
    let id = server.task("alice", "count", json!({ "to": 40_000 })).await;
    let mut stalled = open(&server, 1, &[&id]).await;
    let mut reading = open(&server, 2, &[&id]).await;
    assert!(reading.message().await.is_some());
    until(&mut reading, "completed").await;
    let last = server.reach("alice", &id, "completed").await;
    assert!(stalled.message().await.is_some());
    let mut heard = 0;
    let told = loop {
        let message = stalled.message().await.expect("the stream goes on");
        heard += 1;
        if message["params"]["status"] == "completed" {
            break message;
        }
    };
    assert_eq!(told["params"]["result"], last["result"]);
    assert!(heard < 40_000, "no state was left out");
}

/// NOT-06: a server that shuts down ends each listen with its result.
#[tokio::test]
async fn a_shutdown_ends_a_listen_with_its_result() {
    let server = Server::start().await;
    let id = server.task("alice", "wait", json!({})).await;
    let mut stream = open(&server, "end", &[&id]).await;
    assert!(stream.message().await.is_some());
    until(&mut stream, "working").await;
    server.config.cancellation_token.cancel();
    let last = loop {
        let message = stream.message().await.expect("a result");
        if message["method"].is_null() {
            break message;
        }
    };
    assert_eq!((&last["id"], &last["result"]["resultType"]), (&json!("end"), &json!("complete")));
    assert_eq!(last["result"]["_meta"][SUBSCRIPTION], "end");
    assert!(stream.message().await.is_none());
}
