//! HTTP-02: headers, version, capability, parameters, in this order.

use serde_json::{Value, json};

use crate::{
    client::Post,
    server::{Server, about},
};

/// HTTP-02, case 32: a header that is missing, contradicts the body or is given twice is refused with `-32020` and 400,
/// under the request's own id; the other spellings of the right value are taken.
#[tokio::test]
async fn a_header_that_does_not_agree_with_the_body_is_refused() {
    let server = Server::start().await;
    let id = server.task("alice", "wait", json!({})).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let right = about(&id, method).bearer("alice");
        let wrong = [
            right.clone().without("mcp-name"),
            right.clone().set("mcp-name", "0000000000000000000000000000000f"),
            right.clone().set("mcp-name", &id.to_uppercase()).replace(&id, &format!("{id}a")),
            right.clone().with("mcp-name", &id),
            right.clone().set("mcp-name", "=?base64?!?="),
            right.clone().without("mcp-method"),
            right.clone().set("mcp-method", "tasks/list"),
            right.clone().set("mcp-method", &method.to_uppercase()),
            right.clone().with("mcp-method", method),
            right.clone().without("mcp-protocol-version"),
            right.clone().set("mcp-protocol-version", "2025-11-25"),
            right.clone().with("mcp-protocol-version", "2026-07-28"),
        ];
        for post in wrong {
            assert_eq!(server.send(&post).await.error(), (400, -32020, json!(2)), "{post:?}");
        }
    }
    assert_eq!(server.get("alice", &id).await.result()["status"], "working");
    let encoded = base64(&id);
    for post in [
        about(&id, "tasks/get").set("mcp-name", &encoded),
        about(&id, "tasks/get").without("mcp-name").with("MCP-NAME", &id),
    ] {
        assert_eq!(server.send(&post.bearer("alice")).await.result()["taskId"], *id);
    }
}

