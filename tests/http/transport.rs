//! HTTP-02: what comes before the protocol: hosts, origins, media types, sizes.

use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use serde_json::{Value, json};

use crate::{
    client::Post,
    server::{Server, about},
};

const UNKNOWN: &str = "0000000000000000000000000000000f";

/// HTTP-02: a request about a task is held against the same host and origin rules as every other request of the service.
#[tokio::test]
async fn a_foreign_host_or_origin_is_refused() {
    let status = async |config: StreamableHttpServerConfig, host: &str, origin: Option<&str>| {
        let server = Server::configured(config).await;
        let mut statuses = Vec::new();
        for post in [about(UNKNOWN, "tasks/get"), Post::new(1, "tools/list", json!({}))] {
            let post = post.set("host", host);
            let post = origin.into_iter().fold(post, |post, origin| post.set("origin", origin));
            statuses.push(server.send(&post).await.status);
        }
        assert_eq!(statuses[0], statuses[1], "both are checked alike");
        statuses[0]
    };
    let default = StreamableHttpServerConfig::default;
    assert_eq!(status(default(), "127.0.0.1:99", None).await, 200);
    assert_eq!(status(default(), "evil.example", None).await, 403);
    assert_eq!(status(default(), "", None).await, 400);
    assert_eq!(status(default(), "localhost", Some("https://a.example")).await, 200);
    assert_eq!(status(default().enforce_origin_validation(), "localhost", Some("https://a.example")).await, 403);
    assert_eq!(status(default().enforce_origin_validation(), "localhost", None).await, 200);
    let listed = || default().with_allowed_origins(["https://a.example:443"]);
    assert_eq!(status(listed(), "localhost", Some("https://a.example")).await, 200);
    assert_eq!(status(listed(), "localhost", Some("https://b.example")).await, 403);
}

/// A client takes JSON and event streams; an answer about a task is JSON.
#[tokio::test]
async fn media_types_are_those_of_the_transport() {
    let server = Server::start().await;
    let post = about(UNKNOWN, "tasks/get");
    assert!(server.send(&post).await.head.contains("content-type: application/json\r\n"));
    assert_eq!(server.send(&post.clone().set("accept", "application/json")).await.status, 406);
    assert_eq!(server.send(&post.clone().without("accept")).await.status, 406);
    assert_eq!(server.send(&post.clone().set("content-type", "text/plain")).await.status, 415);
    assert_eq!(server.send(&post.set("accept", "text/event-stream;q=0.1, application/json")).await.status, 200);
}

/// SEC-04: a body is read up to the service's own limit.
#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let server = Server::configured(StreamableHttpServerConfig::default().with_max_request_body_bytes(2_000)).await;
    let large = Post::new(1, "tasks/get", json!({ "taskId": "", "filler": "x".repeat(2_000) }));
    assert_eq!(server.send(&large).await.status, 413);
    assert_eq!(server.send(&about(UNKNOWN, "tasks/get")).await.status, 200);
}

/// What is no message is refused and harms nobody.
#[tokio::test]
async fn nonsense_is_refused() {
    let server = Server::start().await;
    let nested = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    for body in ["", "{", "null", "[]", r#"["1","tasks/get",{"taskId":"a"}]"#, "{}", r#"{"method":5}"#, &nested] {
        let post = Post::raw(body).with("mcp-protocol-version", "2026-07-28").with("mcp-method", "tasks/get");
        let status = server.send(&post).await.status;
        assert!((400..500).contains(&status), "{status} for {:.80}", body);
    }
    assert_eq!(server.send(&about(UNKNOWN, "tasks/get")).await.error(), (200, -32602, json!(2)));
}

/// HTTP-02: a request about a task is held against the same media types as every other request: spaces and quotes as rmcp
/// reads them, and a weight that is none takes nothing away.
#[tokio::test]
async fn media_types_are_read_as_rmcp_reads_them() {
    let server = Server::start().await;
    for (json, status) in [
        ("application/json;q =0", 406),
        ("application/json; Q = 0.000 ", 406),
        ("application/json;q=0.", 406),
        (r#"text/plain;a="application/json, application/json""#, 406),
        (r#"application/json;a="\";q=0""#, 200),
        ("application/json;q=0.0000", 200),
        ("application/json;q=-0", 200),
        ("application/json;q=0e0", 200),
    ] {
        for post in [about(UNKNOWN, "tasks/get"), Post::new(1, "tools/list", json!({}))] {
            let post = post.set("accept", &format!("{json}, text/event-stream"));
            assert_eq!(server.send(&post).await.status, status, "{json}: {}", post.body);
        }
    }
}

/// HTTP-02: no spelling of the headers gets a message with two methods past the layer, save for an origin that is rmcp's to
/// judge; rmcp refuses such a message as well.
#[tokio::test]
async fn a_key_given_twice_is_refused_whatever_the_headers_say() {
    let config = StreamableHttpServerConfig::default().with_allowed_origins(["https://a.example"]);
    let server = Server::configured(config).await;
    let once = Post::new(1, "tools/list", json!({})).set("origin", "https://a.example");
    let twice = |post: &Post| post.clone().replace(r#""method":"#, r#""method":"prompts/list","method":"#);
    let unweighted = once.clone().set("accept", "application/json, text/event-stream;q=0.0000");
    for post in [&once, &unweighted] {
        assert_eq!(server.send(post).await.status, 200, "{post:?}");
        assert_eq!(server.send(&twice(post)).await.error(), (400, -32600, Value::Null), "{post:?}");
    }
    // rmcp takes any port where the configuration names none, and words the refusal itself.
    let other_port = once.set("origin", "https://a.example:444");
    assert_eq!(server.send(&other_port).await.status, 200);
    let status = server.send(&twice(&other_port)).await.status;
    assert!((400..500).contains(&status) && status != 403, "{status}");
    let foreign = Post::new(1, "tools/list", json!({})).set("origin", "https://b.example");
    assert_eq!(server.send(&twice(&foreign)).await.status, 403);
}
