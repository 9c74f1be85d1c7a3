//! Reads and writes whole response messages of `tasks/get`, beside other ways to do so.
//!
//! `types [--large] [--strict]`: large measures longer; strict fails if a goal is short.

mod derived;
mod flat;
mod messages;

use mcp_tasks_benches::{Contender, Goals, Race, Size};
use mcp_tasks_types::support::{JsonObject, Payload};
use mcp_tasks_types::{GetTaskResult, RawObject, Response};
use messages::Rows;
use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, ServerResult, TaskPayload};
use rmcp::service::RxJsonRpcMessage;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let given = |name: &str| std::env::args().any(|argument| argument == name);
    let rounds = if given("--large") { 4000 } else { 300 };
    let size = Size { rounds, slice: Duration::from_micros(200) };
    let mut goals = Goals::default();
    working_poll(size, &mut goals);
    let size = Size { rounds: rounds / 6, slice: Duration::from_millis(1) };
    let (decode, encode) = completed("numbers", Rows::Numbers, size);
    completed("objects", Rows::Objects, size);
    completed("prose", Rows::Prose, size);
    goals.at_least("completed_decode_vs_rmcp", decode, 20.0);
    goals.at_least("completed_encode_vs_rmcp", encode, 60.0);
    goals.exit_code(given("--strict"))
}

/// The answer that a client gets over and over: the task is still being worked on.
fn working_poll(size: Size, goals: &mut Goals) {
    let text = messages::working();
    let line = text.as_bytes();
    preserved::<Response<GetTaskResult<RawObject>>>(line);
    preserved::<Response<GetTaskResult>>(line);
    preserved::<RxJsonRpcMessage<RoleClient>>(line);
    let race = Race::run(
        &format!("decode a working poll, {} bytes", line.len()),
        size,
        vec![
            Contender::new("ours, raw payload", || ours::<RawObject>(line)),
            Contender::new("ours", || ours::<JsonObject>(line)),
            Contender::new("derive", || derived::decode(line)),
            Contender::new("flat visitor by hand", || flat::decode(line)),
            Contender::new("serde_json::Value", || value(line)),
            Contender::new("rmcp", || rmcp(line)),
        ],
    );
    goals.at_most("working_poll_vs_derive", race.ratio("ours, raw payload", "derive"), 1.25);
    goals.at_most("working_poll_default_vs_derive", race.ratio("ours", "derive"), 1.25);
    goals.at_least("working_poll_vs_rmcp", race.ratio("rmcp", "ours, raw payload"), 7.0);

    let mut encoded = [Vec::new(), Vec::new(), Vec::new()];
    let [first, second, third] = &mut encoded;
    let ours: Response<GetTaskResult<RawObject>> = read(line);
    let derived: derived::Response = read(line);
    let rmcp: RxJsonRpcMessage<RoleClient> = read(line);
    Race::run(
        "encode a working poll",
        size,
        vec![
            Contender::new("ours", || encode(&ours, first)),
            Contender::new("derive", || encode(&derived, second)),
            Contender::new("rmcp", || encode(&rmcp, third)),
        ],
    );
}

/// The answer that carries what the tool returned. Gives how many times as long rmcp takes to decode and to encode it.
fn completed(what: &str, rows: Rows, size: Size) -> (f64, f64) {
    let text = messages::completed(rows, 100 * 1024);
    let line = text.as_bytes();
    preserved::<Response<GetTaskResult<RawObject>>>(line);
    preserved::<Response<GetTaskResult>>(line);
    let decode = Race::run(
        &format!("decode a completed task of {what}, {} bytes", line.len()),
        size,
        vec![
            Contender::new("ours, raw payload", || ours::<RawObject>(line)),
            Contender::new("ours", || ours::<JsonObject>(line)),
            Contender::new("serde_json::Value", || value(line)),
            Contender::new("rmcp", || rmcp(line)),
        ],
    );
    let [mut first, mut second, mut third, mut fourth] = [const { Vec::new() }; 4];
    let raw: Response<GetTaskResult<RawObject>> = read(line);
    let typed: Response<GetTaskResult> = read(line);
    let value: Value = read(line);
    let rmcp: RxJsonRpcMessage<RoleClient> = read(line);
    let encode = Race::run(
        &format!("encode a completed task of {what}"),
        size,
        vec![
            Contender::new("ours, raw payload", || encode(&raw, &mut first)),
            Contender::new("ours", || encode(&typed, &mut second)),
            Contender::new("serde_json::Value", || encode(&value, &mut third)),
            Contender::new("rmcp", || encode(&rmcp, &mut fourth)),
        ],
    );
    let slower = |race: Race| race.ratio("rmcp", "ours, raw payload");
    (slower(decode), slower(encode))
}

/// A line as a client reads it: that it is UTF-8 is found out once and for all of it.
fn read<T: DeserializeOwned>(line: &[u8]) -> T {
    let text = std::str::from_utf8(line).expect("a line is UTF-8");
    serde_json::from_str(text).expect("the message is one")
}

/// Makes sure that nothing is fast by losing something.
fn preserved<T: DeserializeOwned + Serialize>(line: &[u8]) {
    let written = serde_json::to_value(read::<T>(line)).expect("what was read can be written");
    assert_eq!(written, read::<Value>(line), "{}", std::any::type_name::<T>());
}

fn encode<T: Serialize>(message: &T, buffer: &mut Vec<u8>) -> u64 {
    buffer.clear();
    serde_json::to_writer(&mut *buffer, black_box(message)).expect("a message can be written");
    buffer.len() as u64
}

fn ours<P: Payload>(line: &[u8]) -> u64 {
    let response: Response<GetTaskResult<P>> = read(black_box(line));
    match black_box(&response.outcome) {
        Ok(GetTaskResult::Working(task)) => task.task_id.as_str().len() as u64,
        Ok(GetTaskResult::Completed(task)) => task.task_id.as_str().len() as u64,
        other => panic!("{other:?}"),
    }
}

fn value(line: &[u8]) -> u64 {
    let value: Value = read(black_box(line));
    black_box(&value)["result"]["taskId"].as_str().expect("a task id").len() as u64
}

/// What rmcp's client does to a line: finds out that it is UTF-8, and reads the bytes nevertheless
/// (`try_parse_with_compatibility` in its `transport/async_rw.rs`); then the `match` of its `get_task`.
fn rmcp(line: &[u8]) -> u64 {
    let line = black_box(line);
    std::str::from_utf8(line).expect("a line is UTF-8");
    let message: RxJsonRpcMessage<RoleClient> = serde_json::from_slice(line).expect("the message is one");
    let JsonRpcMessage::Response(response) = black_box(&message) else { panic!("{message:?}") };
    let ServerResult::GetTaskResult(result) = &response.result else { panic!("{message:?}") };
    match &result.task.payload {
        TaskPayload::Working | TaskPayload::Completed { .. } => result.task.task.task_id.len() as u64,
        other => panic!("{other:?}"),
    }
}
