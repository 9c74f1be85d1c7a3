#[task_tool(ttl = "10m", poll_interval = "500ms")]
/// Adds two numbers, slowly.
#[allow(clippy::unused_async)]
///
/// Blank lines stay.
pub async fn slow_sum(
    /// First addend.
    a: i64,
    /// Second addend.
    b: Option<i64>,
    task: TaskContext,
) -> Result<i64, ToolError> {
    Ok(a + b.unwrap_or_default())
}
