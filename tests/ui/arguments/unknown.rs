use mcp_tasks::task_tool;

#[task_tool(retries = 3)]
async fn unlike_any() {}

#[task_tool(ttl_ms = 60_000, readonly, annotations(read_only_hint = true))]
async fn like_one() {}

fn main() {}
