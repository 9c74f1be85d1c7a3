//! `tools/call` and what may come of it.

use std::time::Duration;

use mcp_tasks::client::{Called, ClientError, IDEMPOTENCY_KEY};
use serde_json::json;

use super::{handler::User, scripted::*};

/// CLI-06, CAP-03: a caller that wants a result gets one, whether the server gives it at once or makes a task.
#[tokio::test(start_paused = true)]
async fn a_call_gives_its_result_either_way() {
    let plain = json!({ "content": [{ "type": "text", "text": "done" }], "isError": false });
    for answer in [plain, created()] {
        let server =
            Server::new().calls([Act::Result(answer)]).gets([Act::Result(working(1)), Act::Result(completed(2))]);
        let client = server.connect(()).await;
        let result = client.call_tool(tool()).await.expect("a result");
        assert_eq!(serde_json::to_value(&result.content).unwrap()[0]["text"], "done");
    }
}

/// CAP-03: the caller that wants to see the task gets its handle.
#[tokio::test(start_paused = true)]
async fn a_call_gives_the_task_to_whoever_wants_it() {
    let client = Server::new().gets([Act::Result(completed(1))]).connect(()).await;
    let Called::Task(mut handle) = client.call_tool_task(tool()).await.expect("a task") else { panic!("a result") };
    assert_eq!(handle.task_id(), "t-1");
    let mut statuses = Vec::new();
    while let Some(state) = handle.next_state().await {
        statuses.push(state.status.to_string());
    }
    assert_eq!(statuses, ["working", "completed"]);
    assert!(handle.result().await.is_ok());
}

/// CLI-06: the extension is declared on every request, without the caller's doing.
#[tokio::test(start_paused = true)]
async fn the_extension_is_declared_on_every_request() {
    let server = Server::new().gets([Act::Result(asking(1)), Act::Result(completed(2))]);
    server.connect(User::default()).await.call_tool(tool()).await.expect("a result");
    for method in ["server/discover", "tools/call", "tasks/get", "tasks/update"] {
        for got in server.got(method) {
            let declared = &got.params()["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"];
            assert!(declared[EXTENSION].is_object(), "{method}: {}", got.message);
        }
    }
}

/// RES-04: without `resultType` a result is a result; one that is not known is an invalid response that names it.
#[tokio::test(start_paused = true)]
async fn an_unknown_result_type_is_an_invalid_response() {
    let client = Server::new().calls([Act::Result(json!({ "content": [] }))]).connect(()).await;
    assert!(client.call_tool(tool()).await.is_ok());
    for kind in [json!("banana"), json!(5), json!(null)] {
        let answer = json!({ "resultType": kind, "content": [], "banana": true });
        let client = Server::new().calls([Act::Result(answer)]).connect(()).await;
        match client.call_tool(tool()).await {
            Err(ClientError::InvalidResponse(why)) => {
                assert!(why.contains(kind.as_str().unwrap_or("resultType")), "{why}")
            }
            other => assert!(kind.is_null(), "{kind}: {other:?}"),
        }
    }
}

/// CAP-04: a task in answer to another request than `tools/call` is an invalid response.
#[tokio::test(start_paused = true)]
async fn a_task_in_answer_to_another_request_is_invalid() {
    let client = Server::new().connect(()).await;
    let error = client.peer().list_tools(None).await.expect_err("not a list");
    assert!(matches!(error, rmcp::ServiceError::UnexpectedResponse), "{error}");
}

/// CLI-06: rounds of questions are gone through with `requestState`, and may end in a task. Their keys have nothing to do
/// with the task's (CLI-09): the same key is asked again.
#[tokio::test(start_paused = true)]
async fn rounds_of_questions_may_end_in_a_task() {
    let mut round = asking(0);
    round["resultType"] = "input_required".into();
    let round =
        json!({ "resultType": "input_required", "inputRequests": round["inputRequests"], "requestState": "s1" });
    let server = Server::new()
        .calls([Act::Result(round), Act::Result(created())])
        .gets([Act::Result(asking(1)), Act::Result(completed(2))]);
    let user = User::default();
    server.connect(user.clone()).await.call_tool(tool()).await.expect("a result");
    let calls = server.got("tools/call");
    assert_eq!(calls[1].params()["requestState"], "s1");
    assert_eq!(calls[1].params()["inputResponses"]["name"]["content"]["name"], "Ada");
    assert_eq!(user.asked(), 2);
}

/// A server that asks for ever is given up.
#[tokio::test(start_paused = true)]
async fn rounds_have_an_end() {
    let round = json!({ "resultType": "input_required", "requestState": "again" });
    let client = Server::new().calls([Act::Result(round)]).connect(()).await;
    assert!(matches!(client.call_tool(tool()).await, Err(ClientError::TooManyRounds(_))));
}

