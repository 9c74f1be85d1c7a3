use mcp_tasks::task_tool;

#[task_tool]
async fn tuple((a, b): (i64, i64)) -> i64 {
    a + b
}

#[task_tool]
async fn wildcard(_: i64) {}

#[task_tool]
async fn by_reference(ref a: i64) -> i64 {
    *a
}

fn main() {}
