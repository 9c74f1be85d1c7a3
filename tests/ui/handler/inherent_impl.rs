use mcp_tasks::task_handler;

struct Server;

#[task_handler]
impl Server {}

fn main() {}
