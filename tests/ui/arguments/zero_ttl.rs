// Case 21: a zero TTL is refused when the tool is built.
use mcp_tasks::task_tool;

#[task_tool(ttl = "0s")]
async fn add() {}

fn main() {}