/// HTTP-02: a key of the message that is given twice is refused, whichever of the two the headers agree with.
#[tokio::test]
async fn a_key_given_twice_is_refused() {
    let server = Server::start().await;
    let id = server.task("alice", "wait", json!({})).await;
    let twice = about(&id, "tasks/get").bearer("alice").replace(r#""method":"#, r#""method":"tasks/cancel","method":"#);
    assert_eq!(server.send(&twice).await.error(), (400, -32600, Value::Null));
    let call = Post::new(1, "tools/call", json!({ "name": "echo", "arguments": { "text": "a" } }));
    let twice = call.replace(r#""method":"#, r#""method":"tools/list","method":"#);
    assert_eq!(server.send(&twice).await.error(), (400, -32600, Value::Null));
    let twice = about(&id, "tasks/cancel").bearer("alice");
    for other in [id.as_str(), "0000000000000000000000000000000f"] {
        let twice = twice.clone().replace(r#""taskId":"#, &format!(r#""taskId":"{other}","taskId":"#));
        assert_eq!(server.send(&twice).await.error(), (200, -32602, json!(2)));
    }
    assert_eq!(server.get("alice", &id).await.result()["status"], "working");
}

/// A message that does not say that it is one of JSON-RPC 2.0 is an invalid request, as it is to rmcp.
#[tokio::test]
async fn a_message_that_is_not_of_jsonrpc_is_refused() {
    let server = Server::start().await;
    let id = server.task("alice", "wait", json!({})).await;
    let listen = Post::new(2, "subscriptions/listen", json!({ "notifications": { "taskIds": [id] } }));
    for right in [about(&id, "tasks/cancel"), about(&id, "tasks/list"), listen] {
        for other in [r#""jsonrpc":"1.0""#, r#""jsonrpc":2.0"#, r#""other":"2.0""#] {
            let post = right.clone().bearer("alice").replace(r#""jsonrpc":"2.0""#, other);
            assert_eq!(server.send(&post).await.error(), (400, -32600, json!(2)), "{post:?}");
        }
    }
    assert_eq!(server.get("alice", &id).await.result()["status"], "working");
}

/// HTTP-02: a `_meta` that is an array is no `_meta`, and is not read by position.
#[tokio::test]
async fn metadata_is_an_object() {
    let server = Server::start().await;
    let id = server.task("alice", "wait", json!({})).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let mut post = about(&id, method).bearer("alice");
        let mut message: Value = serde_json::from_str(&post.body).expect("JSON");
        message["params"]["_meta"] = json!(["2026-07-28", { "extensions": { crate::client::EXTENSION: {} } }]);
        post.body = message.to_string();
        assert_eq!(server.send(&post).await.error(), (400, -32602, json!(2)), "{method}");
    }
    assert_eq!(server.get("alice", &id).await.result()["status"], "working");
}

/// HTTP-02: each check comes before the next. A request with every fault shows only the first of them.
#[tokio::test]
async fn the_checks_come_in_order() {
    let server = Server::start().await;
    let id = server.task("alice", "wait", json!({})).await;
    let capabilities =
        |tasks: bool| if tasks { json!({ "extensions": { crate::client::EXTENSION: {} } }) } else { json!({}) };
    let post = |id: Value, tasks| {
        Post::declaring("a", "tasks/get", json!({ "taskId": id }), capabilities(tasks)).bearer("bob")
    };
    let outcome = async |post: Post| {
        let reply = server.send(&post).await;
        if reply.body.starts_with('{') {
            (reply.status, reply.json()["error"]["code"].clone())
        } else {
            (reply.status, Value::Null)
        }
    };
    // Everything is wrong: origin, header, version, capability, task id.
    let all =
        post(json!(5), false).set("host", "evil.example").set("mcp-method", "x").replace("2026-07-28", "1999-01-01");
    assert_eq!(outcome(all.clone()).await, (403, Value::Null));
    let header = all.set("host", "localhost");
    assert_eq!(outcome(header.clone()).await, (400, json!(-32020)));
    assert_eq!(outcome(post(json!(5), false).set("mcp-method", "x")).await, (400, json!(-32020)));
    assert_eq!(outcome(post(json!(5), false)).await, (400, json!(-32021)));
    assert_eq!(outcome(post(json!(5), true)).await, (200, json!(-32602)));
    // A foreign task is as unknown as one that never was.
    assert_eq!(outcome(post(json!(id), true)).await, (200, json!(-32602)));
}

/// ERR-01, case 30: without the capability the answer says which one is missing, whether or not the task exists.
#[tokio::test]
async fn a_client_that_does_not_declare_tasks_is_told_so() {
    let server = Server::start().await;
    let id = server.task("alice", "wait", json!({})).await;
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for id in [&id, "0000000000000000000000000000000f"] {
            let params = json!({ "taskId": id, "inputResponses": {} });
            let reply = server.send(&Post::declaring("q", method, params, json!({})).bearer("alice")).await;
            assert_eq!(reply.error(), (400, -32021, json!("q")));
            let required = &reply.json()["error"]["data"]["requiredCapabilities"];
            assert_eq!(*required, json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
        }
    }
    assert_eq!(server.get("alice", &id).await.result()["status"], "working");
}

/// ERR-01, LEG-02: every other method of the extension's prefix does not exist, for anybody.
#[tokio::test]
async fn other_methods_of_the_prefix_do_not_exist() {
    let server = Server::start().await;
    for method in ["tasks/list", "tasks/result", "tasks/", "tasks/get/x"] {
        for capabilities in [json!({}), json!({ "extensions": { crate::client::EXTENSION: {} } })] {
            let post = Post::declaring(9, method, json!({}), capabilities);
            assert_eq!(server.send(&post).await.error(), (404, -32601, json!(9)), "{method}");
        }
    }
}

/// GET-03, UPD-05, CAN-03, case 31: a task id that is no good is `-32602`, and never `-32601`.
#[tokio::test]
async fn a_task_id_that_is_no_good_is_an_invalid_parameter() {
    let server = Server::start().await;
    let ids = [json!(null), json!(5), json!(""), json!("a".repeat(2_000)), json!({}), json!("\u{e9}"), json!([])];
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        for id in &ids {
            let post = Post::new(3, method, json!({ "taskId": id, "inputResponses": {} }));
            let post = if id == "\u{e9}" { post.set("mcp-name", "=?base64?w6k=?=") } else { post };
            assert_eq!(server.send(&post).await.error(), (200, -32602, json!(3)), "{id}");
        }
        let missing = Post::new(3, method, json!({ "inputResponses": {} }));
        assert_eq!(server.send(&missing).await.error(), (200, -32602, json!(3)));
        let no_params = missing.replace(r#""inputResponses":{}"#, r#""inputResponses":5"#);
        assert_eq!(server.send(&no_params).await.error(), (200, -32602, json!(3)));
    }
}

/// A request of 2026-07-28 says its version and the client's capabilities; one that does not is refused as rmcp does it.
#[tokio::test]
async fn a_request_that_does_not_say_its_version_is_refused() {
    let server = Server::start().await;
    let post = about("0000000000000000000000000000000f", "tasks/get");
    for key in ["io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities"] {
        assert_eq!(server.send(&post.clone().replace(key, "other")).await.error(), (400, -32602, json!(2)), "{key}");
    }
    // Who the client is may stay unsaid.
    let unnamed = post.clone().replace("io.modelcontextprotocol/clientInfo", "other");
    assert_eq!(server.send(&unnamed).await.error(), (200, -32602, json!(2)));
    // A version that nobody knows is refused as such.
    assert_eq!(
        server
            .send(&post.clone().set("mcp-protocol-version", "2099-01-01").replace("2026-07-28", "2099-01-01"))
            .await
            .error()
            .1,
        -32022
    );
}

/// An id comes back as it was, and one that cannot be an id is not repeated.
#[tokio::test]
async fn an_id_keeps_its_type() {
    let server = Server::start().await;
    for id in [json!(7), json!("7"), json!(-1), json!("\u{e9}\""), json!(0)] {
        let post = Post::new(id.clone(), "tasks/get", json!({ "taskId": "" }));
        assert_eq!(server.send(&post).await.error(), (200, -32602, id));
    }
    for id in ["1.5", "{}", "[1]", "true"] {
        let post = Post::new(1, "tasks/get", json!({ "taskId": "" })).replace(r#""id":1"#, &format!(r#""id":{id}"#));
        assert!(server.send(&post).await.status >= 400, "{id}");
    }
}

/// CAP-02, CAP-05, CAP-07, case 33: only what the request itself declares counts.
#[tokio::test]
async fn a_request_that_does_not_declare_tasks_gets_a_plain_result() {
    let server = Server::start().await;
    server.task("alice", "echo", json!({ "text": "a" })).await;
    let call = |tool: &str, arguments| {
        Post::declaring(5, "tools/call", json!({ "name": tool, "arguments": arguments }), json!({})).bearer("alice")
    };
    let result = server.send(&call("echo", json!({ "text": "a" }))).await.result();
    assert_eq!((&result["resultType"], &result["content"][0]["text"]), (&json!("complete"), &json!("a")));
    assert_eq!(server.send(&call("moment", json!({ "milliseconds": 1 }))).await.error(), (400, -32021, json!(5)));
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            encoded.push(char::from(DIGITS[(bits >> (18 - 6 * place)) as usize & 63]));
        }
        encoded.push_str(&"=".repeat(3 - chunk.len()));
    }
    format!("=?base64?{encoded}?=")
}
