use mcp_tasks::task_handler;

#[task_handler]
struct Server;

fn main() {
    let _ = Server;
}
