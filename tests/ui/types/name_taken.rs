#![allow(non_camel_case_types)]

use mcp_tasks::task_tool;

struct measure {}

#[task_tool]
async fn measure() {}

fn main() {}
