//! `ToolOutput`: how what a tool returns becomes its result, and what of it is told in `tools/list`.

use std::{any::Any, sync::Arc};

use rmcp::{
    handler::server::tool::schema_for_output,
    model::{CallToolResult, ContentBlock},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{ToolError, call::ToolResult, json::structured};
use crate::types::support::JsonObject;

/// What a tool may return.
///
/// | type | the result has |
/// |---|---|
/// | `CallToolResult` | whatever it says |
/// | `String`, `&'static str` | one text |
/// | `ContentBlock`, `Vec<ContentBlock>` | that content |
/// | `()` | no content |
/// | any other type that is `Serialize` and `JsonSchema` | `structuredContent`, and its JSON as text |
///
/// Only the last row has an output schema. rmcp leaves schemas and structured content that are no objects out for peers
/// whose protocol revision has no place for them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "not a tool's output",
    note = "return `CallToolResult`, or a type that is `serde::Serialize` and `schemars::JsonSchema`, or a `Result` of one"
)]
pub trait ToolOutput: Sized {
    /// The output schema, if there is one.
    fn schema() -> Option<Arc<JsonObject>>;

    /// The result.
    ///
    /// # Errors
    /// An internal error if the value cannot be written as JSON.
    fn into_result(self) -> ToolResult;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema + 'static> ToolOutput for T {
    fn schema() -> Option<Arc<JsonObject>> {
        let plain = is::<T, CallToolResult>() || is_content::<T>();
        (!plain).then(schema_for_output::<T>)
    }

    fn into_result(self) -> ToolResult {
        let mut output = Some(self);
        if let Some(result) = take::<CallToolResult>(&mut output) {
            return Ok(result);
        }
        match content(&mut output) {
            Some(content) => Ok(CallToolResult::success(content)),
            None => structured(&output).map_err(|error| ToolError::from(error).into()),
        }
    }
}

fn is<T: 'static, U: 'static>() -> bool {
    std::any::TypeId::of::<T>() == std::any::TypeId::of::<U>()
}

fn is_content<T: 'static>() -> bool {
    is::<T, String>() || is::<T, &str>() || is::<T, ()>() || is::<T, ContentBlock>() || is::<T, Vec<ContentBlock>>()
}

/// The output as content, if it is of a type that has no other form.
fn content(output: &mut dyn Any) -> Option<Vec<ContentBlock>> {
    let text = |text: String| vec![ContentBlock::text(text)];
    take::<String>(output)
        .map(text)
        .or_else(|| take::<&str>(output).map(|output| text(output.to_owned())))
        .or_else(|| take::<()>(output).map(|()| Vec::new()))
        .or_else(|| take::<ContentBlock>(output).map(|block| vec![block]))
        .or_else(|| take::<Vec<ContentBlock>>(output))
}

/// Takes a `U` out of an `Option<U>`.
fn take<U: 'static>(output: &mut dyn Any) -> Option<U> {
    output.downcast_mut::<Option<U>>()?.take()
}
