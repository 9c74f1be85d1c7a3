//! How a tool fails: `ToolError`, which a tool may return, and `ToolFailure`, whatever else may stand in its place.

use std::{any::Any, fmt::Display};

use rmcp::{
    ErrorData,
    handler::server::tool::IntoCallToolResult,
    model::{CallToolResponse, CallToolResult, ContentBlock, ErrorCode},
};
use serde_json::Value;

/// Why a tool failed (ERR-05).
///
/// [`new`](Self::new) is an error of the tool's own work: the client, and the model behind it, read it as a result with
/// `isError`, and a task that ends with it is `completed` (TSK-07). [`protocol`](Self::protocol) is a JSON-RPC error: a
/// task that ends with it is `failed`.
///
/// `?` turns whatever can be displayed into an error of the first kind: its text is shown to the client, so it should
/// hold nothing that is secret (ERR-02). rmcp's `ErrorData` keeps its code, message and data, as the second kind.
///
/// ```
/// use mcp_tasks::{ToolError, task_tool};
///
/// /// Halves a number.
/// #[task_tool]
/// async fn halve(text: String) -> Result<i64, ToolError> {
///     let number: i64 = text.trim().parse()?;
///     if number % 2 == 1 {
///         return Err(ToolError::new(format!("{number} is odd")));
///     }
///     Ok(number / 2)
/// }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert_eq!(halve("x".into()).await.unwrap_err().message(), "invalid digit found in string");
/// # });
/// ```
///
/// It is not `Display` itself, for that would leave no room for `?` on texts; [`message`](Self::message) is the text.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// A result with `isError`.
    Told(String),
    /// A JSON-RPC error.
    Protocol(Box<ErrorData>),
}

impl ToolError {
    /// An error of the tool's own, told to the client in these words.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Kind::Told(message.into()))
    }

    /// A JSON-RPC error with exactly this code, message and data.
    ///
    /// ```
    /// use mcp_tasks::ToolError;
    /// use serde_json::json;
    ///
    /// let error = ToolError::protocol(-32002, "no such file", Some(json!({"path": "a.txt"})));
    /// assert!(error.is_protocol());
    /// ```
    pub fn protocol(code: i32, message: impl Into<String>, data: Option<Value>) -> Self {
        ErrorData::new(ErrorCode(code), message.into(), data).into()
    }

    /// What the client reads.
    pub fn message(&self) -> &str {
        match &self.0 {
            Kind::Told(message) => message,
            Kind::Protocol(error) => &error.message,
        }
    }

    /// Whether it is a JSON-RPC error, and no result.
    pub fn is_protocol(&self) -> bool {
        matches!(self.0, Kind::Protocol(_))
    }

    /// An internal error: what went wrong goes to the log, and nothing of it to the client (ERR-02).
    pub(crate) fn internal(cause: &dyn Display) -> Self {
        tracing::error!(%cause, "a tool call failed inside the server");
        ErrorData::internal_error("internal error", None).into()
    }

    /// The result or the JSON-RPC error that it is on the wire.
    pub(crate) fn into_result(self) -> Result<CallToolResult, ErrorData> {
        match self.0 {
            Kind::Told(message) => Ok(CallToolResult::error(vec![ContentBlock::text(message)])),
            Kind::Protocol(error) => Err(*error),
        }
    }
}

impl<E: Display + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        match (&error as &dyn Any).downcast_ref::<ErrorData>() {
            Some(protocol) => Self(Kind::Protocol(Box::new(protocol.clone()))),
            None => Self::new(error.to_string()),
        }
    }
}

/// So that a method under rmcp's `#[tool]` may return it as well.
impl IntoCallToolResult for ToolError {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        self.into_result().map(Into::into)
    }
}

/// What may stand in the `Err` of a tool: [`ToolError`], or anything that is `Display`. It becomes what `?` would make
/// of it (ERR-05).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "not a tool's error",
    note = "return `ToolError`, or a type that implements `Display`"
)]
pub trait ToolFailure {
    /// The error that the client is told.
    fn into_tool_error(self) -> ToolError;
}

impl ToolFailure for ToolError {
    fn into_tool_error(self) -> ToolError {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<E: Display + 'static> ToolFailure for E {
    fn into_tool_error(self) -> ToolError {
        self.into()
    }
}
