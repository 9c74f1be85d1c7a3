//! SEC-02: whose task it is.

use serde_json::json;

use crate::{
    client::{Post, Reply},
    server::{Server, about},
};

/// SEC-02, case 27: whatever the handler was told of principals, it is the layer's that count. {nobody, alice, bob} x {nobody, alice, bob}: only equal pairs; the rest is exactly the answer for an
/// unknown id, to the byte.
#[tokio::test]
async fn a_task_is_its_owners_and_unknown_to_everybody_else() {
    let server = Server::start().await;
    let parties = ["nobody", "alice", "bob"];
    let unknown = "0000000000000000000000000000000f";
    for owner in parties {
        let id = server.task(owner, "wait", json!({})).await;
        for caller in parties {
            for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
                let ask = async |id: &str| server.send(&about(id, method).bearer(caller)).await;
                if owner == caller {
                    assert_eq!(ask(&id).await.result()["resultType"], "complete");
                } else {
                    assert_eq!(but_for_the_date(ask(&id).await), but_for_the_date(ask(unknown).await));
                }
            }
        }
        server.reach(owner, &id, "cancelled").await;
    }
}

fn but_for_the_date(reply: Reply) -> (u16, String, String) {
    let head = reply.head.lines().filter(|line| !line.starts_with("date:")).collect();
    (reply.status, head, reply.body)
}

/// SEC-02, case 27, case 28: a listen to somebody else's task is acknowledged without it.
#[tokio::test]
async fn a_listen_to_a_foreign_task_is_acknowledged_without_it() {
    let server = Server::start().await;
    let parties = ["nobody", "alice", "bob"];
    for owner in parties {
        let id = server.task(owner, "wait", json!({})).await;
        for caller in parties {
            let listen = Post::new(1, "subscriptions/listen", json!({ "notifications": { "taskIds": [id] } }));
            let mut stream = server.client.open(&listen.bearer(caller)).await;
            let accepted =
                stream.message().await.expect("an acknowledgement")["params"]["notifications"]["taskIds"].take();
            assert_eq!(accepted, if owner == caller { json!([id]) } else { json!([]) });
        }
    }
}

/// SEC-03: nothing lists tasks.
#[tokio::test]
async fn nothing_lists_tasks() {
    let server = Server::start().await;
    server.task("alice", "wait", json!({})).await;
    let list = Post::new(1, "tasks/list", json!({})).bearer("alice");
    assert_eq!(server.send(&list).await.error(), (404, -32601, json!(1)));
}
