use mcp_tasks::task_tool;

#[task_tool(version = "")]
async fn empty() {}

#[task_tool(version = 2)]
async fn number() {}

fn main() {}
