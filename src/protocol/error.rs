//! Errors as they go to a client. The only place that chooses JSON-RPC codes.

use std::{borrow::Cow, time::Duration};

use mcp_tasks_types::{EXTENSION_ID, ErrorCode};
use serde_json::{Map, Value, json};

use crate::{error::EngineError, input::InputKey, wire::Object};

/// The code of the error by which a client is slowed down that polls a task too fast (GET-04): one of those left to
/// implementations, below the range of the core's own. `data.retryAfterMs` says how long to wait.
pub const RATE_LIMITED: i64 = -32019;

/// A JSON-RPC error. Everything in it is safe to show to the client (ERR-02).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message} ({code})")]
#[non_exhaustive]
pub struct ProtocolError {
    /// The code.
    pub code: i64,
    /// A sentence.
    pub message: Cow<'static, str>,
    /// What a program can act on.
    pub data: Option<Value>,
}

impl ProtocolError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code: code.get(), message: message.into(), data: None }
    }

    fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// There is no such method (ERR-01, LEG-01, LEG-02).
    pub fn method_not_found(method: &str) -> Self {
        Self::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method `{method}`"))
    }

    /// The client did not declare the extension on this request (CAP-05, ERR-01, NOT-02).
    pub fn extension_not_declared() -> Self {
        Self::new(
            ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
            format!("the request does not declare the extension {EXTENSION_ID}"),
        )
        .with_data(json!({ "requiredCapabilities": { "extensions": { EXTENSION_ID: {} } } }))
    }

    /// The parameters are no good.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// The one answer for a task that never was, is gone, or is somebody else's (GET-03, SEC-02).
    pub fn unknown_task() -> Self {
        Self::invalid_params("task not found")
    }

    /// Answers that do not fit what was asked, with the reason for each (UPD-07).
    pub fn invalid_input_response<'a>(keys: impl IntoIterator<Item = (&'a InputKey, &'a String)>) -> Self {
        let keys: Map<String, Value> =
            keys.into_iter().map(|(key, why)| (key.as_str().to_owned(), why.as_str().into())).collect();
        Self::invalid_params("an input response does not fit its request")
            .with_data(json!({ "reason": "invalid_input_response", "keys": keys }))
    }

    /// The task is polled too fast; the time to wait is said in whole milliseconds, rounded up (GET-04).
    pub fn rate_limited(retry_after: Duration) -> Self {
        let ms = u64::try_from(retry_after.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        Self::new(ErrorCode::new(RATE_LIMITED), "the task is polled too fast").with_data(json!({ "retryAfterMs": ms }))
    }

    /// How long the client is told to wait, if this is [`RATE_LIMITED`].
    pub fn retry_after(&self) -> Option<Duration> {
        let data = self.data.as_ref().filter(|_| self.code == RATE_LIMITED)?;
        data.get("retryAfterMs")?.as_u64().map(Duration::from_millis)
    }

    /// The server failed; why is not said (ERR-02).
    pub fn internal() -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, "internal error")
    }

    /// The HTTP status that a response with this error has.
    pub fn http_status(&self) -> u16 {
        match ErrorCode::new(self.code) {
            _ if self.code == RATE_LIMITED => 429,
            ErrorCode::PARSE_ERROR
            | ErrorCode::INVALID_REQUEST
            | ErrorCode::HEADER_MISMATCH
            | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY => 400,
            ErrorCode::METHOD_NOT_FOUND => 404,
            _ => 200,
        }
    }

    /// The error object, as JSON text.
    pub fn to_json(&self) -> Vec<u8> {
        let mut object = Object::with_capacity(128);
        object.signed("code", self.code);
        object.text("message", &self.message);
        if let Some(data) = &self.data {
            object.raw("data", data.to_string().as_bytes());
        }
        object.end()
    }
}

impl From<EngineError> for ProtocolError {
    fn from(error: EngineError) -> Self {
        match &error {
            EngineError::UnknownTask => Self::unknown_task(),
            EngineError::InvalidInputResponse { keys } => Self::invalid_input_response(keys),
            EngineError::LimitExceeded(exceeded) => Self::invalid_params(exceeded.to_string()),
            EngineError::KeyTaken { .. } => Self::invalid_params(error.to_string()),
            EngineError::PolledTooFast { retry_after } => Self::rate_limited(*retry_after),
            EngineError::QuotaExceeded(_) | EngineError::ShuttingDown => {
                Self::new(ErrorCode::INTERNAL_ERROR, error.to_string())
            }
            EngineError::Store(_) | EngineError::NoEntropy(_) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a request failed");
                Self::internal()
            }
        }
    }
}
