use mcp_tasks::task_tool;

#[task_tool(name, ttl, mode, max_running, when, crate)]
async fn add() {}

fn main() {}
