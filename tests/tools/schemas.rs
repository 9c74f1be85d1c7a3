//! What a tool says about itself.

use mcp_tasks::{State, TaskContext, ToolError, task_tool};
use serde_json::json;

use crate::support::listed;

#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
enum Order {
    #[default]
    Up,
    Down,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Address {
    street: String,
    /// The one before.
    previous: Option<Box<Address>>,
}

/// What [`crate::support`] gives each server.
type Db = crate::support::Shared;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sorted {
    lines: Vec<String>,
    skipped: Option<u32>,
}

/// Sorts lines.
///
/// Slowly.
#[task_tool(title = "Sort", read_only, idempotent = false)]
async fn sort(
    /// What to sort.
    lines: Vec<String>,
    #[arg(name = "in", default)] order: Order,
    #[arg(default = 5)] limit: u8,
    _home: Option<Address>,
    _task: TaskContext,
    _db: State<Db>,
) -> Result<Sorted, ToolError> {
    let skipped = u32::try_from(lines.len().saturating_sub(limit.into())).ok();
    Ok(Sorted { lines: vec![format!("{order:?}")], skipped })
}

#[tokio::test]
async fn parameters_become_the_input_schema() {
    let tool = listed::<sort>();
    assert_eq!(tool["description"], "Sorts lines.\n\nSlowly.");
    assert_eq!(tool["title"], "Sort");
    assert_eq!(tool["annotations"], json!({"readOnlyHint": true, "idempotentHint": false}));
    let input = &tool["inputSchema"];
    assert_eq!(input["type"], "object");
    assert_eq!(input["required"], json!(["lines"]));
    assert_eq!(
        input["properties"],
        json!({
            "lines": {"type": "array", "items": {"type": "string"}, "description": "What to sort."},
            "in": {"$ref": "#/$defs/Order", "default": "Up"},
            "limit": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255, "default": 5},
            "_home": {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}]},
        })
    );
    assert_eq!(input["$defs"]["Order"], json!({"type": "string", "enum": ["Up", "Down"]}));
    assert_eq!(input["$defs"]["Address"]["properties"]["previous"]["description"], "The one before.");
}

/// An output schema says what is written: an `Option` that is always there is required.
#[tokio::test]
async fn the_return_type_becomes_the_output_schema() {
    let output = &listed::<sort>()["outputSchema"];
    assert_eq!(output["required"], json!(["lines", "skipped"]));
    assert_eq!(output.get("title"), None);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Query {
    search_text: String,
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
}

#[task_tool(name = "search.lines")]
async fn search(#[args] query: Query) -> String {
    format!("{} {:?}", query.search_text, query.limit)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase")]
enum Lookup {
    Id { id: u64 },
    Name { name: String },
}

#[task_tool]
async fn look_up(#[args] by: Lookup) -> String {
    match by {
        Lookup::Id { id } => id.to_string(),
        Lookup::Name { name } => name,
    }
}

#[task_tool]
async fn nothing() {}

#[tokio::test]
async fn a_struct_may_be_the_whole_input() {
    let tool = listed::<search>();
    assert_eq!(tool["name"], "search.lines");
    assert_eq!(tool["inputSchema"]["required"], json!(["searchText"]));
    assert_eq!(tool["inputSchema"]["properties"]["limit"]["maximum"], 50);
    assert_eq!(tool.get("outputSchema"), None);

    let input = &listed::<look_up>()["inputSchema"];
    assert_eq!((&input["type"], input["oneOf"].as_array().map(Vec::len)), (&json!("object"), Some(2)));
}

#[tokio::test]
async fn a_tool_without_parameters_takes_an_empty_object() {
    assert_eq!(listed::<nothing>(), json!({"name": "nothing", "inputSchema": {"type": "object", "properties": {}}}));
}

mod checks {
    use super::*;
    use crate::support::check;

    /// ERR-04: what does not fit is found before anything runs, and the argument is named.
    #[tokio::test]
    async fn arguments_are_checked_by_their_types() {
        assert_eq!(check::<sort>(json!({"lines": []})), "fits");
        assert_eq!(check::<sort>(json!({"lines": [], "_home": null, "in": "Down", "unknown": 1})), "fits");
        assert_eq!(check::<sort>(json!({})), "missing argument `lines`");
        assert_eq!(
            check::<sort>(json!({"lines": 1})),
            "argument `lines`: invalid type: integer `1`, expected a sequence"
        );
        assert_eq!(
            check::<sort>(json!({"lines": [], "in": "Left"})),
            "argument `in`: unknown variant `Left`, expected `Up` or `Down`"
        );
        let home = json!({"street": "a", "previous": {"street": 5}});
        assert_eq!(
            check::<sort>(json!({"lines": [], "_home": home})),
            "argument `_home`: invalid type: integer `5`, expected a string"
        );
    }

    /// ERR-04: bounds stand in the schema alone, and count.
    #[tokio::test]
    async fn arguments_are_held_against_the_schema() {
        assert_eq!(check::<search>(json!({"searchText": "a", "limit": 50})), "fits");
        assert_eq!(check::<search>(json!({"searchText": "a", "limit": 51})), "arguments: `/limit`: 51 is more than 50");
        assert_eq!(check::<search>(json!({"limit": 1})), "arguments: missing field `searchText`");
        assert_eq!(check::<look_up>(json!({"by": "id", "id": 7})), "fits");
        assert_eq!(check::<look_up>(json!({"by": "id"})), "arguments: missing field `id`");
        assert_eq!(check::<nothing>(json!({"whatever": 1})), "fits");
    }
}
