use mcp_tasks::task_tool;

struct Server;

impl Server {
    #[task_tool]
    async fn add(&self, a: i64, b: i64) -> i64 {
        a + b
    }
}

fn main() {}
