use mcp_tasks::task_tool;

#[task_tool]
const fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
