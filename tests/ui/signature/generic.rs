use mcp_tasks::task_tool;

#[task_tool]
async fn of_a_type<T>(a: T) -> T {
    a
}

#[task_tool]
async fn of_a_constant<const N: usize>(a: i64) -> i64 {
    a + N as i64
}

#[task_tool]
async fn of_a_lifetime<'a>(a: i64) -> i64 {
    a
}

fn main() {}
