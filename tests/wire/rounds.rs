//! Questions before there is a task: multi-round-trip requests (NEW-02).

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Wire, World};

fn accept(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

/// The first call; what is asked.
async fn ask(client: &Client, tool: &str) -> Value {
    let asked = client.call(tool, json!({})).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert!(asked.get("taskId").is_none());
    asked
}

/// The second call.
fn retry(asked: &Value, tool: &str, responses: Value) -> Value {
    json!({ "name": tool, "arguments": {}, "requestState": asked["requestState"], "inputResponses": responses })
}

on_every_wire! {
    /// NEW-02: a tool may ask before there is a task; its answers are the task's from the start, under no key of the task's.
    async fn a_tool_can_ask_first_and_be_a_task_then(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let asked = ask(&alice, "ask_first").await;
        assert_eq!(asked["inputRequests"]["name"]["method"], "elicitation/create");
        world.signals.all_ended(1).await;
        let created = alice.result("tools/call", retry(&asked, "ask_first", json!({ "name": accept("Alice") }))).await;
        assert_eq!(created["resultType"], "task", "{created}");
        let id = created["taskId"].as_str().expect("an id");
        assert!(alice.get(id).await.get("inputRequests").is_none());
        let done = alice.reach(id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "Hello, Alice! (true)");
    }

    /// NEW-02: a client that does not know tasks is asked in the same way, and gets its result inside the request; what a
    /// tool asks at once it is asked at once.
    async fn a_client_without_tasks_is_asked_in_rounds(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice").declaring(json!({ "elicitation": {} }));
        let asked = ask(&alice, "ask_more").await;
        let keys: Vec<_> = asked["inputRequests"].as_object().expect("questions").keys().collect();
        assert_eq!(keys, ["first", "second"]);
        let partial = retry(&asked, "ask_more", json!({ "second": accept("2"), "unknown": 5 }));
        let asked = alice.result("tools/call", partial).await;
        let keys: Vec<_> = asked["inputRequests"].as_object().expect("questions").keys().collect();
        assert_eq!(keys, ["first"]);
        let asked = alice.result("tools/call", retry(&asked, "ask_more", json!({ "first": accept("1") }))).await;
        let keys: Vec<_> = asked["inputRequests"].as_object().expect("questions").keys().collect();
        assert_eq!(keys, ["first#2"]);
        let done = alice.result("tools/call", retry(&asked, "ask_more", json!({ "first#2": accept("3") }))).await;
        assert_eq!(done["resultType"], "complete");
        assert_eq!(done["content"][0]["text"], "1 2 3");
    }

    /// SEC-05: the state is of use for its own call alone, and for a while.
    async fn a_state_is_bound_to_its_call(wire: Wire) {
        let world = World::new(wire).await;
        let (alice, bob) = (world.client("alice"), world.client("bob"));
        let asked = ask(&alice, "ask_first").await;
        let good = retry(&asked, "ask_first", json!({ "name": accept("Alice") }));
        let changed = |key: &str, value: Value| {
            let mut call = good.clone();
            call[key] = value;
            call
        };
        let state = asked["requestState"].as_str().expect("a state");
        let forged = format!("{}A", &state[..state.len() - 1]);
        assert_eq!(bob.code("tools/call", good.clone()).await, -32602);
        assert_eq!(alice.code("tools/call", changed("name", json!("ask"))).await, -32602);
        assert_eq!(alice.code("tools/call", changed("arguments", json!({ "more": 1 }))).await, -32602);
        if forged != state {
            assert_eq!(alice.code("tools/call", changed("requestState", json!(forged))).await, -32602);
        }
        assert_eq!(alice.result("tools/call", good.clone()).await["resultType"], "task");
        world.clock.advance(Duration::from_secs(3600));
        assert_eq!(alice.code("tools/call", good).await, -32602);
    }

    /// UPD-07: an answer that does not fit is refused before a task exists as it is after.
    async fn an_answer_that_does_not_fit_is_refused(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let asked = ask(&alice, "ask_first").await;
        let unfit = retry(&asked, "ask_first", json!({ "name": { "action": "accept", "content": { "name": 5 } } }));
        let error = alice.error("tools/call", unfit).await;
        assert_eq!((&error["code"], &error["data"]["reason"]), (&json!(-32602), &json!("invalid_input_response")));
    }
}
