#[task_tool(ttl = "10m", mode = "required")]
/// Adds.
#[tool(title = "Sum")]
#[allow(clippy::unused_async)]
async fn sum(&self, Parameters(Sum { a, b }): Parameters<Sum>, task: TaskContext) -> Json<i64> {
    Json(a + b)
}
