use std::sync::Arc;

use mcp_tasks::task_tool;
use rmcp::tool;

struct Server;

// Without `#[tool_router]`, which could not call these either.
impl Server {
    #[task_tool]
    #[tool]
    async fn by_value(self) -> String {
        String::new()
    }

    #[task_tool]
    #[tool]
    async fn by_pointer(self: Arc<Self>) -> String {
        String::new()
    }
}

fn main() {}
