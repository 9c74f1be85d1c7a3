//! Tools: how a fn under [`task_tool`](crate::task_tool) is described, called, and answers.
//!
//! A fn stays the plain fn it is. What stands here is what its parameters and its return type may be
//! ([`State`], [`ToolOutput`], [`ToolError`]) and what may be said about its tasks ([`ToolOptions`]).

mod call;
mod check;
mod definition;
mod error;
mod json;
mod options;
mod output;
mod parameter;
mod set;
mod state;

#[doc(hidden)]
pub use self::{
    call::{FromToolCall, ToolCall, ToolFailed, ToolResult},
    definition::{PlainReturn, ReturnType, Returned, TaskTool, ToolDefinition},
    parameter::{Parameter, ToolArgument, WholeInput},
};
pub(crate) use self::{
    check::check_arguments,
    set::{SetBuilder, SetFault},
};
pub use self::{
    definition::InvalidTool,
    error::{ToolError, ToolFailure},
    json::Json,
    options::{CallInfo, InvalidOptions, OnRestart, TaskMode, ToolOptions, When},
    output::ToolOutput,
    parameter::BadArguments,
    set::ToolSet,
    state::State,
};
