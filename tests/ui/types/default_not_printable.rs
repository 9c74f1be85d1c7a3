#![allow(unused)]

use mcp_tasks::task_tool;

#[derive(Default, serde::Deserialize, schemars::JsonSchema)]
struct Order {
    by: String,
}

#[task_tool]
async fn list(#[arg(default)] order: Order) {}

fn main() {}
