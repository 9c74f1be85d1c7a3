//! Servers that keep their tasks in a file.

use std::path::Path;

use mcp_tasks::TaskServer;
use serde_json::json;

use crate::wire::{Client, accept, server};

async fn client(file: &Path) -> Client {
    Client::of(server().database(file).build().expect("the file opens")).await
}

/// NEW-01: a task that has ended is there for the next server on the same file, to the byte (case 8).
#[tokio::test]
async fn a_task_outlives_its_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("made/on/the/way.db");
    let mut first = client(&file).await;
    let task = first.call("fail", json!({})).await["taskId"].take();
    let ended = first.until(&task, "completed").await;
    drop(first);
    let mut second = client(&file).await;
    assert_eq!(second.request("tasks/get", json!({"taskId": task}), true).await, ended);
    drop(second);
    // Also on a server that does not have the tool any more.
    let without = TaskServer::new("test", "2").database(&file).build().expect("the file opens");
    let mut third = Client::of(without).await;
    for _ in 0..2 {
        assert_eq!(third.request("tasks/get", json!({"taskId": task}), true).await, ended);
    }
}

/// NEW-01, UPD-06: two servers of one name share a file, as two stdio clients start them. What one was asked is answered
/// at the other, and the tool, which runs in the first, gets the answer once.
#[tokio::test]
async fn two_servers_share_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tasks.db");
    let (mut first, mut second) = (client(&file).await, client(&file).await);
    let task = first.call("order", json!({"what": "cups"})).await["taskId"].take();
    let asked = second.until(&task, "input_required").await;
    assert_eq!(asked["inputRequests"]["count"]["method"], "elicitation/create");
    let answers = json!({"taskId": task, "inputResponses": {"count": accept(json!({"count": 3}))}});
    assert_eq!(second.request("tasks/update", answers, true).await["resultType"], "complete");
    for client in [&mut second, &mut first] {
        let ended = client.until(&task, "completed").await;
        assert_eq!(ended["result"]["content"][0]["text"], "3 cups, started 1 times");
    }
}
