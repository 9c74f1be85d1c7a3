use mcp_tasks::task_handler;
use rmcp::{tool, tool_handler, tool_router};

struct Server;

#[tool_router]
impl Server {
    #[tool]
    async fn ping(&self) -> String {
        String::new()
    }
}

#[task_handler]
#[tool_handler]
impl rmcp::ServerHandler for Server {}

fn main() {}