/// Case 39: a failed task's error has code, message and data. A refused call too.
#[tokio::test(start_paused = true)]
async fn errors_come_with_code_message_and_data() {
    let error = json!({ "code": -32050, "message": "out of tea", "data": { "pots": 0 } });
    let failed = task("failed", 1, json!({ "error": error }));
    let client = Server::new().gets([Act::Result(failed)]).connect(()).await;
    let Err(ClientError::Failed { code, message, data }) = client.call_tool(tool()).await else { panic!("no failure") };
    assert_eq!((code, &*message, data.as_deref()), (-32050, "out of tea", Some(&json!({ "pots": 0 }))));

    let client = Server::new().calls([Act::ErrorData(-32602, "no tool", json!(1))]).connect(()).await;
    let Err(ClientError::Rpc { code, data, .. }) = client.call_tool(tool()).await else { panic!("no refusal") };
    assert_eq!((code, data.as_deref()), (-32602, Some(&json!(1))));
}

/// CLI-10: a call that is abandoned before its answer is cancelled as soon as its task id is known, and no
/// `notifications/cancelled` is sent.
#[tokio::test(start_paused = true)]
async fn an_abandoned_call_is_cancelled_once_its_task_is_known() {
    let server = Server::new().calls([Act::Late(Duration::from_secs(5), created())]);
    let client = server.connect(()).await;
    assert!(tokio::time::timeout(Duration::from_secs(1), client.call_tool(tool())).await.is_err());
    assert!(server.got("tasks/cancel").is_empty());
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(server.got("tasks/cancel")[0].params()["taskId"], "t-1");
    assert!(server.got("notifications/cancelled").is_empty());
}

/// CLI-07, CLI-10: a call that is dropped while its task runs cancels the task, and by `tasks/cancel` alone.
#[tokio::test(start_paused = true)]
async fn a_dropped_call_cancels_its_task() {
    let server = Server::new();
    let client = server.connect(()).await;
    assert!(tokio::time::timeout(Duration::from_secs(10), client.call_tool(tool())).await.is_err());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(server.got("tasks/cancel").len(), 1);
    let calls: Vec<_> = server.got("tools/call").iter().map(|got| got.message["id"].clone()).collect();
    assert!(server.got("notifications/cancelled").iter().all(|got| !calls.contains(&got.params()["requestId"])));
    let polls = server.got("tasks/get").len();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(server.got("tasks/get").len(), polls, "nobody follows it any more");
}

/// A handle that is dropped leaves its task alone, unless it is told otherwise.
#[tokio::test(start_paused = true)]
async fn a_dropped_handle_detaches() {
    let server = Server::new();
    let client = server.connect(()).await;
    drop(client.call_tool_task(tool()).await.expect("a task"));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(server.got("tasks/cancel").is_empty() && server.got("tasks/get").len() <= 1);
}

/// A server that knows idempotency keys gets one; without the announcement nothing is added to `_meta`.
#[tokio::test(start_paused = true)]
async fn idempotency_keys_go_to_servers_that_know_them() {
    for (extensions, expected) in
        [(json!({ EXTENSION: {}, IDEMPOTENCY_KEY: {} }), true), (json!({ EXTENSION: {} }), false)]
    {
        let server = Server::new().extensions(extensions).gets([Act::Result(completed(1))]);
        server.connect(()).await.call_tool(tool()).await.expect("a result");
        let key = server.got("tools/call")[0].params()["_meta"][IDEMPOTENCY_KEY].clone();
        assert_eq!(key.as_str().is_some_and(|key| key.len() == 32), expected, "{key}");
    }
}

/// LEG-01: with a server of 2025-11-25 a call works plainly.
#[tokio::test(start_paused = true)]
async fn a_legacy_server_is_called_plainly() {
    let plain = json!({ "content": [{ "type": "text", "text": "done" }] });
    let client = Server::new().legacy().calls([Act::Result(plain)]).connect(()).await;
    assert!(!client.offers_tasks());
    assert!(client.call_tool(tool()).await.is_ok());
}

/// A call that was lost is made again, with the same key, only where the server says that this is one call.
#[tokio::test(start_paused = true)]
async fn a_lost_call_is_repeated_only_with_a_key() {
    let lost = Act::ErrorData(-32019, "come back", json!({ "retryAfterMs": 3_000 }));
    let known = Server::new().extensions(json!({ EXTENSION: {}, IDEMPOTENCY_KEY: {} }));
    let server = known.calls([lost.clone(), lost.clone(), Act::Result(created())]).gets([Act::Result(completed(1))]);
    server.connect(()).await.call_tool(tool()).await.expect("a result");
    let calls = server.got("tools/call");
    let keys: Vec<_> = calls.iter().map(|call| call.params()["_meta"][IDEMPOTENCY_KEY].clone()).collect();
    assert!(keys.len() == 3 && keys.iter().all(|key| key.is_string() && *key == keys[0]), "{keys:?}");
    assert!(calls[1].at - calls[0].at >= Duration::from_secs(3));

    let server = Server::new().calls([lost, Act::Result(created())]);
    assert!(server.connect(()).await.call_tool(tool()).await.is_err());
    assert_eq!(server.got("tools/call").len(), 1);
}
