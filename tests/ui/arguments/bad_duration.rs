use mcp_tasks::task_tool;

#[task_tool(ttl = "10")]
async fn no_unit() {}

#[task_tool(ttl = "10 minutes", poll_interval = "1.5s", promote_after = "-2s")]
async fn malformed() {}

#[task_tool(ttl = "", poll_interval = "unlimited")]
async fn nothing() {}

#[task_tool(ttl = "2weeks")]
async fn unknown_unit() {}

#[task_tool(ttl = "300000000d")]
async fn too_long() {}

fn main() {}
