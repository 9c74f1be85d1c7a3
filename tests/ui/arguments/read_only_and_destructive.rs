use mcp_tasks::task_tool;

#[task_tool(read_only, destructive)]
async fn add() {}

fn main() {}
