//! `ClientError`: why there is no result.

use std::{error::Error, fmt, sync::Arc};

use serde_json::Value;

/// Why a call has no result. It can be cloned, so that each holder of a handle is told the same.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The task failed: exactly the JSON-RPC error that ended it (case 39).
    #[error("the task failed: {message} ({code})")]
    Failed {
        /// The JSON-RPC error code.
        code: i64,
        /// What the server says about it.
        message: String,
        /// Details of the server's.
        data: Option<Value>,
    },
    /// The server refused the request itself, and there is no task: exactly its JSON-RPC error.
    #[error("the server refused: {message} ({code})")]
    Rpc {
        /// The JSON-RPC error code.
        code: i64,
        /// What the server says about it.
        message: String,
        /// Details of the server's.
        data: Option<Value>,
    },
    /// The task was cancelled, by this client or by another.
    #[error("the task was cancelled")]
    Cancelled,
    /// The task was there once and is gone: the server no longer knows it, or its time to live is over by this client's own
    /// elapsed time (CLI-02, case 40).
    #[error("the task has expired")]
    Expired,
    /// The server knows no such task, and this client never saw it either.
    #[error("the server knows no such task")]
    NotFound,
    /// The server does not speak of tasks at all: `-32601`, or the extension is not known to it.
    #[error("the server does not know tasks: {0}")]
    TasksUnsupported(String),
    /// The server's answer is none that may stand there, and why (CAP-04, RES-04).
    #[error("invalid response: {0}")]
    InvalidResponse(String),
    /// The server asked for something that this client has no handler for (case 17).
    #[error("the server asks for `{method}`, and this client has no handler for it")]
    MissingHandler {
        /// The method of the request, such as `elicitation/create`.
        method: String,
    },
    /// The client's own handler did not answer, and why.
    #[error("the handler of `{method}` failed: {message}")]
    Handler {
        /// The method of the request.
        method: String,
        /// What the handler said.
        message: String,
    },
    /// The server refused an answer, and the task lives on: nothing is sent again (CLI-11). A ticket of the handle can be
    /// resumed, and the same question be answered differently.
    #[error("the server refused the answer to {}: {message} ({code})", keys.join(", "))]
    AnswerRefused {
        /// The keys whose answers were sent.
        keys: Vec<String>,
        /// The JSON-RPC error code.
        code: i64,
        /// What the server says about it.
        message: String,
        /// Details of the server's, such as the reason for each key.
        data: Option<Value>,
    },
    /// No such question is outstanding, or it has been answered already (CLI-09).
    #[error("no question `{0}` is outstanding")]
    NotOutstanding(String),
    /// The server could not be reached, after as many tries as are allowed.
    #[error("the server cannot be reached: {0}")]
    Transport(Cause),
    /// A multi-round-trip call did not come to an end.
    #[error("no result after {0} rounds of questions")]
    TooManyRounds(usize),
    /// The handle was detached: the task may run on, but nobody follows it here.
    #[error("the task was detached")]
    Detached,
    /// The ticket is from another server.
    #[error("the ticket is from the server `{ticket}`, and this one is `{here}`")]
    WrongServer {
        /// The server that the ticket names.
        ticket: String,
        /// The server that the client is connected to.
        here: String,
    },
    /// The operating system gives no random bytes.
    #[error("no random bytes")]
    NoEntropy,
}

/// An error of a transport, which can be shared.
#[derive(Clone)]
pub struct Cause(Arc<dyn Error + Send + Sync>);

impl Cause {
    /// A cause that is an error of its own.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(error.into()))
    }

    /// The error itself.
    pub fn get(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
