use mcp_tasks::task_tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Input {
    a: i64,
}

#[task_tool]
async fn add(#[args(flatten)] input: Input) -> i64 {
    input.a
}

fn main() {}
