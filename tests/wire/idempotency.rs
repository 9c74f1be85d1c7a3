//! Idempotency keys (own extension): a call that is made again gets the task that it made before (NEW-01, NEW-03).

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Wire, World};

const KEY: &str = "rs.mcp-tasks/idempotency-key";

fn wait() -> Value {
    json!({ "name": "wait", "arguments": {} })
}

fn promoted(milliseconds: u64) -> Value {
    json!({ "name": "promoted", "arguments": { "milliseconds": milliseconds } })
}

on_every_wire! {
    /// The server says that it understands keys by an extension of its own; that of tasks stays empty (CAP-01).
    async fn keys_are_advertised(wire: Wire) {
        let world = World::new(wire).await;
        let discovered = world.client("alice").result("server/discover", json!({})).await;
        let extensions = &discovered["capabilities"]["extensions"];
        assert_eq!(*extensions, json!({ "io.modelcontextprotocol/tasks": {}, KEY: {} }));
    }

    /// NEW-01: the answer to a creation that was lost can be asked for again; the tool has started once. The order of the
    /// arguments does not matter.
    async fn a_repeated_call_gets_its_task(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice").with_key(json!("k1"));
        let id = alice.task("wait", json!({ "a": 1, "b": { "c": 2, "d": 3 } })).await;
        world.signals.all_started(1).await;
        assert_eq!(alice.task("wait", json!({ "b": { "d": 3, "c": 2 }, "a": 1 })).await, id);
        assert_ne!(alice.with_key(json!("k2")).task("wait", json!({})).await, id);
        world.signals.all_started(2).await;
        assert_eq!(world.signals.started(), 2);
    }

    /// The task comes back as it stands now, also after its end.
    async fn a_repeated_call_gets_the_state_of_now(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice").with_key(json!("k"));
        let id = alice.task("echo", json!({ "text": "a" })).await;
        let done = alice.reach(&id, "completed").await;
        let again = alice.call("echo", json!({ "text": "a" })).await;
        assert_eq!((&again["resultType"], &again["taskId"], &again["status"]), (&json!("task"), &json!(id), &json!("completed")));
        assert_eq!(again["lastUpdatedAt"], done["lastUpdatedAt"]);
        assert!(again.get("result").is_none(), "{again}");
    }

    /// Two calls at one moment with one key: one run of the tool, one task.
    async fn simultaneous_calls_run_once(wire: Wire) {
        let world = World::new(wire).await;
        let clients = [world.client("alice"), world.client("alice")].map(|client| client.with_key(json!("k")));
        for round in 0..20 {
            let call = json!({ "name": "wait", "arguments": { "round": round } });
            let [first, second] = clients.each_ref().map(|client| client.with_key(json!(format!("k{round}"))));
            let (first, second) = (first.start("tools/call", call.clone()), second.start("tools/call", call));
            let (first, second) = tokio::join!(first.response(), second.response());
            assert_eq!(first["result"]["resultType"], "task", "{first}");
            assert_eq!(first["result"]["taskId"], second["result"]["taskId"]);
        }
        world.signals.all_started(20).await;
        assert_eq!(world.signals.started(), 20);
    }

    /// A key that is used for another tool or other arguments is refused by name, and starts nothing.
    async fn a_key_is_for_one_call(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice").with_key(json!("mine"));
        alice.task("wait", json!({})).await;
        world.signals.all_started(1).await;
        let others = [json!({ "name": "wait", "arguments": { "a": 1 } }), json!({ "name": "echo", "arguments": { "text": "a" } }), promoted(1)];
        for other in others {
            let error = alice.error("tools/call", other).await;
            assert_eq!(error["code"], -32602);
            assert_eq!(error["message"], "the idempotency key \"mine\" is that of another call");
        }
        assert_eq!(world.signals.started(), 1);
    }

    /// SEC-02: a key says nothing about the tasks of others.
    async fn everybody_has_keys_of_his_own(wire: Wire) {
        let world = World::new(wire).await;
        let key = json!("k");
        let alices = world.client("alice").with_key(key.clone()).task("wait", json!({})).await;
        let bobs = world.client("bob").with_key(key).task("wait", json!({ "other": true })).await;
        assert_ne!(alices, bobs);
    }

    /// What is no key is refused before anything runs.
    async fn what_is_no_key_is_refused(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        for bad in [json!(""), json!(5), json!(null), json!({}), json!("x".repeat(129)), json!("é".repeat(129))] {
            let error = alice.with_key(bad.clone()).error("tools/call", wait()).await;
            assert_eq!(error["code"], -32602, "{bad}");
            assert!(error["message"].as_str().expect("text").contains(KEY), "{error}");
        }
        assert_eq!(world.signals.started(), 0);
        for good in ["x", &"é".repeat(128)] {
            alice.with_key(json!(good)).task("wait", json!({})).await;
        }
    }

    /// CAP-02: a request that does not declare tasks gets none, and its key is not even looked at.
    async fn without_tasks_there_are_no_keys(wire: Wire) {
        let world = World::new(wire).await;
        let plain = world.client("alice").declaring_nothing();
        for key in [json!("k"), json!("k"), json!(5)] {
            let result = plain.with_key(key).call("number", json!({ "n": 1 })).await;
            assert_eq!(result["resultType"], "complete");
        }
        assert_eq!(world.signals.started(), 3);
    }

    /// Case 45: a keyed call of a tool with `promote_after` answers plainly if it ends in time; made again, it gets the task
    /// that was behind it.
    async fn a_short_keyed_run_answers_plainly(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice").with_key(json!("k"));
        let call = alice.start("tools/call", promoted(50));
        world.signals.all_started(1).await;
        // The sweep, the renewal, the tool, the promotion, and the look at a task that is followed.
        world.advance(Duration::from_millis(50), 5).await;
        let response = call.response().await;
        assert_eq!(response["result"]["resultType"], "complete", "{response}");
        assert_eq!(response["result"]["content"][0]["text"], "took 50");
        let again = alice.result("tools/call", promoted(50)).await;
        assert_eq!((&again["resultType"], &again["status"]), (&json!("task"), &json!("completed")));
        assert_eq!(world.signals.started(), 1);
    }

    /// Case 45, NEW-01: while a keyed call waits inside its request its task is there already: made again, the call gets it at
    /// once; the first one gets it when its time is over.
    async fn a_long_keyed_run_can_be_asked_for_at_once(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice").with_key(json!("k"));
        let mut call = alice.start("tools/call", promoted(5_000));
        world.signals.all_started(1).await;
        let again = alice.result("tools/call", promoted(5_000)).await;
        assert_eq!((&again["resultType"], &again["status"]), (&json!("task"), &json!("working")));
        assert!(call.is_quiet().await);
        world.advance(Duration::from_secs(1), 5).await;
        assert_eq!(call.response().await["result"]["taskId"], again["taskId"]);
        assert_eq!(world.signals.started(), 1);
    }

    /// CAN-04: a keyed call that is taken back while it waits inside its request has a task by then, which goes on.
    async fn a_keyed_call_that_is_taken_back_goes_on(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice").with_key(json!("k"));
        let call = alice.start("tools/call", promoted(5_000));
        world.signals.all_started(1).await;
        alice.abandon(call);
        let id = alice.task("promoted", json!({ "milliseconds": 5_000 })).await;
        world.advance(Duration::from_secs(5), 3).await;
        alice.reach(&id, "completed").await;
        assert_eq!((world.signals.started(), world.signals.ended()), (1, 1));
    }

    /// A key is free again once its task is gone (GET-05).
    async fn a_key_lasts_as_long_as_its_task(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice").with_key(json!("k"));
        let first = alice.task("short_kept", json!({})).await;
        alice.reach(&first, "completed").await;
        world.clock.advance(Duration::from_secs(10));
        assert_ne!(alice.task("short_kept", json!({})).await, first);
    }
}
