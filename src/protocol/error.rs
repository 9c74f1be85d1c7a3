//! Errors as they go to a client. The only place that chooses JSON-RPC codes.

use std::borrow::Cow;

use mcp_tasks_types::{EXTENSION_ID, ErrorCode};
use serde_json::{Map, Value, json};

use crate::{error::EngineError, input::InputKey, wire::Object};

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

    /// The server failed; why is not said (ERR-02).
    pub fn internal() -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, "internal error")
    }

    /// The HTTP status that a response with this error has.
    pub fn http_status(&self) -> u16 {
        match ErrorCode::new(self.code) {
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
