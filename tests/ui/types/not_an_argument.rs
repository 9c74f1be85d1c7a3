#![allow(unused)]

use mcp_tasks::task_tool;

struct Size;

#[task_tool]
async fn measure(size: Size) {}

#[task_tool]
async fn measure_whole(#[args] size: Size) {}

fn main() {}
