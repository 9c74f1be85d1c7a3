#[rmcp::tool(
    description = "Adds.",
    name = "sum",
    title = "Sum",
    annotations(read_only_hint = true, idempotent_hint = true),
    meta = crate::tasks::private::handler::tool_meta(
        ::core::option::Option::Some(extra()),
        const{&crate::tasks::private::ToolOptions::new()}
    )
)]
pub async fn sum_them(&self, sum: Parameters<Sum>) -> Result<CallToolResult, ErrorData> {
    todo!()
}
