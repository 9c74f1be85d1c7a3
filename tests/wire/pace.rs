//! How fast a task may be polled.

use std::time::Duration;

use mcp_tasks::{limits::Limits, protocol::RATE_LIMITED};
use serde_json::{Value, json};

use crate::{
    http_client::Post,
    support::{Wire, World},
};

/// A server that tolerates two polls of a task beyond one in each second.
async fn strict(wire: Wire) -> World {
    let mut limits = Limits::default();
    limits.poll_tolerance = Some(2);
    World::with(wire, |builder| builder.limits(limits)).await
}

on_every_wire! {
    /// GET-04: a client that polls much faster than it is told to has to wait; other tasks and clients do not, and the task
    /// does not notice.
    async fn a_hasty_client_is_told_how_long_to_wait(wire: Wire) {
        let world = strict(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        let other = alice.task("wait", json!({})).await;
        world.signals.all_started(2).await;
        let poll = json!({ "taskId": id });
        for _ in 0..3 {
            assert_eq!(alice.get(&id).await["pollIntervalMs"], 1000);
        }
        let refused = alice.error("tasks/get", poll.clone()).await;
        assert_eq!((&refused["code"], &refused["data"]), (&json!(RATE_LIMITED), &json!({ "retryAfterMs": 1000 })));
        world.clock.advance(Duration::from_millis(600));
        assert_eq!(alice.error("tasks/get", poll.clone()).await["data"]["retryAfterMs"], 400);
        alice.get(&other).await;
        // Whether it is polled too fast is nothing that a stranger gets to know.
        assert_eq!(world.client("bob").code("tasks/get", poll.clone()).await, -32602);
        // The task is unharmed: it takes requests, works on, and its end is never held back.
        alice.update(&id, json!({})).await;
        world.clock.advance(Duration::from_millis(400));
        assert_eq!(alice.get(&id).await["status"], "working");
        assert_eq!(alice.code("tasks/get", poll).await, RATE_LIMITED);
        alice.cancel(&id).await;
        for _ in 0..10 {
            assert_eq!(alice.get(&id).await["status"], "cancelled");
        }
    }

    /// GET-04: a client that waits as long as it is told to is never limited, even after it was hasty.
    async fn a_patient_client_is_never_limited(wire: Wire) {
        let world = strict(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        for _ in 0..3 {
            alice.get(&id).await;
        }
        for _ in 0..50 {
            world.clock.advance(Duration::from_secs(1));
            assert_eq!(alice.get(&id).await["status"], "working");
        }
    }

    /// GET-04: without the setting a client may poll as it likes.
    async fn polls_are_not_limited_by_default(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        for _ in 0..50 {
            alice.get(&id).await;
        }
    }
}

/// GET-04: over HTTP the answer has status 429 and `Retry-After`, in whole seconds and never too few.
#[tokio::test]
async fn over_http_it_is_429_with_retry_after() {
    let world = strict(Wire::Http).await;
    let id = world.client("alice").task("wait", json!({})).await;
    let poll = Post::new("p", "tasks/get", json!({ "taskId": id })).bearer("token-of-alice");
    let client = world.http().expect("a server");
    let mut reply = client.send(&poll).await;
    for _ in 0..3 {
        assert_eq!((reply.status, reply.head.contains("retry-after")), (200, false));
        world.clock.advance(Duration::from_millis(1));
        reply = client.send(&poll).await;
    }
    assert_eq!(reply.error(), (429, RATE_LIMITED, json!("p")));
    assert!(reply.head.contains("retry-after: 1\r\n"), "{}", reply.head);
    assert_eq!(reply.json()["error"]["data"]["retryAfterMs"], 997);
    assert_eq!(reply.json()["result"], Value::Null);
}

/// GET-04: the reference page shows the code that is sent.
#[test]
fn the_code_on_the_reference_page() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/2026-07-28/examples.json");
    let examples: Value =
        serde_json::from_slice(&std::fs::read(path).expect("the examples are there")).expect("they are JSON");
    let errors = examples.as_array().into_iter().flatten().map(|example| &example["message"]["error"]);
    let codes: Vec<_> =
        errors.filter(|error| error["data"]["retryAfterMs"].is_u64()).map(|error| error["code"].as_i64()).collect();
    assert_eq!(codes, [Some(RATE_LIMITED)]);
}
