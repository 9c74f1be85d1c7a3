//! Handles that are saved, and taken up again.

use std::time::Duration;

use mcp_tasks::client::{Called, ClientError, FollowOptions, Ticket};
use serde_json::json;

use super::{handler::User, scripted::*};

async fn ticket(server: &Server) -> String {
    let client = server.connect(User::default()).await;
    let Ok(Called::Task(mut handle)) = client.call_tool_task(tool()).await else { panic!("no task") };
    while handle.ticket().answered.is_empty() {
        handle.next_state().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    serde_json::to_string(&handle.detach()).expect("a ticket is JSON")
}

/// CLI-03, case 40: a ticket survives as text; resumed by another client, exactly one `tasks/get` fetches the result. Keys
/// that were answered are not asked again.
#[tokio::test(start_paused = true)]
async fn a_resumed_task_is_fetched_with_one_get() {
    let text = ticket(&Server::new().gets([Act::Result(asking(1))])).await;
    let ticket: Ticket = serde_json::from_str(&text).expect("a ticket");
    assert_eq!((&*ticket.server, &*ticket.task_id, ticket.ttl), ("scripted", "t-1", Some(3_600_000)));

    let server = Server::new().gets([Act::Result(completed(2))]);
    let handle = server.connect(()).await.resume(ticket.clone()).expect("the same server");
    handle.result().await.expect("a result");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(server.got("tasks/get").len(), 1);

    let server = Server::new().gets([Act::Result(asking(1)), Act::Result(completed(2))]);
    let user = User::default();
    server.connect(user.clone()).await.resume(ticket).expect("the same server").result().await.expect("a result");
    assert_eq!(user.asked(), 0);
}

/// Case 40: `-32602` means that the task has expired, and is no reason to ask again.
#[tokio::test(start_paused = true)]
async fn a_resumed_task_that_is_gone_has_expired() {
    let text = ticket(&Server::new().gets([Act::Result(asking(1))])).await;
    let server = Server::new().gets([Act::Error(-32602, "unknown task")]);
    let client = server.connect(()).await;
    let handle = client.resume(serde_json::from_str(&text).expect("a ticket")).expect("the same server");
    assert!(matches!(handle.result().await, Err(ClientError::Expired)));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(server.got("tasks/get").len(), 1);

    let unknown = client.follow("nowhere", FollowOptions::default()).expect("a handle");
    assert!(matches!(unknown.result().await, Err(ClientError::NotFound)));
    assert!(matches!(client.get_task("nowhere").await, Err(ClientError::NotFound)));
}

/// CLI-03: a ticket of another server is not sent to this one.
#[tokio::test(start_paused = true)]
async fn a_ticket_goes_to_its_own_server() {
    let client = Server::new().connect(()).await;
    let error = client.resume(Ticket::new("elsewhere", "t-1")).expect_err("another server");
    assert!(matches!(error, ClientError::WrongServer { .. }));
}

/// CLI-03: a ticket with members of a later version is read.
#[test]
fn a_ticket_is_read_by_other_versions() {
    let ticket = json!({ "server": "s", "taskId": "t", "created": 5, "ttl": null, "colour": "red" });
    let ticket: Ticket = serde_json::from_value(ticket).expect("a ticket");
    assert!(ticket.answered.is_empty() && !ticket.is_over());
}
