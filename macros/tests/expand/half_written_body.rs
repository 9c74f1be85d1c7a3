#[task_tool]
async fn tool(a: i64) -> i64 {
    let x = a.
}
