//! What a task looks like from its creation to its end, and how it ends.

use std::{collections::HashSet, time::Duration};

use mcp_tasks::types::{CreateTaskResult, GetTaskResult};
use serde_json::{Value, json};

use crate::support::{Wire, World};

/// The members that are `null`.
fn nulls(message: &Value) -> Vec<&str> {
    let members = message.as_object().expect("an object");
    members.iter().filter(|(_, value)| value.is_null()).map(|(key, _)| key.as_str()).collect()
}

on_every_wire! {
    /// RES-01, TSK-01, TSK-09, NEW-01: a call is answered with a task that works, and that can be read at once.
    async fn a_task_is_created(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let created = alice.call("wait", json!({})).await;
        let typed: CreateTaskResult = serde_json::from_value(created.clone()).expect("it is of the type");
        assert_eq!(created["resultType"], "task");
        assert_eq!(created["status"], "working");
        assert_eq!(created["createdAt"], created["lastUpdatedAt"]);
        assert_eq!((&created["ttlMs"], &created["pollIntervalMs"]), (&json!(3_600_000), &json!(1_000)));
        assert!(created.get("result").is_none() && created.get("statusMessage").is_none());
        let read = alice.get(typed.task_id.as_str()).await;
        assert_eq!(read["taskId"], created["taskId"]);
    }

    /// RES-02, RES-03: `resultType` is `complete` on everything about a task but its creation.
    async fn answers_about_tasks_are_complete(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        assert_eq!(alice.get(&id).await["resultType"], "complete");
        assert_eq!(alice.update(&id, json!({})).await, json!({ "resultType": "complete" }));
        assert_eq!(alice.cancel(&id).await, json!({ "resultType": "complete" }));
        assert_eq!(alice.get(&id).await["resultType"], "complete");
    }

    /// GET-01, case 25: reading changes nothing: two reads are equal, `lastUpdatedAt` too.
    async fn reading_is_pure(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        let mut first = alice.get(&id).await;
        while first["statusMessage"] != "waiting" {
            first = alice.get(&id).await;
        }
        world.clock.advance(Duration::from_secs(5));
        assert_eq!(alice.get(&id).await, first);
    }

    /// TSK-02, case 24: an unlimited task says `"ttlMs": null`, and nothing is null beside it.
    async fn only_an_unlimited_ttl_is_null(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let created = alice.call("unlimited", json!({})).await;
        let done = alice.reach(created["taskId"].as_str().expect("an id"), "completed").await;
        assert_eq!((nulls(&created), nulls(&done)), (vec!["ttlMs"], vec!["ttlMs"]));
        let id = alice.task("ask", json!({})).await;
        assert_eq!(nulls(&alice.reach(&id, "input_required").await), Vec::<&str>::new());
    }

    /// TSK-03, TSK-04: timestamps are RFC 3339 in UTC, and grow with each change though the clock stands still.
    async fn time_goes_on_with_each_change(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("steps", json!({ "count": 2 })).await;
        let mut seen = vec![alice.get(&id).await["lastUpdatedAt"].as_str().expect("text").to_owned()];
        for _ in 0..2 {
            world.signals.go.add_permits(1);
            let before = seen[seen.len() - 1].clone();
            let mut now = before.clone();
            while now == before {
                now = alice.get(&id).await["lastUpdatedAt"].as_str().expect("text").to_owned();
            }
            seen.push(now);
        }
        assert!(seen.is_sorted(), "{seen:?}");
        assert!(seen.iter().all(|moment| moment.ends_with('Z') && moment.len() == 24), "{seen:?}");
    }

    /// NOT-04: progress is a status message, and `_meta` for those who know it.
    async fn progress_is_a_status_message(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("steps", json!({ "count": 3 })).await;
        world.signals.go.add_permits(1);
        let mut task = Value::Null;
        while task["statusMessage"] != "1/3" {
            task = alice.get(&id).await;
        }
        assert_eq!(task["_meta"]["rs.mcp-tasks/progress"], json!({ "done": 1, "total": 3 }));
    }

    /// GET-06, TSK-05, TSK-06, case 35: a result comes back whole, with all that it can have, and what a client that reads
    /// it by the types writes again is the same, `_meta` and members that no schema names included.
    async fn a_result_comes_back_whole(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let inline = alice.declaring_nothing().call("rich", json!({})).await;
        let id = alice.task("rich", json!({})).await;
        let done = alice.reach(&id, "completed").await;
        let read: GetTaskResult = serde_json::from_value(done.clone()).expect("it is of the type");
        assert_eq!(serde_json::to_value(&read).expect("it can be written"), done);
        assert_eq!(done["result"]["isError"], true);
        assert_eq!(done["result"]["structuredContent"]["large"], json!(9_007_199_254_740_993_u64));
        assert_eq!(done["result"]["_meta"]["rs.example/key"], json!({ "a": [1, 2] }));
        let without_server_info = |mut result: Value| {
            if let Some(meta) = result["_meta"].as_object_mut() {
                meta.remove("io.modelcontextprotocol/serverInfo");
            }
            result
        };
        assert_eq!(without_server_info(done["result"].clone()), without_server_info(inline));
    }

    /// TSK-08, case 8: the end of a task is the same each time it is read.
    async fn an_ended_task_never_changes(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("echo", json!({ "text": "a" })).await;
        let first = alice.reach(&id, "completed").await;
        world.clock.advance(Duration::from_secs(10));
        alice.update(&id, json!({ "name": { "action": "decline" } })).await;
        for _ in 0..3 {
            assert_eq!(alice.get(&id).await, first);
        }
    }

    /// TSK-07, ERR-05: a tool's own error is a result.
    async fn a_tool_error_is_completed(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("required", json!({})).await;
        let done = alice.reach(&id, "completed").await;
        assert_eq!(done["result"]["isError"], true);
        assert_eq!(done["result"]["content"][0]["text"], "it did not work");
        assert!(done.get("error").is_none());
    }

    /// TSK-07, TSK-10, ERR-05: a JSON-RPC error of the tool fails the task, with exactly that error and a message.
    async fn a_protocol_error_is_failed(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("breaks", json!({})).await;
        let failed = alice.reach(&id, "failed").await;
        let error = json!({ "code": -32055, "message": "broken", "data": { "why": "so" } });
        assert_eq!((&failed["error"], &failed["statusMessage"]), (&error, &json!("broken")));
        assert!(failed.get("result").is_none());
        let call = json!({ "name": "breaks", "arguments": {} });
        assert_eq!(alice.declaring_nothing().error("tools/call", call).await, error);
    }

    /// ERR-02, ERR-03, case 5: a panic fails the task at once, tells nothing of itself, and leaves the server alive.
    async fn a_panic_fails_the_task(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("panics", json!({})).await;
        let failed = alice.reach(&id, "failed").await;
        assert_eq!(failed["error"]["code"], -32603);
        assert!(!failed.to_string().contains("secret"), "{failed}");
        assert_eq!(world.engine.running(), 0);
        let call = json!({ "name": "panics", "arguments": {} });
        let inline = alice.declaring_nothing().error("tools/call", call).await;
        assert_eq!(inline["code"], -32603);
        assert!(!inline.to_string().contains("secret"), "{inline}");
        alice.task("echo", json!({ "text": "alive" })).await;
    }

    /// GET-05, case 22: an unfinished task fails at the end of its time, stays for the grace period, and is gone then.
    async fn an_unfinished_task_expires(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("short_lived", json!({})).await;
        world.signals.all_started(1).await;
        world.clock.advance(Duration::from_secs(10));
        let failed = alice.get(&id).await;
        assert_eq!(failed["status"], "failed");
        assert_eq!(failed["statusMessage"], "the task took longer than its time to live");
        world.signals.all_ended(1).await;
        world.clock.advance(Duration::from_secs(60));
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            assert_eq!(alice.code(method, json!({ "taskId": id, "inputResponses": {} })).await, -32602, "{method}");
        }
    }

    /// GET-03, GET-05, case 22: a finished task is gone at the end of its time, before any sweep.
    async fn a_finished_task_is_gone_in_time(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("short_kept", json!({})).await;
        alice.reach(&id, "completed").await;
        world.clock.advance(Duration::from_secs(10));
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            assert_eq!(alice.code(method, json!({ "taskId": id, "inputResponses": {} })).await, -32602, "{method}");
        }
    }

    /// SEC-01: ids are 32 hexadecimal digits, none like another.
    async fn ids_are_unguessable(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let mut ids = HashSet::new();
        for _ in 0..20 {
            ids.insert(alice.task("echo", json!({ "text": "a" })).await);
        }
        assert_eq!(ids.len(), 20);
        assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit())));
    }
}
