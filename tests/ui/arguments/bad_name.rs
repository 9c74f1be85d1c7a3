use mcp_tasks::task_tool;

#[task_tool(name = "")]
async fn empty() {}

#[task_tool(name = "add numbers")]
async fn blank() {}

fn main() {}
