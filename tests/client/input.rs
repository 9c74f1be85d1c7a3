//! Questions of tasks, and their answers.

use std::time::Duration;

use mcp_tasks::client::{Called, ClientError, FollowOptions, Input};
use serde_json::json;

use super::{
    handler::{Machine, User},
    scripted::*,
};

/// CLI-04, CLI-05, CLI-08, CLI-09, case 15: an answered key that is shown for three more polls: the handler is asked once,
/// one `tasks/update` is sent, the interval is kept.
#[tokio::test(start_paused = true)]
async fn a_key_that_is_shown_again_is_asked_once() {
    let shown = (1..5).map(|poll| Act::Result(asking(poll)));
    let server = Server::new().gets(shown.chain([Act::Result(completed(9))]));
    let user = User::default();
    server.connect(user.clone()).await.call_tool(tool()).await.expect("a result");
    assert_eq!(user.asked(), 1);
    let updates = server.got("tasks/update");
    assert_eq!(updates.len(), 1);
    assert_eq!(updates[0].params()["inputResponses"]["name"]["content"]["name"], "Ada");
    let times: Vec<_> = server.got("tasks/get").iter().map(|got| got.at).collect();
    assert_eq!(times.len(), 5);
    for pair in times.windows(2) {
        let gap = pair[1] - pair[0];
        assert!((990..=1_020).contains(&gap.as_millis()), "{times:?}");
    }
}

/// Case 16: an update that fails is sent again with the same answer, and nobody is asked again.
#[tokio::test(start_paused = true)]
async fn a_failed_update_is_sent_again() {
    let server = Server::new()
        .gets([Act::Result(asking(1)), Act::Result(asking(1)), Act::Result(asking(1)), Act::Result(completed(2))])
        .updates([Act::Error(-32603, "busy"), ack()]);
    let user = User::default();
    server.connect(user.clone()).await.call_tool(tool()).await.expect("a result");
    let updates = server.got("tasks/update");
    assert_eq!(updates.len(), 2);
    assert_eq!(updates[0].params()["inputResponses"], updates[1].params()["inputResponses"]);
    assert_eq!(user.asked(), 1);
}

/// Case 17: a client without a handler for what is asked: an error that names it, and no answer in the user's name.
#[tokio::test(start_paused = true)]
async fn a_missing_handler_is_named() {
    let server = Server::new().gets([Act::Result(asking(1))]);
    let error = server.connect(()).await.call_tool(tool()).await.expect_err("nobody to ask");
    assert!(matches!(&error, ClientError::MissingHandler { method } if method == "elicitation/create"), "{error}");
    assert!(server.got("tasks/update").is_empty());
}

/// Case 17: a request of a kind that nobody knows is named too.
#[tokio::test(start_paused = true)]
async fn an_unknown_request_is_named() {
    let asked = json!({ "inputRequests": { "k": { "method": "moon/phase", "params": {} } } });
    let client = Server::new().gets([Act::Result(task("input_required", 1, asked))]).connect(User::default()).await;
    let error = client.call_tool(tool()).await.expect_err("nobody to ask");
    assert!(matches!(&error, ClientError::MissingHandler { method } if method == "moon/phase"), "{error}");
}

/// CLI-11: a refused answer is followed by one `tasks/get`; the task lives, so the caller gets a typed error, and nothing is
/// sent again.
#[tokio::test(start_paused = true)]
async fn a_refused_answer_is_told_and_not_sent_again() {
    let data = json!({ "reason": "invalid_input_response", "keys": { "name": "too short" } });
    let server =
        Server::new().gets([Act::Result(asking(1))]).updates([Act::ErrorData(-32602, "does not fit", data.clone())]);
    let error = server.connect(User::default()).await.call_tool(tool()).await.expect_err("refused");
    let ClientError::AnswerRefused { keys, code, data: told, .. } = error else { panic!("{error}") };
    assert_eq!((keys, code, told.as_deref()), (vec!["name".to_owned()], -32602, Some(&data)));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(server.got("tasks/get").len(), 2);
    assert_eq!(server.got("tasks/update").len(), 1);
}

