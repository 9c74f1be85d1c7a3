use mcp_tasks::task_tool;

#[task_tool]
struct Add {
    a: i64,
}

fn main() {
    let _ = Add { a: 1 }.a;
}
