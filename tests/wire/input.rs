//! Questions of a task, and their answers.

use std::time::Duration;

use mcp_tasks::types::GetTaskResult;
use serde_json::{Value, json};

use crate::support::{Wire, World};

fn accept(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

fn keys(task: &Value) -> Vec<&str> {
    task["inputRequests"].as_object().map_or_else(Vec::new, |requests| requests.keys().map(String::as_str).collect())
}

on_every_wire! {
    /// GET-02, UPD-01, case 20: a question stands in `inputRequests` until it is answered, and not a moment longer.
    async fn a_question_is_answered(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("ask", json!({})).await;
        let asked = alice.reach(&id, "input_required").await;
        serde_json::from_value::<GetTaskResult>(asked.clone()).expect("it is of the type");
        assert_eq!(keys(&asked), ["name"]);
        assert_eq!(asked["inputRequests"]["name"]["method"], "elicitation/create");
        assert_eq!(alice.update(&id, json!({ "name": accept("Ada") })).await, json!({ "resultType": "complete" }));
        let next = alice.get(&id).await;
        assert_ne!(next["status"], "input_required");
        assert!(next.get("inputRequests").is_none());
        let done = alice.reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "Hello, Ada!");
    }

    /// UPD-03, UPD-04, case 12: a partial answer is taken; the same question again has a key of its own, which the first
    /// answer does not fit.
    async fn each_question_has_a_key_of_its_own(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("ask_more", json!({})).await;
        let mut asked = alice.reach(&id, "input_required").await;
        while keys(&asked).len() < 2 {
            asked = alice.get(&id).await;
        }
        // They are asked side by side, and either may come first.
        let mut both = keys(&asked);
        both.sort_unstable();
        assert_eq!(both, ["first", "second"]);
        alice.update(&id, json!({ "first": accept("1") })).await;
        let partial = alice.get(&id).await;
        assert_eq!((&partial["status"], keys(&partial)), (&json!("input_required"), vec!["second"]));
        alice.update(&id, json!({ "second": accept("2"), "first": accept("again") })).await;
        let again = alice.reach(&id, "input_required").await;
        assert_eq!(keys(&again), ["first#2"]);
        alice.update(&id, json!({ "first": accept("replayed") })).await;
        assert_eq!(keys(&alice.get(&id).await), ["first#2"]);
        alice.update(&id, json!({ "first#2": accept("3") })).await;
        let done = alice.reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "1 2 3");
    }

    /// UPD-02, case 13: keys that nobody asked for are ignored whatever they hold, and change nothing.
    async fn unknown_keys_are_ignored(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("ask", json!({})).await;
        let before = alice.reach(&id, "input_required").await;
        world.clock.advance(Duration::from_secs(1));
        for responses in [json!({}), json!({ "unknown": { "ignored": true } }), json!({ "unknown": 5 })] {
            alice.update(&id, responses).await;
            assert_eq!(alice.get(&id).await, before);
        }
        alice.update(&id, json!({ "unknown": null, "name": accept("Ada") })).await;
        alice.reach(&id, "completed").await;
    }

    /// UPD-07: an answer that does not fit is refused with the reason for each key; nothing of the message is taken.
    async fn an_answer_that_does_not_fit_is_refused(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("ask", json!({})).await;
        let before = alice.reach(&id, "input_required").await;
        for unfit in [json!({ "action": "accept", "content": {} }), json!({ "action": "perhaps" }), json!({}), json!(7)] {
            let error = alice.error("tasks/update", json!({ "taskId": id, "inputResponses": { "name": unfit } })).await;
            assert_eq!(error["code"], -32602);
            assert_eq!(error["data"]["reason"], "invalid_input_response", "{error}");
            assert!(error["data"]["keys"]["name"].is_string(), "{error}");
            assert_eq!(alice.get(&id).await, before);
        }
        let more = json!({ "action": "accept", "content": { "name": "Ada", "unasked": 1 } });
        alice.update(&id, json!({ "name": more })).await;
        alice.reach(&id, "completed").await;
    }

    /// Case 18: declining and cancelling reach the tool as such.
    async fn users_may_decline_and_dismiss(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        for (action, text) in [("decline", "declined"), ("cancel", "dismissed")] {
            let id = alice.task("ask", json!({})).await;
            alice.reach(&id, "input_required").await;
            alice.update(&id, json!({ "name": { "action": action } })).await;
            let done = alice.reach(&id, "completed").await;
            assert_eq!(done["result"]["content"][0]["text"], text);
        }
    }

    /// Case 10: a question that the tool gave up is gone; a late answer is acknowledged and ignored.
    async fn a_question_can_be_given_up(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("ask_briefly", json!({})).await;
        alice.reach(&id, "input_required").await;
        world.advance(Duration::from_secs(1), 4).await;
        let given_up = alice.reach(&id, "working").await;
        assert!(given_up.get("inputRequests").is_none());
        alice.update(&id, json!({ "name": accept("late") })).await;
        assert_eq!(alice.get(&id).await, given_up);
        world.signals.go.add_permits(1);
        let done = alice.reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "went on");
    }

    /// Case 19: what the client did not declare it is not asked; the tool is told so.
    async fn a_client_is_asked_only_what_it_declared(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("sample", json!({})).await;
        let done = alice.reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "the client did not declare Sampling");
    }

    /// UPD-06, case 14: two answers at the same instant from two connections: both are delivered, each once.
    async fn two_answers_at_once_are_both_delivered(wire: Wire) {
        let world = World::new(wire).await;
        let (one, two) = (world.client("alice"), world.client("alice"));
        for round in 0..50 {
            let id = one.task("ask_more", json!({})).await;
            while keys(&one.get(&id).await).len() < 2 {}
            let (first, second, third) = (format!("a{round}"), format!("b{round}"), format!("c{round}"));
            tokio::join!(
                one.update(&id, json!({ "first": accept(&first) })),
                two.update(&id, json!({ "second": accept(&second), "first": accept(&first) })),
            );
            while keys(&one.get(&id).await) != ["first#2"] {}
            tokio::join!(
                one.update(&id, json!({ "first#2": accept(&third) })),
                two.update(&id, json!({ "first#2": accept(&third) })),
            );
            let done = one.reach(&id, "completed").await;
            assert_eq!(done["result"]["content"][0]["text"], format!("{first} {second} {third}"));
        }
    }
}
