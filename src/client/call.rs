//! `tools/call`, with all that may come between the call and its result.

use std::{collections::BTreeMap, time::Duration};

use rmcp::{
    Peer, RoleClient,
    model::{CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, RequestMetaObject, ServerResult},
    service::ServiceError,
};
use serde_json::{Value, json};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};

use super::{
    ClientError,
    driver::{Failure, MAX_RETRY_AFTER},
    shell::Told,
    state::{TaskState, read_requests},
    wire::{Wire, value},
};

/// The extension of a server that makes one task of a call, however often it comes, and the member of `_meta` that tells
/// it which calls are one.
pub const IDEMPOTENCY_KEY: &str = "rs.mcp-tasks/idempotency-key";

/// How many rounds of questions a call may take before it becomes a task or has a result.
const MAX_ROUNDS: usize = 10;
/// How often a call that was lost is made again, where that is safe.
const MAX_REPEATS: u32 = 4;
/// How long a cancellation in the background may take: a poll may be on its way, and the first try may be lost.
const LAST_WORD: Duration = Duration::from_secs(100);

/// What a call came to.
pub(super) enum Answer {
    Result(CallToolResult),
    Task(TaskState),
}

/// What a server answers to `tools/call`.
enum Reply {
    Result(CallToolResult),
    Task(TaskState),
    Questions(Value, Option<String>),
}

/// Calls a tool, going through its rounds of questions.
pub(super) async fn call(wire: &Wire, mut params: CallToolRequestParams) -> Result<Answer, ClientError> {
    for _ in 0..MAX_ROUNDS {
        let reply = request(wire, &params).await?;
        match read(reply)? {
            Reply::Result(result) => return Ok(Answer::Result(result)),
            Reply::Task(state) => return Ok(Answer::Task(state)),
            Reply::Questions(requests, state) => {
                params.input_responses = Some(ask(wire, &requests).await?);
                params.request_state = state;
            }
        }
    }
    Err(ClientError::TooManyRounds(MAX_ROUNDS))
}

/// Lets the handlers answer the questions of one round. Their keys have nothing to do with those of a task (CLI-09).
async fn ask(wire: &Wire, requests: &Value) -> Result<BTreeMap<String, Value>, ClientError> {
    let requests = match requests {
        Value::Null => return Ok(BTreeMap::new()),
        requests => read_requests(requests).map_err(ClientError::InvalidResponse)?,
    };
    let mut responses = BTreeMap::new();
    for (key, request) in requests {
        let response = wire.ask(&key, &request).await?;
        responses.insert(key, response);
    }
    Ok(responses)
}

/// One `tools/call`. It is made again after a loss only where the server says that this is one call.
async fn request(wire: &Wire, params: &CallToolRequestParams) -> Result<Value, ClientError> {
    let mut params = params.clone();
    let repeats = if announces(&wire.peer, IDEMPOTENCY_KEY) { MAX_REPEATS } else { 0 };
    if repeats > 0 {
        let meta = params.meta.get_or_insert_with(RequestMetaObject::default);
        meta.insert(IDEMPOTENCY_KEY.to_owned(), random_key()?.into());
    }
    let mut lost = 0;
    loop {
        let error = match send(wire, params.clone()).await {
            Ok(result) => return value(&result).map_err(|error| ClientError::InvalidResponse(error.to_string())),
            Err(error) => error,
        };
        match wire.failure(error) {
            Failure::Lost { retry_after, .. } if lost < repeats => {
                lost += 1;
                let wait = retry_after.unwrap_or(Duration::from_millis(250) * (1 << lost));
                tokio::time::sleep(wait.min(MAX_RETRY_AFTER)).await;
            }
            Failure::Lost { error, .. } | Failure::Closed(error) => return Err(error),
            Failure::Refused { code, message, data } => return Err(ClientError::Rpc { code, message, data }),
        }
    }
}

