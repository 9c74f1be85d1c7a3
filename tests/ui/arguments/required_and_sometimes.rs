use mcp_tasks::task_tool;

#[task_tool(mode = "required", promote_after = "2s")]
async fn promoted() {}

#[task_tool(when = sometimes, mode = "required")]
async fn decided() {}

fn main() {}
