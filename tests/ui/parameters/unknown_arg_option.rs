#![allow(unused)]

use mcp_tasks::task_tool;

#[task_tool]
async fn unknown(#[arg(rename = "b")] a: i64) {}

#[task_tool]
async fn not_text(#[arg(name = 5)] a: i64) {}

#[task_tool]
async fn not_a_list(#[arg = 5] a: i64) {}

#[task_tool]
async fn not_options(#[arg(5)] a: i64) {}

fn main() {}
