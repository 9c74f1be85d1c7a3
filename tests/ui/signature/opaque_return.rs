use mcp_tasks::task_tool;

#[task_tool]
async fn count() -> impl Sized {
    1
}

fn main() {}
