/// Adds.
#[tool(
    title = "Sum",
    description = "Adds.",
    meta = ::mcp_tasks::private::handler::tool_meta(
        ::core::option::Option::None,
        const{&::mcp_tasks::private::ToolOptions::new(

        ).ttl_ms(600000u64).mode(::mcp_tasks::private::TaskMode::Required)}
    )
)]
#[allow(clippy::unused_async)]
async fn sum(
    &self,
    Parameters(Sum { a, b }): Parameters<Sum>,
    task: TaskContext,
) -> Json<i64> {
    Json(a + b)
}
