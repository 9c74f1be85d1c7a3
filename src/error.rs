//! The errors of each boundary: [`StoreError`] of a store, [`EngineError`] of the engine, [`TaskContextError`] of what a
//! tool may do. No JSON-RPC codes here: the protocol layer chooses them.
//!
//! What a client may read is in the `Display` of an error; its cause is for the log (ERR-02).

use std::{collections::BTreeMap, error::Error, sync::Arc, time::Duration};

use crate::{
    input::{InputKey, InputKind},
    task_id::NoEntropy,
};

/// Why a store call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Nothing was done. It may work later.
    #[error("the task store is not available")]
    Unavailable {
        /// What went wrong; for the log, never for a client (ERR-02).
        #[source]
        cause: Box<dyn Error + Send + Sync>,
    },
    /// It is not known whether it was done. Repeat the call to find out.
    #[error("the task store did not say whether it made a change")]
    Ambiguous {
        /// What went wrong; for the log, never for a client (ERR-02).
        #[source]
        cause: Box<dyn Error + Send + Sync>,
    },
    /// The task was not created, for there are too many.
    #[error(transparent)]
    QuotaExceeded(QuotaExceeded),
}

/// Which bound of the [`Quota`](crate::limits::Quota) a new task would break (SEC-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuotaExceeded {
    /// [`Quota::live`](crate::limits::Quota::live).
    #[error("the server already runs {0} tasks")]
    Live(usize),
    /// [`Quota::live_per_principal`](crate::limits::Quota::live_per_principal).
    #[error("the caller already has {0} unsettled tasks")]
    LivePerPrincipal(usize),
    /// [`Quota::held`](crate::limits::Quota::held).
    #[error("the server already holds {0} tasks")]
    Held(usize),
}

/// Which of the [`Limits`](crate::limits::Limits) something would break (SEC-04). Sizes are bytes of JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitExceeded {
    /// The arguments of a call.
    #[error("the arguments have {size} bytes, more than the limit of {limit}")]
    Arguments {
        /// How large they are.
        size: usize,
        /// How large they may be.
        limit: usize,
    },
    /// An input response.
    #[error("an input response has {size} bytes, more than the limit of {limit}")]
    InputResponse {
        /// How large it is.
        size: usize,
        /// How large it may be.
        limit: usize,
    },
    /// A status message.
    #[error("the status message has {size} bytes, more than the limit of {limit}")]
    StatusMessage {
        /// How long it is.
        size: usize,
        /// How long it may be.
        limit: usize,
    },
    /// The steps, questions and answers of one task.
    #[error("the steps, questions and answers of the task would have {size} bytes, more than the limit of {limit}")]
    Journal {
        /// How large they would be.
        size: usize,
        /// How large they may be.
        limit: usize,
    },
    /// Input requests that wait at the same time.
    #[error("the task already waits for {limit} answers")]
    OutstandingInputs {
        /// How many there may be.
        limit: usize,
    },
    /// Task ids in one subscription.
    #[error("{count} task ids are more than the limit of {limit}")]
    ListenTaskIds {
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
}

/// Why the engine did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The id names no task of this principal: it never existed, is gone, or belongs to somebody else. Which of these
    /// it is, nobody is told (GET-03, SEC-02).
    #[error("task not found")]
    UnknownTask,
    /// Some answers do not fit the questions; none of the message was taken (UPD-07).
    #[error("{} input responses do not fit their requests", keys.len())]
    InvalidInputResponse {
        /// Why, for each such key.
        keys: BTreeMap<InputKey, String>,
    },
    /// Something is larger than allowed.
    #[error(transparent)]
    LimitExceeded(#[from] LimitExceeded),
    /// The task is polled much faster than it suggests; it is unharmed (GET-04).
    #[error("the task is polled too fast")]
    PolledTooFast {
        /// How long to wait before the next poll.
        retry_after: Duration,
    },
    /// There are too many tasks.
    #[error(transparent)]
    QuotaExceeded(QuotaExceeded),
    /// The client's key for the call is that of another one: of another tool, or with other arguments.
    #[error("the idempotency key {key:?} is that of another call")]
    KeyTaken {
        /// The key.
        key: Arc<str>,
    },
    /// The server no longer starts tools.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The store failed (NEW-03).
    #[error("internal error")]
    Store(#[source] StoreError),
    /// No task id could be made.
    #[error("internal error")]
    NoEntropy(#[from] NoEntropy),
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::QuotaExceeded(which) => Self::QuotaExceeded(which),
            other => Self::Store(other),
        }
    }
}

/// Why a tool did not get what it asked its [`TaskContext`](crate::context::TaskContext) for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskContextError {
    /// Cancellation was requested, so that the client is asked nothing more (case 11).
    #[error("the task was cancelled")]
    Cancelled,
    /// The task is no longer this tool's to run: it has ended, or its lease was lost. The tool is about to be dropped.
    #[error("the task was taken from this tool")]
    Stopped,
    /// The client did not declare that it can be asked this (case 19).
    #[error("the client did not declare {0:?}")]
    NotDeclared(InputKind),
    /// The call is not a task, cannot become one, and its client cannot be asked in another way.
    #[error("there is no way to ask the client during this call")]
    CannotAsk,
    /// Something is larger than allowed.
    #[error(transparent)]
    LimitExceeded(#[from] LimitExceeded),
    /// The result of a step could not be written as JSON, or the recorded one not be read back.
    #[error("the result of step `{key}` does not survive being recorded")]
    Step {
        /// The step.
        key: Box<str>,
        /// What does not fit.
        #[source]
        cause: serde_json::Error,
    },
    /// The store failed.
    #[error("internal error")]
    Store(#[from] StoreError),
}
