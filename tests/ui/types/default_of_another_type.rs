#![allow(unused)]

use mcp_tasks::task_tool;

#[task_tool]
async fn list(#[arg(default = "ten")] limit: u32) {}

fn main() {}
