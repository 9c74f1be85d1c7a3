//! The tasks extension on the wire, apart from any transport: which request gets which answer.
//!
//! One set of checks for stdio, Streamable HTTP and whatever else carries messages. Nothing here knows rmcp; an [`Answer`]
//! becomes JSON text, from stored bytes, where it is sent. A transport
//! 1. reads the message's [`Envelope`] and the [`Declared`] part of its `_meta`, makes sure of the [`Principal`](crate::principal::Principal),
//!    and makes a [`Caller`] of it;
//! 2. gives a `tasks/*` request to [`answer()`], and a `subscriptions/listen` to [`Listen`];
//! 3. asks [`Decision::of`] before it runs a tool.
//!
//! Guarantees:
//! - the checks come in one order: version (LEG-01), then capability (ERR-01), then parameters, then owner; none tells
//!   anything that a later one would have kept secret (SEC-02, case 30);
//! - an unknown task, somebody else's, an expired one and an id that no task can have get one and the same answer
//!   (GET-03, SEC-02);
//! - what an error of ours says is safe to show; its cause goes to the log alone (ERR-02).
//!
//! Checks that a transport has before these: its own, and that of `protocolVersion` (an unsupported one is refused).

mod answer;
mod caller;
mod decision;
mod envelope;
mod error;
mod idempotency;
mod listen;
mod object;
mod params;

use self::params::{TaskParams, UpdateParams};
pub use self::{
    answer::{Answer, response},
    caller::{Caller, Declared, TASKS_SINCE},
    decision::{Decision, ToolPolicy},
    envelope::{Envelope, MalformedMessage},
    error::{ProtocolError, RATE_LIMITED},
    idempotency::{IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_CHARS, idempotency_key},
    listen::{Listen, Subscription},
};
use crate::{engine::TaskEngine, task_id::TaskId};

/// `tools/call`, the one request that can be answered with a task as yet.
pub const TOOLS_CALL: &str = "tools/call";

/// `subscriptions/listen`.
pub const LISTEN: &str = "subscriptions/listen";

/// Whether a method is reserved for the extension: `tasks/` and whatever follows.
pub fn is_tasks_method(method: &str) -> bool {
    method.starts_with("tasks/")
}

/// Answers a `tasks/*` request.
///
/// `params` is the request's `params` as JSON text; empty if it has none. Dropping the future before it is ready leaves
/// a `tasks/update` or `tasks/cancel` done or not done, never half done.
///
/// # Errors
/// - `-32601` for every method but `tasks/get`, `tasks/update` and `tasks/cancel`, and for these as well under a version
///   without the extension (LEG-01, LEG-02, ERR-01);
/// - `-32021` if this request did not declare the extension, whether or not the task exists (ERR-01, case 30);
/// - `-32602` if the parameters are no good, or name no task of this caller (GET-03, UPD-05, UPD-07, CAN-03, case 31);
/// - [`RATE_LIMITED`] if the task is polled too fast, where the server minds (GET-04);
/// - `-32603` if the server fails (ERR-02).
pub async fn answer(
    engine: &dyn TaskEngine,
    caller: &Caller<'_>,
    method: &str,
    params: &[u8],
) -> Result<Answer, ProtocolError> {
    let Some(method) = TaskMethod::of(method).filter(|_| caller.version_has_tasks()) else {
        return Err(ProtocolError::method_not_found(method));
    };
    caller.require_declared()?;
    match method {
        TaskMethod::Get => get(engine, caller, params).await,
        TaskMethod::Update => update(engine, caller, params).await,
        TaskMethod::Cancel => cancel(engine, caller, params).await,
    }
}

#[derive(Debug, Clone, Copy)]
enum TaskMethod {
    Get,
    Update,
    Cancel,
}

impl TaskMethod {
    fn of(method: &str) -> Option<Self> {
        match method {
            "tasks/get" => Some(Self::Get),
            "tasks/update" => Some(Self::Update),
            "tasks/cancel" => Some(Self::Cancel),
            _ => None,
        }
    }
}

async fn get(engine: &dyn TaskEngine, caller: &Caller<'_>, params: &[u8]) -> Result<Answer, ProtocolError> {
    let id = task_id(TaskParams::read(params)?.task_id())?;
    let record = engine.get(caller.principal, id).await?;
    Ok(Answer::State(record))
}

/// Hands over the answers as they came: those to keys that are not outstanding are dropped before anybody looks at what
/// they are (UPD-02).
async fn update(engine: &dyn TaskEngine, caller: &Caller<'_>, params: &[u8]) -> Result<Answer, ProtocolError> {
    let params = UpdateParams::read(params)?;
    let id = task_id(params.task_id())?;
    engine.respond(caller.principal, id, params.into_responses()).await?;
    Ok(Answer::Acknowledgement)
}

async fn cancel(engine: &dyn TaskEngine, caller: &Caller<'_>, params: &[u8]) -> Result<Answer, ProtocolError> {
    let id = task_id(TaskParams::read(params)?.task_id())?;
    engine.cancel(caller.principal, id).await?;
    Ok(Answer::Acknowledgement)
}

/// A text that is no task id of ours names no task: to a client that is the same (GET-03, case 31).
fn task_id(text: &str) -> Result<TaskId, ProtocolError> {
    text.parse().map_err(|_| ProtocolError::unknown_task())
}

#[cfg(test)]
mod tests;
