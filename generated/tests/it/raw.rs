//! Opaque payloads as the text they came in (feature `raw`).

use mcp_tasks_types::support::JsonObject;
use mcp_tasks_types::{
    CallToolResult, CompletedTask, DetailedTask, GetTaskResult, RawObject, Response, TaskStatusNotification,
};
use serde_json::{Value, json};

fn completed(result: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","taskId":"t","status":"completed","createdAt":"c","lastUpdatedAt":"l","ttlMs":null,"result":{result}}}}}"#
    )
}

/// GET-06: a result goes through byte for byte (case 26): numbers near 2^53 and 2^64 and beyond all machine types, lone
/// surrogates, zero characters, depth, spacing, order, and members given twice.
#[test]
fn a_result_is_kept_byte_for_byte() {
    let deep = format!(r#"{{"a":{}1{}}}"#, r#"{"a":["#.repeat(100), "]}".repeat(100));
    for result in [
        r#"{"n":[9007199254740993,-9007199254740993,18446744073709551616,1e400,-0.0,0.10]}"#,
        r#"{"s":"\ud800","t":"\u0000","u":"\uD83D\uDE00","v":"é"}"#,
        "{ \"z\" :\t1 ,\n\"a\":2, \"z\":3 }",
        "{}",
        &deep,
    ] {
        let text = completed(result);
        let response: Response<GetTaskResult<RawObject>> = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&response).unwrap(), text);
        let Ok(GetTaskResult::Completed(task)) = response.outcome else { panic!("it is completed") };
        assert_eq!(task.result.text(), result);
    }
}

/// The payload may come before anything says whose it is.
#[test]
fn a_result_before_its_status_is_kept() {
    let text =
        r#"{"result":{ "n": 1e400 },"taskId":"t","createdAt":"c","lastUpdatedAt":"l","ttlMs":1,"status":"completed"}"#;
    let DetailedTask::Completed(task) = serde_json::from_str::<DetailedTask<RawObject>>(text).unwrap() else {
        panic!("it is completed")
    };
    assert_eq!(task.result.text(), r#"{ "n": 1e400 }"#);
}

/// What is no object is refused, with the type, the member and the reason.
#[test]
fn what_is_no_object_is_refused() {
    for (result, kind) in [
        ("null", "null"),
        ("[{}]", "array"),
        ("\"{}\"", "string"),
        ("7", "number"),
        ("-7", "number"),
        ("true", "boolean"),
    ] {
        let error =
            serde_json::from_str::<Response<GetTaskResult<RawObject>>>(&completed(result)).unwrap_err().to_string();
        let expected = format!("Response.result: GetTaskResult.result: invalid type: {kind}, expected an object");
        assert_eq!(error.split(" at line ").next(), Some(expected.as_str()));
        let error = RawObject::from_text(result).unwrap_err().to_string();
        assert_eq!(error, format!("invalid type: {kind}, expected an object"));
    }
    assert!(RawObject::from_text("{").is_err());
    assert!(RawObject::from_text("{} {}").is_err());
}

/// TSK-06: under another status the member is a stray one, and survives as such.
#[test]
fn a_stray_result_survives() {
    for result in ["null", "[1]", r#"{"a":1}"#] {
        let text = completed(result).replace("completed", "working");
        let response: Response<GetTaskResult<RawObject>> = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&response).unwrap(), text);
    }
}

/// A stray result that is no ordinary JSON value is refused rather than changed (case 26).
#[test]
fn a_stray_result_that_cannot_be_kept_is_refused() {
    let text = completed(r#"{"n":1e400}"#).replace("completed", "working");
    let error = serde_json::from_str::<Response<GetTaskResult<RawObject>>>(&text).unwrap_err().to_string();
    assert!(error.starts_with("Response.result: GetTaskResult.result: number out of range"), "{error}");
}

/// Case 26, for payloads that are taken apart: near 2^53 and 2^64 nothing is lost, and what would be is refused.
#[test]
fn a_parsed_result_is_kept_or_refused() {
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    for (result, kept) in [
        (deep.as_str(), false),
        (r#"{"n":9007199254740993}"#, true),
        (r#"{"n":18446744073709551615}"#, true),
        (r#"{"s":"\u0000"}"#, true),
        (r#"{"n":1e400}"#, false),
        (r#"{"s":"\ud800"}"#, false),
    ] {
        let text = completed(result);
        match serde_json::from_str::<Response<GetTaskResult>>(&text) {
            Ok(response) => assert_eq!((kept, serde_json::to_string(&response).unwrap()), (true, text)),
            Err(error) => assert!(!kept, "{result}: {error}"),
        }
    }
}

/// From a value to a payload and back.
#[test]
fn payloads_are_made_and_parsed() {
    let result = CallToolResult::new(vec![]);
    let raw = RawObject::from_value(&result).unwrap();
    assert_eq!(raw.text(), r#"{"resultType":"complete","content":[]}"#);
    assert_eq!(raw.parse::<CallToolResult>().unwrap(), result);
    assert_eq!(JsonObject::try_from(&raw).unwrap()["content"], json!([]));
    assert!(RawObject::from_value(&[1]).is_err());
    assert_ne!(raw, RawObject::from_text(r#"{"content":[],"resultType":"complete"}"#).unwrap());
    let task = CompletedTask::new("t", "c", "l", None, raw);
    assert_eq!(serde_json::to_value(&task).unwrap()["result"], json!({ "resultType": "complete", "content": [] }));
}

/// Whoever has a value instead of a text reads payloads from it as well.
#[test]
fn payloads_are_read_from_values() {
    let value: Value = serde_json::from_str(&completed(r#"{"b":1,"a":2}"#)).unwrap();
    let response: Response<GetTaskResult<RawObject>> = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&response).unwrap(), value);
    let params = value["result"].clone();
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/tasks", "params": params });
    let read: TaskStatusNotification<RawObject> = serde_json::from_value(notification.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), notification);
}
