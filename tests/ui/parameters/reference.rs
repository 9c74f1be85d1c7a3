#![allow(unused)]

use mcp_tasks::task_tool;

#[task_tool]
async fn text(text: &str) {}

#[task_tool]
async fn slice(numbers: &[i64]) {}

#[task_tool]
async fn inside(names: Option<&'static str>) {}

#[task_tool]
async fn mutable(counter: &mut Vec<u8>) {}

fn main() {}
