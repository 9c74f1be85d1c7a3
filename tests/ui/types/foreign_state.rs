#![allow(unused)]

use mcp_tasks::task_tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
enum State {
    Open,
    Closed,
}

#[task_tool]
async fn list(state: State) {}

fn main() {}
