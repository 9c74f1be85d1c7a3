//! `tools/call`: inside the request, as a task, or first one and then the other.

use std::time::Duration;

use mcp_tasks::limits::Limits;
use serde_json::json;

use crate::support::{Wire, World};

on_every_wire! {
    /// A tool whose `when` says no answers inside the request, whoever asks; a stray `task` makes no difference.
    async fn a_tool_that_wants_no_task_gets_none(wire: Wire) {
        let world = World::new(wire).await;
        let result = world.client("alice").call("greet", json!({ "name": "Ada" })).await;
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result["content"][0]["text"], "Hello, Ada!");
    }

    /// Case 45: a short run answers plainly.
    async fn a_short_run_stays_inside_the_request(wire: Wire) {
        let world = World::new(wire).await;
        let call = world.client("alice").start("tools/call", json!({ "name": "promoted", "arguments": { "milliseconds": 50 } }));
        world.signals.all_started(1).await;
        // The sweep, the renewal, the promotion and the tool wait for the clock.
        world.advance(Duration::from_millis(50), 4).await;
        let response = call.response().await;
        assert_eq!(response["result"]["resultType"], "complete");
        assert_eq!(response["result"]["content"][0]["text"], "took 50");
        assert_eq!((world.signals.started(), world.signals.ended()), (1, 1));
    }

    /// Case 45: a long run becomes a task after its second, and its side effect happens once.
    async fn a_long_run_becomes_a_task(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let mut call = alice.start("tools/call", json!({ "name": "promoted", "arguments": { "milliseconds": 5000 } }));
        world.signals.all_started(1).await;
        world.advance(Duration::from_millis(999), 4).await;
        assert!(call.is_quiet().await);
        world.advance(Duration::from_millis(1), 4).await;
        let created = call.response().await;
        assert_eq!(created["result"]["resultType"], "task", "{created}");
        let id = created["result"]["taskId"].as_str().expect("an id");
        assert_eq!(alice.get(id).await["status"], "working");
        world.clock.advance(Duration::from_secs(4));
        let done = alice.reach(id, "completed").await;
        assert_eq!(done["result"]["content"][0]["text"], "took 5000");
        assert_eq!((world.signals.started(), world.signals.ended()), (1, 1));
    }

    /// ERR-04: arguments that do not fit are a result that a model can read, and no task.
    async fn arguments_that_do_not_fit_make_no_task(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        for arguments in [json!({}), json!({ "n": "x" }), json!({ "n": -1 })] {
            let result = alice.call("number", arguments.clone()).await;
            assert_eq!((&result["resultType"], &result["isError"]), (&json!("complete"), &json!(true)), "{arguments}");
            assert!(result["content"][0]["text"].as_str().expect("text").contains("`n`"), "{result}");
        }
        assert_eq!(world.signals.started(), 0);
    }

    /// A tool that nobody has is refused, and makes no task.
    async fn an_unknown_tool_is_refused(wire: Wire) {
        let world = World::new(wire).await;
        assert_eq!(world.client("alice").code("tools/call", json!({ "name": "nobody", "arguments": {} })).await, -32602);
    }

    /// SEC-04: limits have errors of their own, and start nothing.
    async fn limits_are_errors(wire: Wire) {
        let mut limits = Limits::default();
        limits.argument_bytes = 40;
        limits.quota.live_per_principal = 1;
        let world = World::with(wire, |builder| builder.limits(limits)).await;
        let alice = world.client("alice");
        let long = json!({ "name": "echo", "arguments": { "text": "x".repeat(50) } });
        let error = alice.error("tools/call", long).await;
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().expect("text").contains("more than the limit of 40"), "{error}");
        alice.task("wait", json!({})).await;
        world.signals.all_started(1).await;
        let error = alice.error("tools/call", json!({ "name": "wait", "arguments": {} })).await;
        assert_eq!(error["message"], "the caller already has 1 unsettled tasks");
        world.client("bob").task("wait", json!({})).await;
        world.signals.all_started(2).await;
        assert_eq!(world.signals.started(), 2);
    }

    /// Case 26: what a tool is given comes back as it was, odd texts and large numbers included.
    async fn odd_arguments_come_back(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        for text in ["\u{0}", "\u{10FFFF}\u{FFFE}", "\"\\\n", &"é".repeat(100_000)] {
            let id = alice.task("echo", json!({ "text": text })).await;
            assert_eq!(alice.reach(&id, "completed").await["result"]["content"][0]["text"], text);
        }
    }

    /// Case 9: after a shutdown nothing starts, and calls are refused.
    async fn a_server_that_shuts_down_refuses_calls(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("echo", json!({ "text": "a" })).await;
        alice.reach(&id, "completed").await;
        assert_eq!(world.engine.shutdown(Duration::ZERO).await, 0);
        let call = json!({ "name": "echo", "arguments": { "text": "a" } });
        for client in [&alice, &alice.declaring_nothing()] {
            assert_eq!(client.code("tools/call", call.clone()).await, -32603);
        }
        assert_eq!(alice.get(&id).await["status"], "completed");
    }
}

/// Case 4: a tool that blocks its thread holds up no request about any task.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_blocked_thread_holds_up_nobody() {
    for wire in [Wire::Stdio, Wire::Http] {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let (blocked, other) = (alice.task("block", json!({})).await, alice.task("ask", json!({})).await);
        world.signals.all_started(1).await;
        alice.reach(&other, "input_required").await;
        assert_eq!(alice.get(&blocked).await["status"], "working");
        alice.cancel(&other).await;
        alice.cancel(&blocked).await;
        assert_eq!(alice.get(&blocked).await["status"], "cancelled");
        assert_eq!(world.signals.ended(), 0);
        world.signals.go.add_permits(1);
        world.signals.all_ended(1).await;
        assert_eq!(alice.get(&blocked).await["status"], "cancelled");
    }
}
