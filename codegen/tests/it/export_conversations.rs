//! Conversations that would pass whatever comes, and those that cannot be read: what is wrong is told, nothing is written.

use crate::support::{Run, codegen, copy, folder, get, put, repository};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const FILE: &str = "schema/2026-07-28/conversations/unfit-arguments.json";

fn schemas(name: &str) -> PathBuf {
    let place = folder(&format!("export/conversations-{name}"));
    copy(&repository().join("schema"), &place.join("schema"));
    place
}

#[track_caller]
fn refused_at(place: &Path, complaint: &str) {
    let Run { code, err, .. } = codegen(place, &["export"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains(complaint), "{err}");
    assert!(!place.join("generated").exists(), "something was written");
}

/// Alters the one exchange of a conversation.
#[track_caller]
fn refused(name: &str, complaint: &str, alter: impl FnOnce(&mut Value)) {
    let place = schemas(name);
    let mut value: Value = serde_json::from_str(&get(&place.join(FILE))).expect("JSON");
    let steps = value["steps"].as_array_mut().expect("a list of steps");
    let exchange = steps.iter_mut().find(|step| step.get("exchange").is_some()).expect("an exchange");
    alter(&mut exchange["exchange"]);
    put(&place.join(FILE), &value.to_string());
    refused_at(&place, &format!("{FILE}#{complaint}"));
}

/// A misspelt pointer leads to nothing, in a right answer and in a wrong one.
#[test]
fn what_must_be_absent_could_be_there() {
    for (name, pointer, complaint) in [
        ("no-slash", "result/taskId", "it is no JSON pointer to a member"),
        ("parent", "/reslut/taskId", "the response has no object `/reslut` that could lack it"),
        ("member", "/result/taskID", "no object of any revision has a member `taskID`"),
        ("there", "/result/content", "the response has it"),
    ] {
        refused(name, &format!("/steps/0/exchange/absent/0: {complaint}"), |exchange| {
            exchange["absent"] = json!([pointer]);
        });
    }
    refused("no-response", "/steps/0/exchange/absent/0: there is no response here that could lack it", |exchange| {
        let exchange = exchange.as_object_mut().expect("an object");
        exchange.remove("result");
    });
}

/// Who replays has credentials for two people, and would take a third for one of them.
#[test]
fn who_asks_is_somebody_known() {
    refused("who", ": no conversation: unknown variant `bob`, expected `Ada` or `Bob`", |exchange| {
        exchange["who"] = json!("bob");
    });
}

/// No folder is no conversations; what stands in its place and cannot be read is a fault.
#[test]
fn a_folder_that_cannot_be_read_is_not_passed_over() {
    let place = schemas("no-folder");
    let conversations = place.join("schema/2025-11-25/conversations");
    std::fs::remove_dir_all(&conversations).expect("the folder can be removed");
    put(&conversations, "a file where a folder should be");
    refused_at(&place, "schema/2025-11-25/conversations#: cannot be read: ");
}
