use mcp_tasks::task_tool;

fn always() -> bool {
    true
}

#[task_tool(when = always)]
async fn wait() {}

fn main() {}
