use mcp_tasks::task_tool;

#[task_tool(ttl = "10m", read_only, ttl = "20m")]
async fn add() {}

fn main() {}
