#[task_tool(name = "sum", title = "Sum", read_only, idempotent = true, crate = crate::tasks)]
#[rmcp::tool(description = "Adds.", meta = extra())]
pub async fn sum_them(&self, sum: Parameters<Sum>) -> Result<CallToolResult, ErrorData> {
    todo!()
}
