//! `subscriptions/listen` with `taskIds`.

use std::time::Duration;

use mcp_tasks::{limits::Limits, types::TaskStatusNotificationParams};
use serde_json::{Value, json};

use crate::support::{EXTENSION, Incoming, SUBSCRIPTION, Wire, World};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// A notification without what makes it one: what `tasks/get` would say.
fn as_read(mut notified: Value) -> Value {
    let meta = notified["_meta"].as_object_mut().expect("metadata");
    meta.remove(SUBSCRIPTION);
    if meta.is_empty() {
        notified.as_object_mut().expect("an object").remove("_meta");
    }
    notified["resultType"] = json!("complete");
    notified
}

/// Reads states until one has this status; all of them.
async fn states_until(listen: &mut Incoming, status: &str) -> Vec<Value> {
    let mut states = Vec::new();
    loop {
        let state = listen.notified("notifications/tasks").await;
        serde_json::from_value::<TaskStatusNotificationParams>(state.clone()).expect("it is of the type");
        states.push(state);
        if states[states.len() - 1]["status"] == status {
            return states;
        }
    }
}

on_every_wire! {
    /// NOT-01, NOT-03, NOT-05, NOT-06, case 20, case 42: acknowledged first, then a snapshot, then the changes up to the
    /// end; each is what a read gives, and says which subscription it is for.
    async fn a_task_is_followed_to_its_end(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        // What the tool says first is there, so that nothing changes between the snapshot and the read.
        while alice.get(&id).await["statusMessage"] != "waiting" {
            tokio::task::yield_now().await;
        }
        let mut listen = alice.listen(&[&id]);
        let acknowledged = listen.notified(ACKNOWLEDGED).await;
        assert_eq!(acknowledged, json!({ "notifications": { "taskIds": [id] }, "_meta": { SUBSCRIPTION: listen.id } }));
        let snapshot = listen.notified("notifications/tasks").await;
        assert_eq!(snapshot["_meta"][SUBSCRIPTION], listen.id);
        assert_eq!(as_read(snapshot), alice.get(&id).await);
        world.signals.go.add_permits(1);
        let states = states_until(&mut listen, "completed").await;
        assert_eq!(as_read(states[states.len() - 1].clone()), alice.get(&id).await);
        assert!(listen.is_quiet().await);
    }

    /// NOT-05, case 42: a listen that comes before the change, and one that comes after the end, hear the end as well.
    async fn the_end_is_heard_whenever_one_listens(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        let mut before = alice.listen(&[&id]);
        before.notified(ACKNOWLEDGED).await;
        world.signals.go.add_permits(1);
        let mut during = alice.listen(&[&id]);
        during.notified(ACKNOWLEDGED).await;
        alice.reach(&id, "completed").await;
        let mut after = alice.listen(&[&id]);
        assert_eq!(after.notified(ACKNOWLEDGED).await["notifications"]["taskIds"], json!([id]));
        for listen in [&mut before, &mut during, &mut after] {
            let states = states_until(listen, "completed").await;
            let moments: Vec<_> = states.iter().map(|state| state["lastUpdatedAt"].as_str().expect("text")).collect();
            assert!(moments.is_sorted(), "{moments:?}");
        }
    }

    /// NOT-02: without the capability a listen to tasks is refused, before any acknowledgement.
    async fn listening_needs_the_capability(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        let refused = alice
            .declaring_nothing()
            .error("subscriptions/listen", json!({ "notifications": { "taskIds": [id] } }))
            .await;
        assert_eq!(refused["code"], -32021);
        assert_eq!(refused["data"]["requiredCapabilities"]["extensions"][EXTENSION], json!({}));
    }

    /// Case 44: a subscription id keeps its JSON type.
    async fn a_subscription_id_keeps_its_type(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("ask", json!({})).await;
        for subscription in [json!(7), json!("7")] {
            let filter = json!({ "notifications": { "taskIds": [id] } });
            let mut listen = alice.start_as(subscription.clone(), "subscriptions/listen", filter);
            assert_eq!(listen.notified(ACKNOWLEDGED).await["_meta"][SUBSCRIPTION], subscription);
            assert_eq!(listen.notified("notifications/tasks").await["_meta"][SUBSCRIPTION], subscription);
        }
    }

    /// NOT-05, case 20: questions are pushed as they come and go.
    async fn questions_are_pushed(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("ask", json!({})).await;
        let mut listen = alice.listen(&[&id]);
        listen.notified(ACKNOWLEDGED).await;
        let states = states_until(&mut listen, "input_required").await;
        for state in &states {
            assert_eq!(state["status"] == "input_required", state.get("inputRequests").is_some(), "{state}");
        }
        alice.update(&id, json!({ "name": { "action": "decline" } })).await;
        states_until(&mut listen, "completed").await;
    }

    /// NOT-05: expiry is a change as any other, and needs no request to be noticed.
    async fn expiry_is_pushed(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("short_lived", json!({})).await;
        world.signals.all_started(1).await;
        let mut listen = alice.listen(&[&id]);
        listen.notified(ACKNOWLEDGED).await;
        assert_eq!(listen.notified("notifications/tasks").await["status"], "working");
        world.advance(Duration::from_secs(10), 4).await;
        let states = states_until(&mut listen, "failed").await;
        assert_eq!(states[states.len() - 1]["statusMessage"], "the task took longer than its time to live");
    }

    /// ERR-03, case 5: subscribers hear of a panic.
    async fn a_panic_is_pushed(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("panics", json!({})).await;
        let mut listen = alice.listen(&[&id]);
        listen.notified(ACKNOWLEDGED).await;
        let states = states_until(&mut listen, "failed").await;
        assert_eq!(states[states.len() - 1]["error"]["code"], -32603);
    }

    /// NOT-06: an engine that shuts down ends each listen with its result, after the last state of each task.
    async fn a_shutdown_ends_each_listen_with_its_result(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        world.signals.all_started(1).await;
        let (mut listen, mut of_nothing) = (alice.listen(&[&id]), alice.listen(&[]));
        listen.notified(ACKNOWLEDGED).await;
        of_nothing.notified(ACKNOWLEDGED).await;
        assert_eq!(world.engine.shutdown(Duration::ZERO).await, 0);
        states_until(&mut listen, "failed").await;
        for ended in [listen, of_nothing] {
            let result = json!({ "resultType": "complete", "_meta": { SUBSCRIPTION: ended.id } });
            assert_eq!(ended.response().await["result"], result);
        }
        // One that comes later is told how the task stands, and ended as well.
        let mut late = alice.listen(&[&id]);
        late.notified(ACKNOWLEDGED).await;
        states_until(&mut late, "failed").await;
        assert_eq!(late.response().await["result"]["resultType"], "complete");
    }

    /// NOT-05, case 43: states may be left out; the last one never is, and they come in order.
    async fn many_changes_coalesce(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("chatter", json!({ "count": 2_000 })).await;
        let mut listen = alice.listen(&[&id]);
        listen.notified(ACKNOWLEDGED).await;
        let states = states_until(&mut listen, "completed").await;
        let moments: Vec<_> = states.iter().map(|state| state["lastUpdatedAt"].as_str().expect("text")).collect();
        assert!(moments.is_sorted(), "in order");
        assert!(states.len() <= 2_002, "{}", states.len());
    }

    /// NOT-06: a listen to tasks and other things gets one acknowledgement, and all kinds under one id.
    async fn one_acknowledgement_for_all_kinds(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        world.signals.all_started(1).await;
        let filter = json!({ "notifications": { "taskIds": [id], "toolsListChanged": true } });
        let mut listen = alice.start("subscriptions/listen", filter);
        let acknowledged = listen.notified(ACKNOWLEDGED).await;
        assert_eq!(acknowledged["notifications"]["taskIds"], json!([id]));
        assert_eq!(acknowledged["_meta"][SUBSCRIPTION], listen.id);
        assert_eq!(listen.notified("notifications/tasks").await["status"], "working");
        world.signals.go.add_permits(1);
        states_until(&mut listen, "completed").await;
    }

    /// A listen that is taken back says nothing more; the task goes on.
    async fn a_listen_can_be_taken_back(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        let mut listen = alice.listen(&[&id]);
        listen.notified(ACKNOWLEDGED).await;
        listen.notified("notifications/tasks").await;
        alice.abandon(listen);
        alice.result("tools/list", json!({})).await;
        assert_eq!(alice.get(&id).await["status"], "working");
        world.signals.go.add_permits(1);
        alice.reach(&id, "completed").await;
        assert_eq!(alice.strays(), Vec::<Value>::new());
    }

    /// SEC-04: a listen to too many tasks is refused.
    async fn listens_are_limited(wire: Wire) {
        let mut limits = Limits::default();
        limits.listen_task_ids = 2;
        let world = World::with(wire, |builder| builder.limits(limits)).await;
        let ids: Vec<String> = (0..3).map(|n| format!("{n:032x}")).collect();
        let filter = json!({ "notifications": { "taskIds": ids } });
        assert_eq!(world.client("alice").code("subscriptions/listen", filter).await, -32602);
        let malformed = json!({ "notifications": { "taskIds": "x" } });
        assert_eq!(world.client("alice").code("subscriptions/listen", malformed).await, -32602);
    }
}
