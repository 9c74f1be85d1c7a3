//! `TaskRecord` -> JSON text of the messages that carry a task. The only file that knows how a task is spelled.
//!
//! Guarantees:
//! - `taskId`, `status`, `createdAt`, `lastUpdatedAt` and `ttlMs` are always there, `ttlMs: null` for a task that is kept
//!   for ever (TSK-01); `statusMessage` and `pollIntervalMs` are left out when unset, and nothing else is ever `null`
//!   (TSK-02, case 24);
//! - the payload of the status is there, and no other (TSK-05); what a tool returned is copied once, from the bytes that
//!   the store holds into the answer, and neither parsed nor printed (GET-06);
//! - `resultType` is `task` on the answer that creates a task and on nothing else (RES-01, RES-02, RES-03).

mod json;
mod time;

use std::{borrow::Cow, fmt::Write, time::Duration};

use mcp_tasks_types::ErrorCode;

pub(crate) use self::json::Object;
use self::time::timestamp;
use crate::{
    clock::UnixMillis,
    input::InputLog,
    task::{Failure, Progress, Settlement, TaskRecord, TaskState},
};

/// Where `TaskContext::progress` stands in `_meta` (NOT-04).
pub const PROGRESS_META_KEY: &str = "rs.mcp-tasks/progress";

/// Where the id of the listen request stands in the `_meta` of what is sent because of it (NOT-03).
pub const SUBSCRIPTION_ID_META_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// The empty acknowledgement of `tasks/update` and `tasks/cancel` (UPD-01, CAN-01, RES-03).
pub const ACKNOWLEDGEMENT: &str = r#"{"resultType":"complete"}"#;

/// The `CreateTaskResult` of a task. It carries no payload, whatever state the task is in by now (TSK-09).
pub fn create_task_result(record: &TaskRecord) -> Vec<u8> {
    let mut message = Object::with_capacity(SMALL);
    message.text("resultType", "task");
    meta(&mut message, record.progress, None);
    task(&mut message, record);
    message.end()
}

/// The `GetTaskResult` of a task: its state, and the payload of that state (GET-01).
pub fn get_task_result(record: &TaskRecord) -> Vec<u8> {
    let mut message = Object::with_capacity(get_task_result_room(record));
    write_get_task_result(&mut message, record);
    message.end()
}

/// The members of a `GetTaskResult`, into an object that may be part of a larger text.
pub(crate) fn write_get_task_result(message: &mut Object, record: &TaskRecord) {
    message.text("resultType", "complete");
    meta(message, record.progress, None);
    task(message, record);
    payload(message, record);
}

/// Room for a `GetTaskResult`.
pub(crate) fn get_task_result_room(record: &TaskRecord) -> usize {
    SMALL + payload_len(record)
}

/// The `params` of a `notifications/tasks`: what `tasks/get` would say now, and which subscription it is for (NOT-03).
/// `subscription` is the id of the listen request as JSON text, so that it keeps its type (case 44).
pub fn notification_params(record: &TaskRecord, subscription: &str) -> Vec<u8> {
    let mut message = Object::with_capacity(SMALL + subscription.len() + payload_len(record));
    meta(&mut message, record.progress, Some(subscription));
    task(&mut message, record);
    payload(&mut message, record);
    message.end()
}

/// Room for a task without payload, with a status message of usual length.
const SMALL: usize = 384;

fn payload_len(record: &TaskRecord) -> usize {
    match &record.state {
        TaskState::Settled(Settlement::Completed(result)) => result.len(),
        TaskState::Settled(_) => 128,
        TaskState::Open => {
            record.inputs().outstanding().map(|(key, request)| key.as_str().len() + request.len() + 4).sum()
        }
    }
}

fn meta(message: &mut Object, progress: Option<Progress>, subscription: Option<&str>) {
    if progress.is_none() && subscription.is_none() {
        return;
    }
    let mut meta = message.object("_meta");
    if let Some(id) = subscription {
        meta.raw(SUBSCRIPTION_ID_META_KEY, id.as_bytes());
    }
    if let Some(Progress { done, total }) = progress {
        let mut progress = meta.object(PROGRESS_META_KEY);
        progress.number("done", done);
        progress.number("total", total);
    }
}

fn task(message: &mut Object, record: &TaskRecord) {
    let mut id = String::with_capacity(32);
    // Writing to a String does not fail.
    let _ = write!(id, "{}", record.id);
    message.plain("taskId", &id);
    message.plain("status", record.status().as_str());
    if let Some(text) = &record.status_message {
        message.text("statusMessage", text);
    }
    message.plain("createdAt", &timestamp(record.created_at));
    message.plain("lastUpdatedAt", &timestamp(record.last_updated_at));
    match record.ttl {
        Some(ttl) => message.number("ttlMs", millis(ttl)),
        None => message.raw("ttlMs", b"null"),
    }
    if let Some(interval) = record.poll_interval {
        message.number("pollIntervalMs", millis(interval));
    }
}

/// Whole milliseconds, at most what every JSON reader takes as an integer (TSK-04).
fn millis(duration: Duration) -> u64 {
    const LARGEST: u64 = (1 << 53) - 1;
    u64::try_from(duration.as_millis()).map_or(LARGEST, |ms| ms.min(LARGEST))
}

fn payload(message: &mut Object, record: &TaskRecord) {
    match &record.state {
        TaskState::Open => input_requests(message, record.inputs()),
        TaskState::Settled(Settlement::Completed(result)) => message.raw("result", result),
        TaskState::Settled(Settlement::Failed(failure)) => message.raw("error", &error(failure)),
        TaskState::Settled(Settlement::Cancelled) => {}
    }
}

/// Every outstanding request (GET-02); no member at all if there is none (case 20).
fn input_requests(message: &mut Object, inputs: &InputLog) {
    let mut outstanding = inputs.outstanding().peekable();
    if outstanding.peek().is_some() {
        let mut requests = message.object("inputRequests");
        for (key, request) in outstanding {
            requests.raw(key.as_str(), request);
        }
    }
}

/// The JSON-RPC error of a failed task: the tool's own, or ours with a sentence that tells nothing of the server (ERR-02).
fn error(failure: &Failure) -> Cow<'_, [u8]> {
    if let Failure::Reported { error, .. } = failure {
        return Cow::Borrowed(error);
    }
    let mut object = Object::with_capacity(96);
    object.signed("code", ErrorCode::INTERNAL_ERROR.get());
    object.text("message", &failure.message());
    Cow::Owned(object.end())
}

#[cfg(test)]
mod tests;
