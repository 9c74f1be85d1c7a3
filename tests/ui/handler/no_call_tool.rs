use mcp_tasks::task_handler;

#[derive(Clone)]
struct Server;

#[task_handler]
impl rmcp::ServerHandler for Server {}

fn main() {}
