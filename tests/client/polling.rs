//! How often a task is asked for, and what happens when that fails.

use std::time::Duration;

use mcp_tasks::client::{Called, ClientError};
use serde_json::{Value, json};

use super::scripted::*;

fn paced(interval: Value, updated: u64) -> Act {
    Act::Result(task("working", updated, json!({ "pollIntervalMs": interval })))
}

/// CLI-01, case 37: never more than 50 polls a second, never asleep for ever, whatever the interval says.
#[tokio::test(start_paused = true)]
async fn the_rate_has_bounds() {
    for interval in [json!(-1), json!(0), json!(1), json!(null), json!(0.5), json!(1e12), json!("5")] {
        let mut first = created();
        first["pollIntervalMs"] = interval.clone();
        let polls = (0..20).map(|_| paced(interval.clone(), 1)).chain([Act::Result(completed(2))]);
        let server = Server::new().calls([Act::Result(first)]).gets(polls);
        let client = server.connect(()).await;
        let result = tokio::time::timeout(Duration::from_secs(3_600), client.call_tool(tool())).await;
        assert!(matches!(result, Ok(Ok(_))), "{interval}: {result:?}");
        let times: Vec<_> = server.got("tasks/get").iter().map(|got| got.at).collect();
        for pair in times.windows(2) {
            assert!(pair[1] - pair[0] >= Duration::from_millis(20), "{interval}: {times:?}");
            assert!(pair[1] - pair[0] <= Duration::from_secs(61), "{interval}: {times:?}");
        }
    }
}

/// CLI-01: the interval of the newest answer counts.
#[tokio::test(start_paused = true)]
async fn the_interval_may_change() {
    let server = Server::new().gets([paced(json!(7_000), 1), paced(json!(2_000), 2), Act::Result(completed(3))]);
    server.connect(()).await.call_tool(tool()).await.expect("a result");
    let times: Vec<_> = server.got("tasks/get").iter().map(|got| got.at.as_secs_f64().round() as u64).collect();
    assert_eq!([times[1] - times[0], times[2] - times[1]], [7, 2]);
}

/// Case 41, CLI-02: polls that fail are made again, after the time that the server asks for.
#[tokio::test(start_paused = true)]
async fn failed_polls_are_made_again() {
    let busy = Act::ErrorData(-32019, "too fast", json!({ "retryAfterMs": 9_000 }));
    let broken = Act::Error(-32603, "internal");
    let server = Server::new().gets([busy, broken, Act::Silence, Act::Result(completed(1))]);
    server.connect(()).await.call_tool(tool()).await.expect("a result");
    let times: Vec<_> = server.got("tasks/get").iter().map(|got| got.at).collect();
    assert_eq!(times.len(), 4);
    assert!(times[1] - times[0] >= Duration::from_secs(9));
    assert!(times[3] - times[2] >= Duration::from_secs(30), "silence is waited out");
}

/// A server that has failed for long is given up, with the last error.
#[tokio::test(start_paused = true)]
async fn a_server_that_never_recovers_is_given_up() {
    let client = Server::new().gets([Act::Error(-32603, "internal")]).connect(()).await;
    assert!(matches!(client.call_tool(tool()).await, Err(ClientError::Rpc { code: -32603, .. })));
}

/// CLI-02: a server that forgets to say that the time is over is no longer asked, though its clock is an hour off.
#[tokio::test(start_paused = true)]
async fn the_time_to_live_ends_the_polls() {
    let old = json!({ "createdAt": "2026-07-28T09:00:00Z", "lastUpdatedAt": "2026-07-28T09:00:00Z", "ttlMs": 60_000 });
    let mut first = created();
    first.as_object_mut().unwrap().extend(old.as_object().cloned().unwrap());
    let server = Server::new().calls([Act::Result(first)]).gets([Act::Result(task("working", 0, old))]);
    let client = server.connect(()).await;
    let before = tokio::time::Instant::now();
    assert!(matches!(client.call_tool(tool()).await, Err(ClientError::Expired)));
    assert!((60..200).contains(&before.elapsed().as_secs()), "{:?}", before.elapsed());
}

/// Case 38: an answer that is older than what is known is no step back.
#[tokio::test(start_paused = true)]
async fn stale_answers_change_nothing() {
    let late = Act::Result(task("working", 9, json!({ "statusMessage": "new" })));
    let stale = Act::Result(task("working", 3, json!({ "statusMessage": "old" })));
    let server = Server::new().gets([late, stale.clone(), stale, Act::Result(completed(10))]);
    let client = server.connect(()).await;
    let Ok(Called::Task(mut handle)) = client.call_tool_task(tool()).await else { panic!("no task") };
    while let Some(state) = handle.next_state().await {
        assert_ne!(state.status_message.as_deref(), Some("old"));
    }
}

/// CLI-02: a server that does not know tasks after all is told apart from a task that is gone.
#[tokio::test(start_paused = true)]
async fn a_server_without_tasks_is_said_to_be_one() {
    let client = Server::new().gets([Act::Error(-32601, "unknown method")]).connect(()).await;
    assert!(matches!(client.call_tool(tool()).await, Err(ClientError::TasksUnsupported(_))));
}

fn pushed(task: Value, id: &Value) -> Value {
    let mut params = task;
    params["_meta"] =
        json!({ "io.modelcontextprotocol/subscriptionId": id, "rs.mcp-tasks/progress": { "done": 1, "total": 4 } });
    json!({ "jsonrpc": "2.0", "method": "notifications/tasks", "params": params })
}

/// While the server pushes, polls are rare; the result comes with the push, and progress with it.
#[tokio::test(start_paused = true)]
async fn a_stream_replaces_polls() {
    let server = Server::new().listens([Act::Silence]);
    let client = server.connect(()).await;
    let Ok(Called::Task(mut handle)) = client.call_tool_task(tool()).await else { panic!("no task") };
    handle.next_state().await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    let listen = &server.got("subscriptions/listen")[0];
    assert_eq!(listen.params()["notifications"]["taskIds"], json!(["t-1"]));
    let id = listen.message["id"].clone();
    server.push(pushed(task("working", 1, json!({})), &id));
    let state = handle.next_state().await.expect("a state");
    assert_eq!(state.progress.and_then(|progress| progress.share()), Some(0.25));
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert!(server.got("tasks/get").len() <= 5, "{}", server.got("tasks/get").len());
    server.push(pushed(completed(9), &id));
    assert!(handle.result().await.is_ok());
}

/// A stream that is accepted and silent hides nothing: the task is polled.
#[tokio::test(start_paused = true)]
async fn a_silent_stream_hides_nothing() {
    let server = Server::new().listens([Act::Silence]).gets([Act::Result(working(1)), Act::Result(completed(2))]);
    server.connect(()).await.call_tool(tool()).await.expect("a result");
    assert!(server.got("tasks/get").iter().all(|got| got.at < Duration::from_secs(4)));
}