/// Sends the call and waits for its answer. Where the caller stops waiting, a server that makes no tasks is told so; from
/// one that does the answer is awaited, and its task cancelled (CLI-10).
async fn send(wire: &Wire, params: CallToolRequestParams) -> Result<ServerResult, ServiceError> {
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let mut request = wire.open(request).await?;
    if !offers_tasks(&wire.peer) {
        return request.response().await;
    }
    let (sender, answer) = oneshot::channel();
    let wire = wire.clone();
    tokio::spawn(async move {
        let answer = request.response().await;
        // Nobody may be there any more; or whoever is does not come to take it.
        drop(sender.send(Unclaimed { wire, answer: Some(answer) }));
    });
    answer.await.map_or(Err(ServiceError::TransportClosed), |mut answer| answer.claim())
}

/// The answer to a call that nobody has taken yet. If nobody does, its task is cancelled.
struct Unclaimed {
    wire: Wire,
    answer: Option<Result<ServerResult, ServiceError>>,
}

impl Unclaimed {
    fn claim(&mut self) -> Result<ServerResult, ServiceError> {
        self.answer.take().unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        let Some(Ok(result)) = self.answer.take() else { return };
        let reply = value(&result).map_err(drop).and_then(|value| read(value).map_err(drop));
        if let (Ok(Reply::Task(task)), Ok(runtime)) = (reply, Handle::try_current()) {
            cancel_unfollowed(&runtime, self.wire.clone(), task.task_id);
        }
    }
}

/// What the answer is: told by `resultType` alone (RES-04).
fn read(mut answer: Value) -> Result<Reply, ClientError> {
    let kind = match answer.get("resultType") {
        None => "complete".to_owned(),
        Some(Value::String(kind)) => kind.clone(),
        Some(other) => return Err(ClientError::InvalidResponse(format!("`resultType` is {other}"))),
    };
    match kind.as_str() {
        "complete" => tool_result(answer).map(Reply::Result),
        "task" => TaskState::read_created(&answer).map(Reply::Task).map_err(ClientError::InvalidResponse),
        "input_required" => {
            let requests = answer.get_mut("inputRequests").map(Value::take).unwrap_or_default();
            let state = answer.get("requestState").and_then(Value::as_str).map(str::to_owned);
            match requests.is_null() && state.is_none() {
                true => Err(ClientError::InvalidResponse("a round asks nothing and keeps no state".to_owned())),
                false => Ok(Reply::Questions(requests, state)),
            }
        }
        kind => Err(ClientError::InvalidResponse(format!("`{kind}` is no `resultType` of `tools/call`"))),
    }
}

/// A tool's result, with or without `resultType` (GET-06).
pub(super) fn tool_result(mut result: Value) -> Result<CallToolResult, ClientError> {
    if let Some(result) = result.as_object_mut() {
        result.entry("content").or_insert_with(|| json!([]));
    }
    serde_json::from_value(result)
        .map_err(|error| ClientError::InvalidResponse(format!("no result of a tool: {error}")))
}

/// Whether the server speaks of tasks, under a version that has them (LEG-01).
pub(super) fn offers_tasks(peer: &Peer<RoleClient>) -> bool {
    announces(peer, mcp_tasks_types::EXTENSION_ID)
}

fn announces(peer: &Peer<RoleClient>, extension: &str) -> bool {
    peer.peer_info().is_some_and(|info| {
        let extensions = info.capabilities.extensions.as_ref();
        info.protocol_version.as_str() >= mcp_tasks_types::PROTOCOL_VERSION
            && extensions.is_some_and(|extensions| extensions.contains_key(extension))
    })
}

/// 128 random bits as text.
fn random_key() -> Result<String, ClientError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| ClientError::NoEntropy)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Cancels a task whose handle is gone. The shell goes on until the server has heard.
pub(super) fn cancel_by_shell(runtime: &Handle, tell: mpsc::UnboundedSender<Told>) {
    let (reply, heard) = oneshot::channel();
    if tell.send(Told::Cancel(reply)).is_ok() {
        runtime.spawn(async move {
            // The channel is held open until then; when it closes the shell ends.
            let _ = tokio::time::timeout(LAST_WORD, heard).await;
            drop(tell);
        });
    }
}

/// Cancels a task that nobody follows, once.
pub(super) fn cancel_unfollowed(runtime: &Handle, wire: Wire, task_id: String) {
    tracing::debug!(task = %task_id, "nobody waits for the task: it is cancelled");
    runtime.spawn(async move { wire.task_request("tasks/cancel", json!({ "taskId": task_id })).await });
}
