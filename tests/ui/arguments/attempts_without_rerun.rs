use mcp_tasks::task_tool;

#[task_tool(max_attempts = 3)]
async fn by_default() {}

#[task_tool(on_restart = "fail", max_attempts = 3)]
async fn said() {}

fn main() {}
