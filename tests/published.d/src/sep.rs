//! The examples in the text of SEP-2663.

use crate::Outcome;
use crate::examples::{same, written};
use crate::messages::Message;
use crate::source::{Source, line};
use mcp_tasks_codegen::ir::{Content, Object, Shape};
use serde_json::Value;
use std::path::Path;

/// As many examples as the text had when this was written; fewer means that they are not found any more.
const LEAST: usize = 25;

/// Checks that every example comes out of our types as it went in, save for the word that two of them get wrong.
pub fn check(source: &Source, file: &Path) -> Outcome {
    let examples = examples(&std::fs::read_to_string(file).map_err(line)?)?;
    let mut faults = Vec::new();
    if examples.len() < LEAST {
        faults.push(format!("{} examples found, expected {LEAST}", examples.len()));
    }
    let mut corrected = 0;
    for example in &examples {
        let messages = typed(source, example);
        if messages.is_empty() {
            faults.push(format!("no definition for {example}"));
        }
        for message in messages {
            corrected += usize::from(is_wrong_poll(&message));
            faults.extend(fault(source, &message));
        }
    }
    if corrected != 2 {
        faults.push(format!("{corrected} answers to tasks/get say `task`, expected 2"));
    }
    let summary = format!("{} examples come out equal, {corrected} of them with `complete` for `task`", examples.len());
    if faults.is_empty() { Ok(summary) } else { Err(faults) }
}

fn fault(source: &Source, message: &Message) -> Option<String> {
    let mut expected = message.value.clone();
    if is_wrong_poll(message) {
        expected["resultType"] = "complete".into();
    }
    written(source, &message.definition, &message.value)
        .and_then(|after| same(source, &message.definition, &expected, &after))
        .err()
        .map(|fault| format!("{}: {} {fault}", message.definition, message.value))
}

/// An answer to a poll that says `task`, against the MUST of the same text.
fn is_wrong_poll(message: &Message) -> bool {
    message.definition == "GetTaskResult" && message.value["resultType"] == "task"
}

/// The messages of the text, typed.
pub fn messages(source: &Source, file: &Path) -> Result<Vec<Message>, Vec<String>> {
    let examples = examples(&std::fs::read_to_string(file).map_err(line)?)?;
    Ok(examples.iter().flat_map(|example| typed(source, example)).collect())
}

/// JSON blocks: from a line `{` to the next line `}`. Blocks of TypeScript begin with a word.
fn examples(text: &str) -> Result<Vec<Value>, Vec<String>> {
    let mut examples = Vec::new();
    let mut block: Option<String> = None;
    for row in text.lines() {
        match &mut block {
            None if row == "{" => block = Some("{".to_owned()),
            None => {}
            Some(open) if row == "}" => {
                open.push('}');
                examples.push(serde_json::from_str(&without_trailing_commas(open)).map_err(line)?);
                block = None;
            }
            Some(_) if row.trim_start().starts_with("//") => {}
            Some(open) => open.push_str(row.trim()),
        }
    }
    Ok(examples)
}

/// JSON without the commas before a closing bracket. No string of the text has such a pair.
fn without_trailing_commas(text: &str) -> String {
    text.replace(",}", "}").replace(",]", "]")
}

/// The parts of an example that have a definition: by method, by error code, or by the members of the result.
fn typed(source: &Source, example: &Value) -> Vec<Message> {
    let parts: Vec<(String, &str)> = if let Some(method) = example.get("method").and_then(Value::as_str) {
        message_of(source, method).map(|definition| (definition, "")).into_iter().collect()
    } else if example.get("error").is_some() {
        error_parts(example)
    } else if example.get("jsonrpc").is_some() {
        response_parts(example)
    } else {
        // Fragments that show nothing but capabilities.
        vec![
            ("ServerCapabilities".to_owned(), "/result/capabilities"),
            ("RequestMetaObject".to_owned(), "/params/_meta"),
        ]
    };
    let value = |pointer: &str| example.pointer(pointer).cloned();
    let message = |(definition, pointer): (String, &str)| {
        Some(Message { definition, value: value(pointer)?, origin: "SEP-2663".to_owned() })
    };
    parts.into_iter().filter_map(message).collect()
}

/// The definition of the request or notification with that method.
fn message_of(source: &Source, method: &str) -> Option<String> {
    let has_method = |object: &Object| {
        let constant = |wire| object.field(wire).map(|field| &field.content);
        constant("method") == Some(&Content::Constant(method.to_owned())) && constant("jsonrpc").is_some()
    };
    let mut definitions = source.revision.definitions();
    let found = definitions.find(|definition| matches!(&definition.shape, Shape::Object(object) if has_method(object)));
    found.map(|definition| definition.name.clone())
}

fn error_parts(example: &Value) -> Vec<(String, &'static str)> {
    let mut parts = vec![("JSONRPCErrorResponse".to_owned(), "")];
    match example["error"]["code"].as_i64() {
        Some(-32021) => parts.push(("MissingRequiredClientCapabilityError".to_owned(), "")),
        Some(-32602) => parts.push(("InvalidParamsError".to_owned(), "/error")),
        _ => {}
    }
    parts
}

fn response_parts(example: &Value) -> Vec<(String, &'static str)> {
    let result = &example["result"];
    let has_payload = ["inputRequests", "result", "error"].iter().any(|member| result.get(member).is_some());
    let definitions: &[&str] = match result["resultType"].as_str() {
        Some("task") if !has_payload => &["CreateTaskResult", "CallToolResponse"],
        _ if result.get("status").is_some() => &["GetTaskResult"],
        _ => &["UpdateTaskResult", "CancelTaskResult"],
    };
    let mut parts = vec![("JSONRPCResultResponse".to_owned(), "")];
    parts.extend(definitions.iter().map(|definition| ((*definition).to_owned(), "/result")));
    parts
}
