//! Faults that other servers had, planted into the answers of ours.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    files::{Role, conversations},
    replay::{Fault, replay},
};
use crate::support::{EXTENSION, Wire};

#[derive(Deserialize)]
struct Listed {
    id: String,
    conversations: Vec<String>,
}

/// GET-01, GET-03, TSK-01, TSK-03, TSK-04, TSK-05, RES-01, RES-02, RES-03, CAP-01, CAP-05, UPD-01, UPD-05, CAN-01, CAN-03,
/// ERR-01, LEG-04: a server that has one of the listed faults breaks each conversation that is said to find it.
#[tokio::test]
async fn every_fault_breaks_its_conversations() {
    let planted: BTreeMap<_, _> = PLANTED.into_iter().map(|(id, told, change)| (id, (told, change))).collect();
    let listed = listed();
    assert_eq!(planted.len(), listed.len(), "every fault of the list is planted, and no other");
    let conversations = conversations(Role::Server);
    let mut unnoticed = Vec::new();
    for Listed { id, conversations: names } in &listed {
        let (told, change) = planted[id.as_str()];
        let fault = Fault { change, patience: Duration::from_millis(500) };
        for name in names {
            let conversation = conversations.iter().find(|conversation| conversation.name == *name).expect(name);
            match replay(conversation, Wire::Http, fault).await {
                Err(why) if why.contains(told) => {}
                outcome => unnoticed.push(format!("{id} by {name}: {outcome:?}")),
            }
        }
    }
    assert!(unnoticed.is_empty(), "{}", unnoticed.join("\n"));
}

fn listed() -> Vec<Listed> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/2026-07-28/faults.json");
    serde_json::from_slice(&fs::read(file).expect("the list")).expect("a list")
}

type Change = fn(&Value, &mut Value, &mut Option<u16>);

/// Each fault, what a replayer says of it, and how it is planted.
const PLANTED: [(&str, &str, Change); 24] = [
    ("times-left-out", "no GetTaskResult", |request, response, _| {
        on_poll(request, response, |task| {
            for name in ["createdAt", "lastUpdatedAt", "ttlMs"] {
                remove(task, name);
            }
        });
    }),
    ("status-pending", r#""pending""#, |request, response, _| {
        on_status(request, response, "working", |task| task["status"] = json!("pending"))
    }),
    ("cancelled-as-completed", r#""completed""#, |request, response, _| {
        on_status(request, response, "cancelled", |task| task["status"] = json!("completed"));
    }),
    ("payloads-while-working", r#""result":{"#, |request, response, _| {
        on_status(request, response, "working", |task| {
            task["result"] = json!({ "content": [] });
            task["error"] = json!({ "code": -32603, "message": "no" });
        });
    }),
    ("null-result", r#""result":null"#, |request, response, _| {
        on_status(request, response, "failed", |task| task["result"] = Value::Null)
    }),
    ("completed-from-the-start", "/result/status", |_, response, _| {
        on_created(response, |task| task["status"] = json!("completed"))
    }),
    ("fraction", "60000.5", |request, response, _| on_poll(request, response, |task| task["ttlMs"] = json!(60_000.5))),
    ("negative", r#""ttlMs":-1"#, |request, response, _| on_poll(request, response, |task| task["ttlMs"] = json!(-1))),
    ("no-moment", "yesterday", |request, response, _| {
        on_poll(request, response, |task| task["createdAt"] = json!("yesterday"))
    }),
    ("questions-without-params", "no GetTaskResult", |request, response, _| {
        on_status(request, response, "input_required", |task| {
            for question in
                task["inputRequests"].as_object_mut().into_iter().flat_map(|questions| questions.values_mut())
            {
                remove(question, "params");
            }
        });
    }),
    ("nothing-asked", r#""inputRequests":{}"#, |request, response, _| {
        on_status(request, response, "input_required", |task| task["inputRequests"] = json!({}));
    }),
    ("unknown-acknowledged", "no JSONRPCErrorResponse", |request, response, _| {
        let method = request["method"].as_str().unwrap_or_default();
        if ["tasks/update", "tasks/cancel"].contains(&method) && response["error"]["code"] == -32602 {
            *response = json!({ "jsonrpc": "2.0", "id": response["id"], "result": { "resultType": "complete" } });
        }
    }),
    ("always-200", "status 200 instead of 4", |_, _, status| *status = status.map(|_| 200)),
    ("poll-says-task", r#""resultType":"task""#, |request, response, _| {
        on_poll(request, response, |task| task["resultType"] = json!("task"))
    }),
    ("made-without-last-update", "no CallToolResponse", |_, response, _| {
        on_created(response, |task| remove(task, "lastUpdatedAt"))
    }),
    ("nested-task", "no CallToolResponse", |_, response, _| {
        on_created(response, |task| *task = json!({ "resultType": "task", "task": task }));
    }),
    ("refused-without-data", r#""data" is a required"#, |_, response, _| {
        on_error(response, -32021, |error| remove(error, "data"))
    }),
    ("nothing-required", "/requiredCapabilities/extensions: is missing", |_, response, _| {
        on_error(response, -32021, |error| error["data"] = json!({ "requiredCapabilities": {} }));
    }),
    ("unknown-is-internal", "-32603 instead of -32602", |_, response, _| {
        on_error(response, -32602, |error| error["code"] = json!(-32603))
    }),
    ("talkative-acknowledgement", "'taskId' was unexpected", |request, response, _| {
        on_acknowledgement(request, response, |result| {
            result["taskId"] = request["params"]["taskId"].clone();
            result["status"] = json!("working");
        });
    }),
    ("untyped-acknowledgement", r#""resultType" is a required"#, |request, response, _| {
        on_acknowledgement(request, response, |result| remove(result, "resultType"));
    }),
    ("untyped-result", "no CallToolResponse", |_, response, _| {
        if response["result"]["resultType"] == "complete" {
            remove(&mut response["result"], "resultType");
        }
    }),
    ("legacy-announced", "/result/capabilities/tasks is there", |_, response, _| {
        if response["result"]["capabilities"]["extensions"][EXTENSION].is_object() {
            response["result"]["capabilities"]["tasks"] = json!({ "list": {} });
        }
    }),
    ("null-id", "no response to 1", |_, response, _| {
        if response["error"].is_object() {
            response["id"] = Value::Null;
        }
    }),
];

fn on_poll(request: &Value, response: &mut Value, change: impl FnOnce(&mut Value)) {
    if request["method"] == "tasks/get" && response["result"].is_object() {
        change(&mut response["result"]);
    }
}

fn on_status(request: &Value, response: &mut Value, status: &str, change: impl FnOnce(&mut Value)) {
    if response["result"]["status"] == status {
        on_poll(request, response, change);
    }
}

fn on_created(response: &mut Value, change: impl FnOnce(&mut Value)) {
    if response["result"]["resultType"] == "task" {
        change(&mut response["result"]);
    }
}

fn on_acknowledgement(request: &Value, response: &mut Value, change: impl FnOnce(&mut Value)) {
    if request["method"] == "tasks/update" || request["method"] == "tasks/cancel" {
        change(&mut response["result"]);
    }
}

fn on_error(response: &mut Value, code: i64, change: impl FnOnce(&mut Value)) {
    if response["error"]["code"] == code {
        change(&mut response["error"]);
    }
}

fn remove(object: &mut Value, name: &str) {
    object.as_object_mut().and_then(|members| members.shift_remove(name));
}
