use std::rc::Rc;

use mcp_tasks::task_tool;

#[task_tool]
async fn wait() {
    let shared = Rc::new(1);
    std::future::ready(()).await;
    drop(shared);
}

fn main() {}
