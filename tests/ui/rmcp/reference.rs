#![allow(unused)]

use mcp_tasks::task_tool;
use rmcp::tool;

struct Server;

// Without `#[tool_router]`, which could not call these either.
impl Server {
    #[task_tool]
    #[tool]
    async fn reference(&self, text: &str) -> String {
        String::new()
    }
}

fn main() {}
