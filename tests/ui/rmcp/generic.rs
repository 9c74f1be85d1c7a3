use mcp_tasks::task_tool;
use rmcp::tool;

struct Server;

// Without `#[tool_router]`, which could not call these either.
impl Server {
    #[task_tool]
    #[tool]
    async fn generic<T>(&self) -> String {
        String::new()
    }
}

fn main() {}
