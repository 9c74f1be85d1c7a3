//! Who gets tasks, and who is told that they exist.

use serde_json::{Value, json};

use crate::support::{EXTENSION, Wire, World};

fn missing_capability() -> Value {
    json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } })
}

on_every_wire! {
    /// CAP-01: `server/discover` advertises the extension, as an empty object. LEG-04: and nothing of the experimental kind.
    async fn the_extension_is_advertised(wire: Wire) {
        let world = World::new(wire).await;
        let discovered = world.client("alice").result("server/discover", json!({})).await;
        assert_eq!(discovered["capabilities"]["extensions"][EXTENSION], json!({}));
        assert!(discovered["capabilities"].get("tasks").is_none(), "{discovered}");
    }

    /// CAP-02, CAP-07, case 33: what an earlier request declared does not count for the next one.
    async fn a_request_that_declares_nothing_gets_a_plain_result(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        alice.task("echo", json!({ "text": "a" })).await;
        let plain = alice.declaring_nothing().call("echo", json!({ "text": "b" })).await;
        assert_eq!(plain["resultType"], "complete");
        assert_eq!(plain["content"][0]["text"], "b");
        assert!(plain.get("taskId").is_none());
    }

    /// LEG-04: a client that declares only the capability of the experimental tasks declares nothing.
    async fn the_legacy_capability_is_not_the_extension(wire: Wire) {
        let world = World::new(wire).await;
        let legacy = json!({ "tasks": { "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } } });
        let result = world.client("alice").declaring(legacy).call("echo", json!({ "text": "a" })).await;
        assert_eq!(result["resultType"], "complete");
    }

    /// CAP-05: a tool that only runs as a task refuses a client that did not declare tasks, and does not run.
    async fn a_required_tool_refuses_before_it_runs(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice").declaring_nothing();
        let error = alice.error("tools/call", json!({ "name": "required", "arguments": {} })).await;
        assert_eq!(error["code"], -32021);
        assert_eq!(error["data"], missing_capability());
        assert_eq!(world.signals.started(), 0);
    }

    /// ERR-01, case 30: `tasks/*` without the capability, whether or not the task exists; the task is unharmed.
    async fn task_requests_need_the_capability(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        for id in [id.as_str(), "00000000000000000000000000000000", "nonsense"] {
            for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                let error = alice.declaring_nothing().error(method, json!({ "taskId": id, "inputResponses": {} })).await;
                assert_eq!((&error["code"], &error["data"]), (&json!(-32021), &missing_capability()), "{method}");
            }
        }
        assert_eq!(alice.get(&id).await["status"], "working");
    }

    /// ERR-01, LEG-02: every other `tasks/*` does not exist, for anybody.
    async fn the_prefix_is_reserved(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("wait", json!({})).await;
        for method in ["tasks/result", "tasks/list", "tasks/", "tasks/get/more", "tasks/Get"] {
            for client in [&alice, &alice.declaring_nothing()] {
                assert_eq!(client.code(method, json!({ "taskId": id })).await, -32601, "{method}");
            }
        }
    }

    /// LEG-03: the `task` parameter of the experimental kind makes no task, and prevents none.
    async fn the_task_parameter_is_ignored(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let call = |name: &str| json!({ "name": name, "arguments": { "text": "a", "name": "A" }, "task": { "ttl": 5 } });
        assert_eq!(alice.result("tools/call", call("greet")).await["resultType"], "complete");
        assert_eq!(alice.declaring_nothing().result("tools/call", call("echo")).await["resultType"], "complete");
        let task = alice.result("tools/call", call("echo")).await;
        assert_eq!((&task["resultType"], &task["ttlMs"]), (&json!("task"), &json!(3_600_000)));
    }

    /// The mark by which the server finds a tool's options is nobody else's business.
    async fn listed_tools_show_nothing_of_ours(wire: Wire) {
        let world = World::new(wire).await;
        let listed = world.client("alice").result("tools/list", json!({})).await;
        let tools = listed["tools"].as_array().expect("tools");
        assert!(tools.len() > 15);
        assert!(tools.iter().all(|tool| tool.get("_meta").is_none()), "{listed}");
    }
}
