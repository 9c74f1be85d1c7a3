#![deny(warnings, missing_docs, unused_qualifications)]
//! Every kind of parameter, return type and argument, without a warning.

use mcp_tasks::{Json, State, TaskContext, ToolError, task_tool};

/// All arguments of a tool, as one struct.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Query {
    text: String,
    limit: Option<u32>,
}

/// What a search finds.
#[derive(serde::Serialize, schemars::JsonSchema)]
pub struct Hits {
    lines: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
enum Order {
    #[default]
    Up,
    Down,
}

/// Adds.
#[task_tool(
    ttl = "1h30m",
    poll_interval = "500ms",
    promote_after = "2s",
    on_cancel = "signal",
    on_restart = "rerun",
    max_attempts = 3,
    version = "2"
)]
pub async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: Option<i64>,
    #[arg(default = 5)] mut c: i64,
    task: TaskContext,
) -> Result<i64, ToolError> {
    c += b.unwrap_or_default();
    drop(task);
    Ok(a + c)
}

/// Takes a struct apart.
#[task_tool(name = "search.lines", title = "Search", description = concat!("Finds", " lines"), max_running = 4)]
pub async fn search(_task: TaskContext, #[args] Query { text, limit }: Query) -> Result<Json<Hits>, String> {
    if limit == Some(0) {
        return Err("nothing to find".to_owned());
    }
    Ok(Json(Hits { lines: vec![text] }))
}

/// Renames an argument that is a keyword.
#[task_tool(ttl = "unlimited", mode = "required", read_only, destructive = false, idempotent, open_world = true)]
pub(crate) async fn list(#[arg(name = "in")] folder: String, r#type: String, #[arg(default)] order: Order) -> String {
    format!("{folder}{type}{order:?}", r#type = r#type)
}

/// A type of one's own that happens to be called `State`.
mod own {
    use mcp_tasks::task_tool;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub(crate) struct State {
        pub(crate) open: bool,
    }

    #[task_tool]
    pub(crate) async fn is_open(#[arg] state: State) -> bool {
        state.open
    }
}

/// Counts.
#[task_tool(crate = ::mcp_tasks)]
pub async fn count(words: State<Vec<String>>) -> usize {
    words.len()
}

type Outcome = Result<u8, ToolError>;

#[task_tool]
async fn behind_an_alias() -> Outcome {
    Ok(1)
}

#[task_tool]
async fn nothing() {}

fn main() {
    // Each stays the plain fn that it is.
    drop(add(1, None, 2, TaskContext::for_test().context()));
    drop(search(TaskContext::for_test().context(), Query { text: String::new(), limit: None }));
    drop(list(String::new(), String::new(), Order::Down));
    drop(own::is_open(own::State { open: true }));
    drop((behind_an_alias(), nothing()));

    // A tool may stand where a fn may stand.
    #[task_tool]
    async fn local(a: f64) -> f64 {
        a
    }
    drop(local(1.0));
}
