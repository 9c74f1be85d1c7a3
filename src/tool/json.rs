//! `Json<T>`: says that a tool's output is structured, whatever its type.

use std::borrow::Cow;

use rmcp::{
    ErrorData,
    handler::server::tool::IntoCallToolResult,
    model::{CallToolResponse, CallToolResult},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

/// The output of a tool as `structuredContent`, with a copy as text for clients that know no other.
///
/// A tool that returns a plain `T` gives the same; the wrapper matters for `Json<String>`, which is structured where a
/// `String` is text, and for those who know it from rmcp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Json<T>(pub T);

impl<T: Serialize> Serialize for Json<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Json<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// So that a method under rmcp's `#[tool]` may return it as well.
impl<T: Serialize> IntoCallToolResult for Json<T> {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        structured(&self.0).map(Into::into)
    }
}

/// The result that holds `value`.
pub(super) fn structured(value: &impl Serialize) -> Result<CallToolResult, ErrorData> {
    serde_json::to_value(value).map(CallToolResult::structured).map_err(|cause| {
        tracing::error!(error = &cause as &dyn std::error::Error, "a tool's output cannot be written as JSON");
        ErrorData::internal_error("internal error", None)
    })
}
