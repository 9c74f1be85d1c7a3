//! The conversations for other SDKs, replayed against our client: the replayer is the server, and the person at the client.

#[path = "../conversations/mod.rs"]
#[allow(dead_code, reason = "one side needs less of it")]
mod files;
mod replay;
mod user;
mod wires;

use files::{Conversation, Role};
use serde_json::{Value, json};

use self::{
    replay::replay,
    wires::{http, lines},
};

/// CAP-03, CAP-04, RES-02, RES-04, TSK-04, TSK-09, NEW-02, CLI-01, CLI-02, CLI-03, CLI-04, CLI-05, CLI-06, CLI-07, CLI-08,
/// CLI-09, CLI-10, CLI-11, GET-03: our client holds every conversation that is there for clients.
#[tokio::test(start_paused = true)]
async fn our_client_holds_every_conversation() {
    let mut broken = Vec::new();
    let conversations = files::conversations(Role::Client);
    for conversation in &conversations {
        let (server, connect) = lines();
        if let Err(why) = replay(conversation, server, connect).await {
            broken.push(format!("{}: {why}", conversation.name));
        }
    }
    assert!(broken.is_empty() && conversations.len() > 15, "{}", broken.join("\n"));
}

/// HTTP-01: over HTTP its requests have the headers as well.
#[tokio::test]
async fn our_client_sends_the_headers() {
    let about_headers = |conversation: &Conversation| conversation.requirements.iter().any(|id| id == "HTTP-01");
    let conversations = files::conversations(Role::Client).into_iter().filter(about_headers).collect::<Vec<_>>();
    assert!(conversations.len() >= 3);
    for conversation in &conversations {
        let (server, connect) = http().await;
        let outcome = replay(conversation, server, connect).await;
        assert_eq!(outcome, Ok(()), "{}", conversation.name);
    }
}

/// A client that did something else than a conversation has would be found, and for that: the file is altered in place of the client.
#[tokio::test(start_paused = true)]
async fn a_client_that_differs_is_found() {
    type Spoil = fn(&mut Value);
    let spoilt: [(&str, &str, Spoil); 8] = [
        // It answers something else, polls too early, and gets another result.
        ("asks", "Rome", |file| file["steps"][4]["user"]["answers"]["response"]["content"]["city"] = json!("Rome")),
        ("completes", "and not after 5000 ms", |file| file["steps"][4]["exchange"]["afterMs"] = json!(5_000)),
        ("completes", "It fell.", |file| file["steps"][8]["user"]["gets"]["content"][0]["text"] = json!("It fell.")),
        // It asks what no step has, and declares less than it should.
        ("asked-once", "nobody is to be asked", |file| {
            let requests = &mut file["steps"][5]["exchange"]["response"]["result"]["inputRequests"];
            *requests = json!({ "q-other": requests["q-city"] });
        }),
        ("completes", "sampling", |file| {
            let meta = &mut file["steps"][1]["exchange"]["request"]["params"]["_meta"];
            meta["io.modelcontextprotocol/clientCapabilities"]["sampling"] = json!({});
        }),
        // It takes a task for gone that never was, sends what nobody asked for, and does not send what it should.
        ("gone", "NotFound", |file| file["steps"][4]["user"]["fails"] = json!({ "notFound": {} })),
        ("lets-go", "after the end came", |file| drop(file["steps"].as_array_mut().map(Vec::pop))),
        ("created-in-its-end", "nobody asked for", |file| {
            file["steps"][2]["exchange"]["request"]["method"] = json!("tasks/update")
        }),
    ];
    for (name, told, spoil) in spoilt {
        let (server, connect) = lines();
        let outcome = replay(&files::altered(name, spoil), server, connect).await;
        assert!(outcome.as_ref().is_err_and(|why| why.contains(told)), "{name}: {outcome:?}");
    }
}
