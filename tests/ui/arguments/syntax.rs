use mcp_tasks::task_tool;

#[task_tool(ttl = "10m" mode = "required", = 5, poll_interval = )]
async fn add() {}

fn main() {}
