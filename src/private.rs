//! What the output of the macros refers to. Not for people: it changes with the macros, in any release.

pub use rmcp;

pub use crate::{
    task::OnCancel,
    tool::{
        CallInfo, FromToolCall, OnRestart, Parameter, PlainReturn, ReturnType, Returned, TaskMode, TaskTool,
        ToolArgument, ToolCall, ToolDefinition, ToolFailed, ToolFailure, ToolOptions, ToolOutput, ToolResult,
        WholeInput,
    },
};

/// What the handlers call.
pub mod handler {
    pub use crate::handler::glue::*;
    pub use crate::handler::tool_meta;
}
