use mcp_tasks::task_tool;

#[task_tool(poll_interval = "0ms", promote_after = "0s", max_running = 0)]
async fn add() {}

fn main() {}
