use mcp_tasks::task_tool;

#[task_tool]
async fn add(a: i64, #[arg(name = "a")] b: i64) -> i64 {
    a + b
}

fn main() {}
