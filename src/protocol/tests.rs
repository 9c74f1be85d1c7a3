use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::{
    input::{InputKind, InputKinds},
    principal::Principal,
};

fn caller<'a>(version: &'a str, declares_tasks: bool, principal: &'a Principal) -> Caller<'a> {
    Caller { version: Some(version), declares_tasks, principal }
}

/// CAP-02, CAP-05, CAP-07, LEG-01, LEG-04: every tool under every client.
#[test]
fn a_call_becomes_a_task_only_for_a_client_that_declared_it_under_a_version_that_has_it() {
    let principal = Principal::local();
    let patience = Duration::from_secs(2);
    let optional = ToolPolicy { wanted: true, ..ToolPolicy::default() };
    let tools = [
        optional,
        ToolPolicy { required: true, ..optional },
        ToolPolicy { promote_after: Some(patience), ..optional },
        ToolPolicy { wanted: false, ..optional },
    ];
    let decide = |version, declared| tools.map(|tool| Decision::of(&caller(version, declared, &principal), &tool));
    use Decision::{Inline, Promote, Refuse, Task};
    assert_eq!(decide("2026-07-28", true), [Task, Task, Promote(patience), Inline]);
    let without = [Inline, Refuse, Inline, Inline];
    assert_eq!(decide("2026-07-28", false), without);
    assert_eq!(decide("2025-11-25", true), without);
    assert_eq!(decide("2025-11-25", false), without);
    let unknown = Caller { version: None, declares_tasks: true, principal: &principal };
    assert_eq!(tools.map(|tool| Decision::of(&unknown, &tool)), without);
}

fn declared(capabilities: Value) -> Declared {
    let params = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    } });
    Declared::read(params.to_string().as_bytes())
}

/// LEG-04: the capability of the experimental tasks is not the extension.
#[test]
fn only_the_extension_declares_tasks() {
    assert!(declared(json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })).tasks);
    assert!(!declared(json!({ "tasks": { "requests": { "tools": { "call": {} } } } })).tasks);
    assert!(!declared(json!({ "extensions": {} })).tasks);
    assert!(!Declared::read(b"").tasks);
    assert!(!Declared::read(br#"{"_meta":5}"#).complete);
}

/// HTTP-02: an array is no object, and is not read by position.
#[test]
fn an_array_declares_nothing() {
    let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    for params in [
        r#"{"_meta":["2026-07-28",{"extensions":{"io.modelcontextprotocol/tasks":{}}}]}"#.to_owned(),
        r#"[{"_meta":{}}]"#.to_owned(),
        format!(r#"{{"_meta":{{{version},"io.modelcontextprotocol/clientCapabilities":[[{{}}]]}}}}"#),
        format!(r#"{{"_meta":{{{version},"io.modelcontextprotocol/clientCapabilities":{{"extensions":[{{}}]}}}}}}"#),
    ] {
        assert_eq!(Declared::read(params.as_bytes()), Declared::default(), "{params}");
    }
}

#[test]
fn what_the_client_can_be_asked_is_what_it_declares() {
    let inputs = |capabilities| declared(capabilities).inputs;
    assert_eq!(inputs(json!({ "elicitation": {} })), InputKinds::NONE.with(InputKind::FormElicitation));
    assert_eq!(inputs(json!({ "elicitation": { "url": {} } })), InputKinds::NONE.with(InputKind::UrlElicitation));
    let all = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": { "listChanged": true } });
    assert_eq!(inputs(all), InputKinds::ALL);
    assert_eq!(inputs(json!({})), InputKinds::NONE);
}

/// HTTP-02: a key given twice makes a message malformed.
#[test]
fn a_key_given_twice_is_refused() {
    assert!(Envelope::read(br#"{"id":1,"method":"tasks/get","params":{}}"#).is_ok());
    for twice in [
        r#"{"id":1,"method":"tasks/get","method":"tasks/cancel"}"#,
        r#"{"id":1,"id":2,"method":"tasks/get"}"#,
        r#"{"id":1,"method":"tasks/get","params":{},"params":{}}"#,
    ] {
        assert!(Envelope::read(twice.as_bytes()).is_err(), "{twice}");
    }
    for twice in [
        r#"{"taskId":"a","taskId":"b","inputResponses":{}}"#,
        r#"{"taskId":"a","inputResponses":{},"inputResponses":{}}"#,
        r#"{"taskId":"a","inputResponses":{"k":1,"k":2}}"#,
    ] {
        assert_eq!(UpdateParams::read(twice.as_bytes()).err().map(|error| error.code), Some(-32602), "{twice}");
    }
}

/// Case 31: parameters that are no good are `-32602`, and say why.
#[test]
fn bad_parameters_say_what_is_wrong() {
    let check = |params: &str, message: &str| {
        let error = TaskParams::read(params.as_bytes()).err().expect("the parameters are no good");
        assert_eq!((error.code, &*error.message), (-32602, message));
    };
    check("", "invalid parameters: missing field `taskId`");
    check("{}", "invalid parameters: missing field `taskId`");
    check(r#"{"taskId":5}"#, "invalid parameters: invalid type: integer `5`, expected a string");
    check(r#"["5"]"#, "the parameters are not an object");
}

/// A listen without `taskIds` is none of ours; one with other wishes is shared.
#[test]
fn a_listen_is_ours_if_it_names_task_ids() {
    let read = |notifications: &str| Listen::read(format!(r#"{{"notifications":{notifications}}}"#).as_bytes());
    assert_eq!(read(r#"{"toolsListChanged":true}"#), Ok(None));
    let ids = vec!["a".into()];
    assert_eq!(read(r#"{"taskIds":["a"]}"#), Ok(Some(Listen { task_ids: ids.clone(), others: false })));
    assert_eq!(read(r#"{"taskIds":["a"],"toolsListChanged":true}"#), Ok(Some(Listen { task_ids: ids, others: true })));
    assert_eq!(read(r#"{"taskIds":[5]}"#).map_err(|error| error.code), Err(-32602));
}
