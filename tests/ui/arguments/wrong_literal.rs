use mcp_tasks::task_tool;

#[task_tool(
    name = 5,
    title = true,
    description = 'd',
    read_only = "yes",
    ttl = 600,
    poll_interval = 0.5,
    mode = required,
    on_cancel = true,
    on_restart = 1,
    max_running = "4",
    when = "large",
    promote_after = 2,
    crate = "mcp_tasks"
)]
async fn add() {}

#[task_tool(max_running = -1)]
async fn negative() {}

#[task_tool(max_running = 4u8)]
async fn suffixed() {}

fn main() {}
