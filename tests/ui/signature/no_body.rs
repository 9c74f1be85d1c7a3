use mcp_tasks::task_tool;

trait Tools {
    #[task_tool]
    async fn add(a: i64, b: i64) -> i64;
}

fn main() {}
