//! Conversations and known faults, as a person writes them: what is wrong with one is told, and nothing is written.

use crate::support::{codegen, copy, folder, get, put, repository, tree};
use serde_json::{Value, json};
use std::path::PathBuf;

const CONVERSATION: &str = "schema/2026-07-28/conversations/completes.json";
const VECTORS: &str = "schema/2026-07-28/vectors.json";
const FAULTS: &str = "schema/2026-07-28/faults.json";

/// The project's schemas in a folder of a test's own, with one file altered.
fn altered(name: &str, file: &str, alter: impl FnOnce(&mut Value)) -> PathBuf {
    let place = folder(&format!("conversations/{name}"));
    copy(&repository().join("schema"), &place.join("schema"));
    let mut value = serde_json::from_str(&get(&place.join(file))).expect("JSON");
    alter(&mut value);
    put(&place.join(file), &value.to_string());
    place
}

#[track_caller]
fn refused(name: &str, file: &str, complaint: &str, alter: impl FnOnce(&mut Value)) {
    let place = altered(name, file, alter);
    let before = tree(&place);
    let run = codegen(&place, &["export"]);
    assert_eq!(run.code, Some(1), "{}", run.out);
    assert!(run.err.contains(&format!("{file}#{complaint}")), "{}", run.err);
    assert_eq!(tree(&place), before, "{name}: something was written");
}

/// A step, or a member, that there is not.
#[test]
fn what_is_not_of_the_format_is_refused() {
    refused("step", CONVERSATION, ": no conversation: unknown variant `exchnage`", |file| {
        file["steps"][1] = json!({ "exchnage": {} });
    });
    refused("member", CONVERSATION, ": no conversation: unknown field `reslut`", |file| {
        file["steps"][1]["exchange"]["reslut"] = json!({});
    });
    refused("role", CONVERSATION, ": no conversation: unknown variant `proxy`", |file| {
        file["replay"] = json!(["proxy"])
    });
}

/// A message that its schema refuses; and one that is said to be flawed, and is not.
#[test]
fn messages_are_judged() {
    refused("result", CONVERSATION, "/steps/2/exchange/result: it does not fit `GetTaskResult`", |file| {
        file["steps"][2]["exchange"]["result"]["ttlMs"] = json!(-1);
    });
    refused("params", CONVERSATION, "/steps/2/exchange/params: it does not fit `GetTaskRequest`", |file| {
        file["steps"][2]["exchange"]["params"]["taskId"] = json!(5);
    });
    refused(
        "flawed",
        CONVERSATION,
        "/steps/2/exchange/result: it is said to be flawed, and fits `GetTaskResult`",
        |file| {
            file["steps"][2]["exchange"]["flawed"] = json!(["response"]);
        },
    );
    refused(
        "push",
        "schema/2026-07-28/conversations/listens.json",
        "/steps/3/push/params: it does not fit `TaskStatusNotification`",
        |file| {
            file["steps"][3]["push"]["params"]["status"] = json!("paused");
        },
    );
}

/// Names that lead nowhere: a text of the other side's, a request, a vector, a conversation.
#[test]
fn names_lead_somewhere() {
    refused("chosen", CONVERSATION, "/chosen/task-9: no message has `task-9`", |file| {
        file["chosen"]["task-9"] = json!("id")
    });
    refused("request", CONVERSATION, "/steps/3/response: there is no request with the id 9", |file| {
        file["steps"][3] = json!({ "response": { "id": 9, "result": {} } });
    });
    refused("nobody", CONVERSATION, "/replay: it can be replayed against nobody", |file| file["replay"] = json!([]));
    refused("nothing", CONVERSATION, "/requirements: it proves nothing", |file| file["requirements"] = json!([]));
    refused("verdict", VECTORS, "/0: the schemas say strict false and tolerant true", |file| {
        file[0]["strict"] = json!(true)
    });
    refused("vector", FAULTS, "/0/vectors/0: there is no invalid message `GetTaskResult/nothing`", |file| {
        file[0]["vectors"] = json!(["GetTaskResult/nothing"]);
    });
    refused("conversation", FAULTS, "/0/conversations/0: there is no conversation `nothing`", |file| {
        file[0]["conversations"] = json!(["nothing"]);
    });
    refused("unfound", FAULTS, "/0/conversations: no conversation finds it", |file| {
        file[0]["conversations"] = json!([])
    });
}
