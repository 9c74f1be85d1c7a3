//! Under 2025-11-25 the extension does not exist.

use serde_json::{Value, json};

use crate::support::{Client, EXTENSION, Wire, World};

/// A client that has begun a session of 2025-11-25, declaring all that it can.
async fn session(world: &World) -> (Client, Value) {
    let client = world.client("alice").without_meta();
    let params = json!({
        "protocolVersion": "2025-11-25",
        "clientInfo": { "name": "old", "version": "1" },
        "capabilities": { "extensions": { EXTENSION: {} }, "elicitation": {}, "tasks": { "list": {} } },
    });
    let initialized = client.result("initialize", params).await;
    client.notify("notifications/initialized", json!({}));
    (client, initialized)
}

/// LEG-01, LEG-04: neither the extension nor the experimental tasks are advertised.
#[tokio::test]
async fn the_extension_is_not_advertised() {
    let world = World::new(Wire::Stdio).await;
    let (_, initialized) = session(&world).await;
    assert_eq!(initialized["protocolVersion"], "2025-11-25");
    let capabilities = &initialized["capabilities"];
    assert!(capabilities.get("extensions").is_none() && capabilities.get("tasks").is_none(), "{initialized}");
}

/// LEG-01, CAP-02, case 36: no task is ever made, whatever the client declared.
#[tokio::test]
async fn no_task_is_made() {
    let world = World::new(Wire::Stdio).await;
    let (client, _) = session(&world).await;
    let result = client.call("echo", json!({ "text": "a" })).await;
    assert_eq!(result["content"][0]["text"], "a");
    assert!(result.get("taskId").is_none() && result.get("resultType").is_none(), "{result}");
}

/// LEG-01, CAP-05: a tool that only runs as a task refuses, before it runs.
#[tokio::test]
async fn a_required_tool_refuses() {
    let world = World::new(Wire::Stdio).await;
    let (client, _) = session(&world).await;
    assert_eq!(client.code("tools/call", json!({ "name": "required", "arguments": {} })).await, -32021);
    assert_eq!(world.signals.started(), 0);
}

/// LEG-01: `tasks/*` does not exist, and neither does a listen.
#[tokio::test]
async fn task_requests_do_not_exist() {
    let world = World::new(Wire::Stdio).await;
    let (client, _) = session(&world).await;
    let id = world.client("alice").task("wait", json!({})).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"] {
        assert_eq!(client.code(method, json!({ "taskId": id, "inputResponses": {} })).await, -32601, "{method}");
    }
    let filter = json!({ "notifications": { "taskIds": [id] } });
    assert_eq!(client.code("subscriptions/listen", filter).await, -32601);
}

/// NEW-02: a question goes to the client as a request of its own, while the call waits; the tool runs once.
#[tokio::test]
async fn a_question_is_a_request_to_the_client() {
    let world = World::new(Wire::Stdio).await;
    let (client, _) = session(&world).await;
    let call = client.start("tools/call", json!({ "name": "ask_first", "arguments": {} }));
    let mut asked = Vec::new();
    while asked.is_empty() {
        asked = client.strays();
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    assert_eq!(asked[0]["method"], "elicitation/create");
    assert!(asked[0]["params"]["requestedSchema"]["properties"]["name"].is_object(), "{asked:?}");
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    client.post(json!({ "jsonrpc": "2.0", "id": asked[0]["id"], "result": answer }));
    let response = call.response().await;
    assert_eq!(response["result"]["content"][0]["text"], "Hello, Ada! (false)", "{response}");
    assert_eq!(world.signals.started(), 1);
}

/// What the server has said of its own accord, once it is this much.
async fn said(client: &Client, count: usize) -> Vec<Value> {
    let said = async {
        while client.strays().len() < count {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        client.strays()
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), said).await.expect("the messages come")
}

/// NEW-02: questions that are asked together are put together; one that the tool gives up is taken back, and is in nobody's
/// way.
#[tokio::test]
async fn a_question_that_is_given_up_is_taken_back() {
    let world = World::new(Wire::Stdio).await;
    let (client, _) = session(&world).await;
    let call = client.start("tools/call", json!({ "name": "ask_on", "arguments": {} }));
    let both = said(&client, 2).await;
    assert!(both.iter().all(|asked| asked["method"] == "elicitation/create"), "{both:?}");
    world.signals.go.add_permits(1);
    let later = said(&client, 5).await.split_off(2);
    let (asked, mut taken_back): (Vec<_>, Vec<_>) =
        later.into_iter().partition(|said| said["method"] == "elicitation/create");
    taken_back.sort_by_key(|said| said["params"]["requestId"].as_u64());
    for (said, question) in taken_back.iter().zip(&both) {
        assert_eq!(said["method"], "notifications/cancelled", "{said}");
        assert_eq!(said["params"]["requestId"], question["id"], "{said}");
    }
    assert_eq!((asked.len(), taken_back.len()), (1, 2));
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    client.post(json!({ "jsonrpc": "2.0", "id": asked[0]["id"], "result": answer }));
    let response = call.response().await;
    assert_eq!(response["result"]["content"][0]["text"], "Ada", "{response}");
}
