#![allow(unused)]

use mcp_tasks::{TaskContext, task_tool};

#[task_tool(ttl = "0s", mode = "sometimes", max_running = 0)]
fn add(a: &str, (b, c): (i64, i64), one: TaskContext, two: TaskContext) {}

fn main() {
    // The fn and its type are there all the same.
    add("", (1, 2), TaskContext::for_test().context(), TaskContext::for_test().context());
    let _ = add {};
}
