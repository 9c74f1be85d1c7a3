use mcp_tasks::task_tool;

struct Failure;

#[task_tool]
async fn measure() -> Result<i64, Failure> {
    Err(Failure)
}

fn main() {}
