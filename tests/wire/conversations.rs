//! The conversations for other SDKs, replayed against our server; and servers with the faults of others, which they find.

mod act;
mod faults;
#[path = "../conversations/mod.rs"]
#[allow(dead_code, reason = "one side needs less of it")]
mod files;
mod replay;
mod seen;

use std::{collections::BTreeSet, time::Duration};

use files::{Conversation, Role, Transport};
use serde_json::{Value, json};

use self::replay::{Fault, replay};
use crate::support::Wire;

/// Whether a conversation makes sense here.
fn fits(conversation: &Conversation, wire: Wire) -> bool {
    match conversation.transport {
        None => true,
        Some(Transport::Lines) => wire == Wire::Stdio,
        Some(Transport::Http) => wire == Wire::Http,
    }
}

on_every_wire! {
    /// CAP-01, CAP-02, CAP-05, CAP-07, RES-01, RES-02, RES-03, TSK-01, TSK-02, TSK-03, TSK-05, TSK-07, TSK-08, TSK-09, TSK-10,
    /// NEW-01, NEW-02, NEW-03, GET-01, GET-02, GET-03, GET-04, GET-05, GET-06, UPD-01, UPD-02, UPD-03, UPD-04, UPD-05,
    /// UPD-06, UPD-07, CAN-01, CAN-02, CAN-03, CAN-04, CAN-05, NOT-01, NOT-02, NOT-03, NOT-04, NOT-05, NOT-06, HTTP-02,
    /// ERR-01, ERR-02, ERR-03, ERR-04, ERR-05, LEG-01, LEG-02, LEG-03, LEG-04, SEC-02, SEC-03, SEC-05: our server holds every
    /// conversation that is there for servers.
    async fn our_server_holds_every_conversation(wire: Wire) {
        let mut broken = Vec::new();
        let mut held = BTreeSet::new();
        for conversation in files::conversations(Role::Server).iter().filter(|conversation| fits(conversation, wire)) {
            match replay(conversation, wire, Fault::NONE).await {
                Ok(()) => drop(held.insert(conversation.name.clone())),
                Err(why) => broken.push(format!("{}: {why}", conversation.name)),
            }
        }
        assert!(broken.is_empty(), "{}", broken.join("\n"));
        assert!(held.contains("completes"), "{held:?}");
    }
}

/// A server that did something else than a conversation has would be found, and for that: the file is altered in place of the
/// server.
#[tokio::test]
async fn a_server_that_differs_is_found() {
    type Spoil = fn(&mut Value);
    let spoilt: [(&str, &str, Spoil); 4] = [
        // A stream shows a state that no step has.
        ("listens", "elsewhere", |file| push(file, 1)["params"]["statusMessage"] = json!("elsewhere")),
        // A tool is given less, a header is another, a request is left without its response.
        ("asks", "other answers", |file| {
            let has = steps(file).iter_mut().find_map(|step| step.pointer_mut("/tool/has")).expect("a step");
            *has = json!({});
        }),
        ("headers", "status", |file| steps(file)[1]["exchange"]["http"]["status"] = json!(200)),
        ("stream-ends", "still open", |file| drop(steps(file).pop())),
    ];
    for (name, told, spoil) in spoilt {
        let fault = Fault { patience: Duration::from_millis(500), ..Fault::NONE };
        let outcome = replay(&files::altered(name, spoil), Wire::Http, fault).await;
        assert!(outcome.as_ref().is_err_and(|why| why.contains(told)), "{name}: {outcome:?}");
    }
}

fn steps(file: &mut Value) -> &mut Vec<Value> {
    file["steps"].as_array_mut().expect("steps")
}

/// The message of a push of a task's state, counted from 0.
fn push(file: &mut Value, count: usize) -> &mut Value {
    let pushes = steps(file).iter_mut().filter_map(|step| step.pointer_mut("/push/message"));
    pushes.filter(|message| message["method"] == "notifications/tasks").nth(count).expect("a push")
}
