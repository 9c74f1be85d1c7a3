use mcp_tasks::task_tool;

#[task_tool(mode = "Required", on_cancel = "abort", on_restart = "resume")]
async fn add() {}

fn main() {}