/// CLI-11: whoever answers by hand is told once the task was asked for, whether the answer was refused or the task is gone.
#[tokio::test(start_paused = true)]
async fn who_answers_by_hand_is_told_after_the_check() {
    for gone in [false, true] {
        let check = if gone { Act::Error(-32602, "no such task") } else { Act::Result(asking(1)) };
        let server = Server::new().gets([Act::Result(asking(1)), check]).updates([Act::Error(-32602, "does not fit")]);
        let client = server.connect(()).await;
        let options = FollowOptions::default().with_input(Input::Manual).with_poll_only();
        let called = client.call_tool_task_with(tool(), options).await;
        let Ok(Called::Task(mut handle)) = called else { panic!("no task") };
        while handle.next_state().await.expect("a state").input_requests.is_empty() {}
        let told = handle.answer("name", json!({ "action": "accept", "content": { "name": "Ada" } })).await;
        match told {
            Err(ClientError::Expired) if gone => {}
            Err(ClientError::AnswerRefused { code: -32602, .. }) if !gone => {}
            other => panic!("{gone}: {other:?}"),
        }
        assert_eq!(server.got("tasks/get").len(), 2, "{gone}");
    }
}

/// Cancelling closes an open question: the handler's future is dropped, and nothing is answered.
#[tokio::test(start_paused = true)]
async fn cancelling_closes_the_question() {
    let server = Server::new().gets([
        Act::Result(asking(1)),
        Act::Result(asking(1)),
        Act::Result(task("cancelled", 2, json!({}))),
    ]);
    let user = User::silent();
    let client = server.connect(user.clone()).await;
    let Ok(Called::Task(mut handle)) = client.call_tool_task(tool()).await else { panic!("no task") };
    while handle.next_state().await.expect("a state").input_requests.is_empty() {}
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!((user.asked(), user.dropped()), (1, 0));
    handle.cancel().await.expect("the server heard");
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(user.dropped(), 1);
    assert!(matches!(handle.result().await, Err(ClientError::Cancelled)));
    assert!(server.got("tasks/update").is_empty());
}

/// CLI-09: answers by hand: only to what is outstanding, and once.
#[tokio::test(start_paused = true)]
async fn answers_by_hand() {
    let shown = [Act::Result(asking(1)), Act::Result(asking(1)), Act::Result(completed(2))];
    let server = Server::new().gets(shown);
    let client = server.connect(()).await;
    let options = FollowOptions::default().with_input(Input::Manual);
    let Ok(Called::Task(mut handle)) = client.call_tool_task_with(tool(), options).await else { panic!("no task") };
    let early = handle.answer("name", json!({ "action": "decline" })).await;
    assert!(matches!(early, Err(ClientError::NotOutstanding(_))), "{early:?}");
    while handle.next_state().await.expect("a state").input_requests.is_empty() {}
    handle.answer("name", json!({ "action": "decline" })).await.expect("taken");
    let again = handle.answer("name", json!({ "action": "accept" })).await;
    assert!(matches!(again, Err(ClientError::NotOutstanding(_))), "{again:?}");
    assert!(handle.ticket().answered.contains("name"));
    handle.result().await.expect("a result");
    assert_eq!(server.got("tasks/update")[0].params()["inputResponses"]["name"]["action"], "decline");
}

/// CLI-05: sampling and roots go to the handler's parts for them.
#[tokio::test(start_paused = true)]
async fn the_model_and_the_roots_are_asked() {
    let message = json!({ "role": "user", "content": { "type": "text", "text": "why?" } });
    let asked = json!({ "inputRequests": {
        "m": { "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 9 } },
        "r": { "method": "roots/list" },
    } });
    let shown = Act::Result(task("input_required", 1, asked));
    let server = Server::new().gets([shown.clone(), shown, Act::Result(completed(2))]);
    server.connect(Machine).await.call_tool(tool()).await.expect("a result");
    let updates = server.got("tasks/update");
    let answer = |key: &str| {
        let found = updates.iter().find_map(|update| update.params()["inputResponses"].get(key));
        found.unwrap_or_else(|| panic!("no answer to {key}: {updates:?}"))
    };
    assert_eq!(answer("m")["content"]["text"], "forty-two");
    assert_eq!(answer("r")["roots"][0]["uri"], "file:///home");
}
