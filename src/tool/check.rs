//! Arguments are checked before there is a task (ERR-04).

use std::any::Any;

use rmcp::{
    ServerHandler,
    model::{CallToolResult, ContentBlock, Tool},
};

use super::{ToolSet, parameter::BadArguments};
use crate::{json_schema, types::support::JsonObject};

/// Whether `arguments` fit `tool`, one of `handler`'s; otherwise the `isError` result to answer with at once.
///
/// Those of a fn under `#[task_tool]` are decoded, as the call will decode them. Of the tools of other handlers only the
/// input schema is known; what that lets through and the tool's types do not ends the task.
pub(crate) fn check_arguments<H: ServerHandler>(
    handler: &H,
    tool: &Tool,
    arguments: Option<&JsonObject>,
) -> Result<(), Box<CallToolResult>> {
    let none = JsonObject::new();
    let arguments = arguments.unwrap_or(&none);
    let fit = match (handler as &dyn Any).downcast_ref::<ToolSet>() {
        Some(set) => set.check(&tool.name, arguments),
        None => json_schema::check_object(&tool.input_schema, arguments).map_err(BadArguments::from),
    };
    fit.map_err(|bad| Box::new(CallToolResult::error(vec![ContentBlock::text(bad.to_string())])))
}
