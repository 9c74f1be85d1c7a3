//! What is stored, and what happens when it cannot be.

use std::sync::Arc;

use mcp_tasks::{
    ToolSet,
    clock::ManualClock,
    principal::Principal,
    store::{Operation, TaskStore, faulty::FaultyStore},
};
use serde_json::json;

use crate::{
    stores,
    support::{Wire, World},
    tools::{self, Signals},
};

type Faulty = FaultyStore<dyn TaskStore>;

async fn world(wire: Wire) -> (World<ToolSet>, Arc<Faulty>) {
    let clock = ManualClock::default();
    let fresh = stores::fresh(&clock).await;
    let store = Arc::new(FaultyStore::new(Arc::clone(&fresh.store), Arc::new(clock.clone())));
    let signals = Arc::new(Signals::default());
    let (shared, kept) = (Arc::clone(&signals), Arc::clone(&store) as Arc<dyn TaskStore>);
    let handler = move |engine: &_| tools::handler(engine, shared);
    let world = World::on(kept, clock, wire, |builder| builder, signals, handler).await;
    (world.keeping(fresh), store)
}

on_every_wire! {
    /// NEW-03, ERR-02: a task that cannot be stored is an internal error that tells nothing, and its tool does not run. So is
    /// whatever else needs the store.
    async fn a_store_that_fails_is_an_internal_error(wire: Wire) {
        let (world, store) = world(wire).await;
        let alice = world.client("alice");
        let id = alice.task("ask", json!({})).await;
        alice.reach(&id, "input_required").await;
        store.break_down(true);
        let error = alice.error("tools/call", json!({ "name": "wait", "arguments": {} })).await;
        assert_eq!(error, json!({ "code": -32603, "message": "internal error" }));
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let error = alice.error(method, json!({ "taskId": id, "inputResponses": {} })).await;
            assert_eq!(error, json!({ "code": -32603, "message": "internal error" }), "{method}");
        }
        assert_eq!(world.signals.started(), 0);
        store.break_down(false);
        assert_eq!(alice.get(&id).await["status"], "input_required");
    }

    /// SEC-02: a foreign task costs as many reads of the store as an unknown one.
    async fn a_foreign_task_is_looked_up_as_an_unknown_one_is(wire: Wire) {
        let (world, store) = world(wire).await;
        let (alice, bob) = (world.client("alice"), world.client("bob"));
        let id = alice.task("ask", json!({})).await;
        alice.reach(&id, "input_required").await;
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let mut reads = Vec::new();
            for id in [id.as_str(), "0123456789abcdef0123456789abcdef"] {
                let before = store.calls(Operation::Get);
                bob.error(method, json!({ "taskId": id, "inputResponses": {} })).await;
                reads.push(store.calls(Operation::Get) - before);
            }
            assert_eq!(reads[0], reads[1], "{method}");
        }
    }

    /// Case 29: what is stored holds the caller's name, and none of its secrets.
    async fn no_token_is_stored(wire: Wire) {
        let (world, store) = world(wire).await;
        let id = world.client("alice").task("ask", json!({})).await;
        let record = store.get(id.parse().expect("an id")).await.expect("it works").expect("it is there");
        assert_eq!(record.principal, Principal::new("alice"));
        assert!(!format!("{record:?}").contains("token-of"));
    }
}
