//! `ToolCall`: one call of a tool, from which macro output takes arguments, context and state.

use std::sync::Arc;

use rmcp::model::CallToolResult;

use super::{
    State, ToolError,
    parameter::{BadArguments, Parameter, WholeInput},
    state::States,
};
use crate::{context::TaskContext, types::support::JsonObject};

/// How a call of a tool ends.
pub type ToolResult = Result<CallToolResult, ToolFailed>;

/// The end of a call that gave no result of the tool's own: its error, or arguments that do not fit.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolFailed(pub(crate) ToolError);

impl From<ToolError> for ToolFailed {
    fn from(error: ToolError) -> Self {
        Self(error)
    }
}

impl From<BadArguments> for ToolFailed {
    fn from(bad: BadArguments) -> Self {
        Self(bad.into())
    }
}

impl ToolFailed {
    /// What the client is told.
    pub fn into_error(self) -> ToolError {
        self.0
    }
}

/// One call of a tool.
pub struct ToolCall {
    arguments: JsonObject,
    task: TaskContext,
    states: Arc<States>,
}

impl ToolCall {
    /// A call with these arguments, in this context, on a server without state.
    pub fn new(arguments: JsonObject, task: TaskContext) -> Self {
        Self { arguments, task, states: Arc::default() }
    }

    pub(crate) fn with_states(self, states: &Arc<States>) -> Self {
        Self { states: Arc::clone(states), ..self }
    }

    /// Takes one argument.
    ///
    /// # Errors
    /// If it is missing or does not fit (ERR-04).
    pub fn argument<T>(&mut self, parameter: &Parameter<T>) -> Result<T, ToolFailed> {
        Ok(parameter.take(&mut self.arguments)?)
    }

    /// Takes all arguments as one value.
    ///
    /// # Errors
    /// If they do not fit (ERR-04).
    pub fn whole_input<T>(&mut self, input: &WholeInput<T>) -> Result<T, ToolFailed> {
        Ok(input.take(std::mem::take(&mut self.arguments))?)
    }

    /// Takes what is no argument.
    ///
    /// # Errors
    /// If the server does not have it.
    pub fn extract<T: FromToolCall>(&mut self) -> Result<T, ToolFailed> {
        T::from_tool_call(self)
    }
}

/// What a parameter can be that is no argument.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be taken from a call",
    label = "not `TaskContext` and not `State<T>` of `mcp_tasks`",
    note = "mark the parameter `#[arg]` if it is an argument of the tool"
)]
pub trait FromToolCall: Sized {
    /// Takes it from `call`.
    ///
    /// # Errors
    /// If the server does not have it.
    fn from_tool_call(call: &mut ToolCall) -> Result<Self, ToolFailed>;
}

impl FromToolCall for TaskContext {
    fn from_tool_call(call: &mut ToolCall) -> Result<Self, ToolFailed> {
        Ok(call.task.clone())
    }
}

impl<T: Send + Sync + 'static> FromToolCall for State<T> {
    fn from_tool_call(call: &mut ToolCall) -> Result<Self, ToolFailed> {
        call.states.get().map_err(|missing| ToolError::internal(&missing).into())
    }
}
