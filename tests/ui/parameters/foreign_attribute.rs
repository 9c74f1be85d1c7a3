#![allow(unused)]

use mcp_tasks::task_tool;

#[task_tool]
async fn renamed(#[serde(rename = "type")] kind: String) {}

#[task_tool]
async fn ranged(#[schemars(range(min = 1))] count: u32) {}

fn main() {}
