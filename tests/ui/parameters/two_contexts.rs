#![allow(unused)]

use mcp_tasks::{TaskContext, task_tool};

#[task_tool]
async fn add(first: TaskContext, a: i64, second: mcp_tasks::TaskContext) -> i64 {
    a
}

fn main() {}
