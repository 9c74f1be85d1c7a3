//! Tasks of every shape.

use mcp_tasks::client::{ClientError, TaskState};
use serde_json::{Value, json};

use super::scripted::*;

/// TSK-04, cases 21 and 34: durations that make no sense cost no result.
#[tokio::test(start_paused = true)]
async fn odd_durations_cost_no_result() {
    let odd = [json!(60_000.0), json!(1e3), json!(9_007_199_254_740_991_u64), json!(1.8e19), json!(-1), json!("60000")];
    for ttl in odd.into_iter().chain([json!(0), json!(1e300), json!(null), json!(0.5)]) {
        let mut first = created();
        first["ttlMs"] = ttl.clone();
        let mut last = completed(2);
        last["ttlMs"] = ttl.clone();
        let polls = [Act::Result(task("working", 1, json!({ "ttlMs": ttl }))), Act::Result(last)];
        let client = Server::new().calls([Act::Result(first)]).gets(polls).connect(()).await;
        let result = client.call_tool(tool()).await;
        assert!(result.is_ok(), "{ttl}: {result:?}");
    }
    let read = |ttl: Value| TaskState::read(&task("working", 0, json!({ "ttlMs": ttl }))).expect("a task").ttl;
    assert_eq!(read(json!(60_000.0)).map(|ttl| ttl.as_secs()), Some(60));
    assert_eq!([read(json!(-1)), read(json!(1e300)), read(json!("60000")), read(json!(0))], [None; 4]);
}

/// Case 34: `failed` without `error` and `completed` without `result` are invalid responses that say so; a status that is
/// not known is polled on.
#[tokio::test(start_paused = true)]
async fn what_the_status_needs_has_to_be_there() {
    for (status, missing) in [("failed", "error"), ("completed", "result")] {
        let client = Server::new().gets([Act::Result(task(status, 1, json!({})))]).connect(()).await;
        match client.call_tool(tool()).await {
            Err(ClientError::InvalidResponse(why)) => assert!(why.contains(missing), "{why}"),
            other => panic!("{status}: {other:?}"),
        }
    }
    let paused = Act::Result(task("paused", 1, json!({})));
    let client = Server::new().gets([paused, Act::Result(completed(2))]).connect(()).await;
    assert!(client.call_tool(tool()).await.is_ok());
}

/// Case 34: members in any order.
#[test]
fn members_come_in_any_order() {
    let text = r#"{"result":{"content":[]},"lastUpdatedAt":"2026-07-28T10:00:01Z","ttlMs":null,"taskId":"t",
        "createdAt":"2026-07-28T10:00:00Z","status":"completed"}"#;
    assert!(TaskState::read(&serde_json::from_str(text).unwrap()).expect("a task").is_terminal());
}

/// An answer about another task is no answer.
#[tokio::test(start_paused = true)]
async fn another_task_is_no_answer() {
    let other = Act::Result(task("completed", 1, json!({ "taskId": "t-2", "result": { "content": [] } })));
    let client = Server::new().gets([other]).connect(()).await;
    assert!(matches!(client.call_tool(tool()).await, Err(ClientError::InvalidResponse(_))));
}

/// A single answer that makes no sense is forgiven.
#[tokio::test(start_paused = true)]
async fn one_nonsense_is_forgiven() {
    let gets = [Act::Result(json!({ "resultType": "complete", "hello": 1 })), Act::Result(completed(2))];
    let client = Server::new().gets(gets).connect(()).await;
    assert!(client.call_tool(tool()).await.is_ok());
}

/// CLI-08, GET-06: the result comes whole, with `_meta`, `structuredContent` and `isError`.
#[tokio::test(start_paused = true)]
async fn the_result_comes_whole() {
    let whole = json!({ "content": [], "structuredContent": { "n": 1 }, "isError": true, "_meta": { "a": "b" } });
    let client = Server::new().gets([Act::Result(task("completed", 1, json!({ "result": whole })))]).connect(()).await;
    let result = client.call_tool(tool()).await.expect("a result");
    let value = serde_json::to_value(&result).unwrap();
    assert_eq!(
        (&value["structuredContent"]["n"], &value["isError"], &value["_meta"]["a"]),
        (&json!(1), &json!(true), &json!("b"))
    );
}
