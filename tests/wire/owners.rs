//! A task is its owner's.

use serde_json::{Value, json};

use crate::support::{Wire, World};

const UNKNOWN: &str = "0123456789abcdef0123456789abcdef";

on_every_wire! {
    /// SEC-02, case 27: three parties, each other's tasks: only equal pairs get an answer; the others get exactly what an
    /// unknown id gets.
    async fn a_foreign_task_looks_like_an_unknown_one(wire: Wire) {
        let world = World::new(wire).await;
        let parties = [world.client("nobody"), world.client("alice"), world.client("bob")];
        let mut ids = Vec::new();
        for party in &parties {
            ids.push(party.task("wait", json!({})).await);
        }
        for (caller, party) in parties.iter().enumerate() {
            for (owner, id) in ids.iter().enumerate() {
                for method in ["tasks/get", "tasks/update"] {
                    let own = party.request(method, json!({ "taskId": id, "inputResponses": {} })).await;
                    assert_eq!(own.get("result").is_some(), caller == owner, "{method} of {owner}'s by {caller}");
                }
                if caller != owner {
                    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                        let error = |id: &str| party.error(method, json!({ "taskId": id, "inputResponses": {} }));
                        assert_eq!(error(id).await, error(UNKNOWN).await, "{method}");
                    }
                }
            }
        }
        for (party, id) in parties.iter().zip(&ids) {
            assert_eq!(party.get(id).await["status"], "working");
        }
    }

    /// SEC-02, NOT-01, case 28: somebody else's task is left out of the acknowledgement, and nothing is heard of it.
    async fn a_foreign_task_cannot_be_listened_to(wire: Wire) {
        let world = World::new(wire).await;
        let (alice, bob) = (world.client("alice"), world.client("bob"));
        let id = alice.task("echo", json!({ "text": "a" })).await;
        let own = bob.task("wait", json!({})).await;
        let mut listen = bob.listen(&[&id, UNKNOWN, "nonsense", &own]);
        let acknowledged = listen.notified("notifications/subscriptions/acknowledged").await;
        assert_eq!(acknowledged["notifications"]["taskIds"], json!([own]));
        assert_eq!(listen.notified("notifications/tasks").await["taskId"], json!(own));
        alice.reach(&id, "completed").await;
        while let Some(message) = listen.soon().await {
            assert_eq!(message["params"]["taskId"], json!(own));
        }
    }

    /// SEC-03: there is no way to list tasks.
    async fn tasks_are_not_listed(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        for method in ["tasks/list", "tools/list", "server/discover"] {
            let answer: Value = alice.request(method, json!({})).await;
            assert!(!answer.to_string().contains(&id), "{method}: {answer}");
        }
    }
}
