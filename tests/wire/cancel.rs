//! Cancellation: what it stops, and what it does not.

use serde_json::json;

use crate::support::{Wire, World};

on_every_wire! {
    /// CAN-01, CAN-02, case 2: acknowledged at once; the tool is dropped, and the task is cancelled for ever.
    async fn a_cancelled_tool_is_dropped(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        world.signals.all_started(1).await;
        assert_eq!(alice.cancel(&id).await, json!({ "resultType": "complete" }));
        world.signals.all_ended(1).await;
        let cancelled = alice.get(&id).await;
        assert_eq!(cancelled["status"], "cancelled");
        world.signals.go.add_permits(1);
        assert_eq!(alice.get(&id).await, cancelled);
    }

    /// Case 1: cancelled before it has begun to run, a tool does not run on as a ghost.
    async fn a_task_can_be_cancelled_before_its_tool_runs(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        for _ in 0..20 {
            let id = alice.task("wait", json!({})).await;
            alice.cancel(&id).await;
            assert_eq!(alice.get(&id).await["status"], "cancelled");
        }
        world.signals.all_ended(world.signals.started()).await;
        assert_eq!(world.engine.running(), 0);
    }

    /// CAN-02, CAN-01, case 11: a tool that is told takes its time and ends in its own way; the acknowledgement does not
    /// wait. What it asks after it was told is answered "cancelled".
    async fn a_tool_that_is_told_ends_in_its_own_way(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("polite", json!({})).await;
        world.signals.all_started(1).await;
        alice.cancel(&id).await;
        assert_eq!(alice.get(&id).await["status"], "working");
        world.signals.go.add_permits(1);
        let done = alice.reach(&id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "told to stop; true");
    }

    /// CAN-02: a tool that is told and then ends with an error has been cancelled; nobody asked for its error any more.
    async fn a_tool_that_is_told_and_ends_with_an_error_is_cancelled(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        for (started, protocol) in [(1, false), (2, true)] {
            let id = alice.task("gives_up", json!({ "protocol": protocol })).await;
            world.signals.all_started(started).await;
            alice.cancel(&id).await;
            let cancelled = alice.reach(&id, "cancelled").await;
            assert!(cancelled.get("error").is_none() && cancelled.get("result").is_none(), "{cancelled}");
        }
    }

    /// CAN-03, TSK-08, case 3: the cancellation of a task that has ended is acknowledged, and changes nothing.
    async fn cancelling_an_ended_task_changes_nothing(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        for (tool, arguments, status) in
            [("echo", json!({ "text": "a" }), "completed"), ("breaks", json!({}), "failed"), ("panics", json!({}), "failed")]
        {
            let id = alice.task(tool, arguments).await;
            let ended = alice.reach(&id, status).await;
            world.clock.advance(std::time::Duration::from_secs(1));
            assert_eq!(alice.cancel(&id).await, json!({ "resultType": "complete" }));
            assert_eq!(alice.get(&id).await, ended);
        }
    }

    /// CAN-05: a task that waits for an answer can be cancelled.
    async fn a_waiting_task_can_be_cancelled(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("ask", json!({})).await;
        alice.reach(&id, "input_required").await;
        alice.cancel(&id).await;
        let cancelled = alice.get(&id).await;
        assert_eq!(cancelled["status"], "cancelled");
        assert!(cancelled.get("inputRequests").is_none());
    }

    /// CAN-04: a request that is taken back while its tool runs inside it stops the tool, and there never is a task.
    async fn taking_back_a_request_stops_its_tool(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice").declaring_nothing();
        let call = alice.start("tools/call", json!({ "name": "wait", "arguments": {} }));
        world.signals.all_started(1).await;
        alice.abandon(call);
        world.signals.all_ended(1).await;
        assert_eq!(world.engine.running(), 0);
    }
}

/// CAN-04: `notifications/cancelled` cancels no task, not even one whose creating request it names.
#[tokio::test]
async fn a_cancelled_notification_cancels_no_task() {
    let world = World::new(Wire::Stdio).await;
    let alice = world.client("alice");
    let call = alice.start_as(json!(99), "tools/call", json!({ "name": "wait", "arguments": {} }));
    let created = call.response().await;
    let id = created["result"]["taskId"].as_str().expect("an id").to_owned();
    world.signals.all_started(1).await;
    alice.notify("notifications/cancelled", json!({ "requestId": 99, "reason": "no" }));
    alice.result("tools/list", json!({})).await;
    assert_eq!(alice.get(&id).await["status"], "working");
    world.signals.go.add_permits(1);
    alice.reach(&id, "completed").await;
}
