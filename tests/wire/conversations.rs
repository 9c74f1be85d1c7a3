//! The conversations for other SDKs, replayed against our server; and servers with the faults of others, which they find.

mod act;
mod faults;
#[path = "../conversations/mod.rs"]
#[allow(dead_code, reason = "one side needs less of it")]
mod files;
mod replay;
mod seen;

use std::collections::BTreeSet;

use files::{Conversation, Role, Transport};

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
