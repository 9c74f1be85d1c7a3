#![allow(unused)]

use mcp_tasks::task_tool;

#[task_tool]
async fn add(a: impl Into<i64>, b: Vec<impl Into<i64>>) -> i64 {
    1
}

fn main() {}
