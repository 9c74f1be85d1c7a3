//! Parameters that are no good.

use serde_json::{Value, json};

use crate::support::{Client, Wire, World};

const METHODS: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];

/// What a client of 2026-07-28 has to say in each request.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
    })
}

on_every_wire! {
    /// GET-03, UPD-05, CAN-03: an unknown task is `-32602`.
    async fn an_unknown_task_is_refused(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        for method in METHODS {
            let params = json!({ "taskId": "0123456789abcdef0123456789abcdef", "inputResponses": {} });
            let error = alice.error(method, params).await;
            assert_eq!(error, json!({ "code": -32602, "message": "task not found" }), "{method}");
        }
    }

    /// GET-03, case 31: whatever is no task id is `-32602` (or `-32020` over HTTP, where the header cannot match), and never
    /// `-32601`.
    async fn a_malformed_task_id_is_refused(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let ids = [json!(5), json!(""), json!("x".repeat(2_000)), json!("é"), Value::Null, json!({}), json!([])];
        for id in ids {
            for method in METHODS {
                let code = alice.code(method, json!({ "taskId": id, "inputResponses": {} })).await;
                assert!(code == -32602 || world.is_http() && code == -32020, "{method} {id}: {code}");
            }
        }
        for method in METHODS {
            let code = alice.code(method, json!({ "inputResponses": {} })).await;
            assert!(code == -32602 || world.is_http() && code == -32020, "{method}: {code}");
        }
    }

    /// `tasks/update` without answers at all, or with something that is no map of them, is `-32602`.
    async fn an_update_needs_a_map_of_answers(wire: Wire) {
        let world = World::new(wire).await;
        let alice = world.client("alice");
        let id = alice.task("ask", json!({})).await;
        alice.reach(&id, "input_required").await;
        assert_eq!(alice.code("tasks/update", json!({ "taskId": id })).await, -32602);
        for responses in [json!([]), json!("x"), json!(null)] {
            assert_eq!(alice.code("tasks/update", json!({ "taskId": id, "inputResponses": responses })).await, -32602);
        }
        assert_eq!(alice.get(&id).await["status"], "input_required");
    }
}

/// HTTP-02 (for stdio as well): a message or parameters that give a key twice are refused.
#[tokio::test]
async fn a_key_given_twice_is_refused() {
    let world = World::new(Wire::Stdio).await;
    let alice = world.client("alice");
    let id = alice.task("wait", json!({})).await;
    let twice = format!(
        r#"{{"jsonrpc":"2.0","id":"twice","method":"tasks/get","params":{{"taskId":"x","taskId":"{id}","_meta":{}}}}}"#,
        meta()
    );
    assert_eq!(refusal_of(&alice, &twice).await["error"]["code"], -32602);
    let method_twice = twice.replace(r#""method":"tasks/get""#, r#""method":"tasks/cancel","method":"tasks/get""#);
    assert_eq!(refusal_of(&alice, &method_twice).await["error"]["code"], -32600);
    assert_eq!(alice.get(&id).await["status"], "working");
}

/// What a text is answered that no request of the client's is.
async fn refusal_of(client: &Client, text: &str) -> Value {
    client.send_text(text);
    // Its answer has come by then, for lines keep their order.
    client.result("tools/list", json!({})).await;
    client.strays().pop().expect("a refusal")
}
