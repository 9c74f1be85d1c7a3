//! A tool's own code as the work of an engine call.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ResultType},
    service::{Peer, RequestContext, RxJsonRpcMessage, TxJsonRpcMessage, serve_directly},
    transport::Transport,
};
use tokio_util::sync::CancellationToken;

use super::glue::CallFuture;
use crate::{
    context::TaskContext,
    engine::Work,
    task::{Failure, Settlement},
};

/// What a tool answered, for the request that may still wait for it.
#[derive(Clone, Default)]
pub(super) struct Answer(Arc<Mutex<Option<Result<CallToolResponse, ErrorData>>>>);

impl Answer {
    fn put(&self, answer: Result<CallToolResponse, ErrorData>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    }

    pub fn take(&self) -> Option<Result<CallToolResponse, ErrorData>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Whether the call of some work can become a task.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Becomes {
    /// Never: what it answers goes back as it is.
    Nothing,
    /// It may, or is one from its start.
    Task,
}

/// The work of running `run`. Its answer is also left in `answer`, for a request that may still wait for it.
pub(super) fn work<F>(
    run: F,
    request: CallToolRequestParams,
    mut context: RequestContext<RoleServer>,
    becomes: Becomes,
    answer: Answer,
) -> Work
where
    F: FnOnce(CallToolRequestParams, RequestContext<RoleServer>) -> CallFuture + Send + 'static,
{
    Work::new(move |task: TaskContext| async move {
        let stop = CancellationToken::new();
        context.ct = stop.clone();
        if becomes == Becomes::Task {
            context.peer = nobody();
        }
        context.extensions.insert(task.clone());
        let ended = unless_cancelled(&task, &stop, run(request, context)).await.map(typed);
        if becomes == Becomes::Nothing {
            answer.put(ended);
            return Settlement::Completed(Bytes::new());
        }
        let called_off = task.is_task() && task.is_cancelled() && is_error(&ended);
        let settlement = if called_off { Settlement::Cancelled } else { settlement(&ended) };
        answer.put(ended);
        settlement
    })
}

/// Runs `body` to its end, and passes a wish to cancel on to the token that rmcp's tools know.
async fn unless_cancelled<T>(task: &TaskContext, stop: &CancellationToken, body: impl Future<Output = T>) -> T {
    let mut body = std::pin::pin!(body);
    tokio::select! {
        biased;
        ended = &mut body => return ended,
        () = task.cancelled() => stop.cancel(),
    }
    body.await
}

/// Whether a tool did not do what it was asked: after a wish to cancel, that is the cancellation (CAN-02).
fn is_error(ended: &Result<CallToolResponse, ErrorData>) -> bool {
    match ended {
        Ok(CallToolResponse::Complete(result)) => result.is_error == Some(true),
        Ok(_) => false,
        Err(_) => true,
    }
}

/// How a task ends whose tool answered this (TSK-07, ERR-05).
fn settlement(ended: &Result<CallToolResponse, ErrorData>) -> Settlement {
    match ended {
        Ok(CallToolResponse::Complete(result)) => completed(result),
        Ok(_) => {
            tracing::error!("a tool that runs as a task answered with something other than a result");
            reported(&ErrorData::internal_error("internal error", None))
        }
        Err(error) => reported(error),
    }
}

/// The answer with its `resultType`, which a tool that makes its result by hand may have left out (RES-04). Where a revision
/// knows none, rmcp takes it out again.
fn typed(answer: CallToolResponse) -> CallToolResponse {
    match answer {
        CallToolResponse::Complete(mut result) => {
            result.result_type.get_or_insert(ResultType::COMPLETE);
            CallToolResponse::Complete(result)
        }
        other => other,
    }
}

/// The result as it is kept: what the tool would have answered inside the request (GET-06).
fn completed(result: &CallToolResult) -> Settlement {
    match serde_json::to_vec(result) {
        Ok(text) => Settlement::Completed(text.into()),
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a tool's result is no JSON");
            reported(&ErrorData::internal_error("internal error", None))
        }
    }
}

fn reported(error: &ErrorData) -> Settlement {
    match serde_json::to_vec(error) {
        Ok(text) => Settlement::failed(Failure::Reported { error: text.into(), message: (*error.message).into() }),
        Err(_) => Settlement::failed(Failure::Panicked),
    }
}

/// A peer that reaches nobody: what a tool sends through it is an error to the tool (NOT-04).
pub(super) fn nobody() -> Peer<RoleServer> {
    static NOBODY: OnceLock<Peer<RoleServer>> = OnceLock::new();
    NOBODY.get_or_init(|| serve_directly(Nobody, Nowhere, None).peer().clone()).clone()
}

struct Nobody;

impl ServerHandler for Nobody {}

/// A transport that has ended before it began.
struct Nowhere;

impl Transport<RoleServer> for Nowhere {
    type Error = std::io::Error;

    fn send(
        &mut self,
        _: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        std::future::ready(Err(std::io::ErrorKind::NotConnected.into()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        None
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}
