/// Adds two numbers, slowly.
#[allow(clippy::unused_async)]
///
/// Blank lines stay.
pub async fn slow_sum(
    a: i64,
    b: Option<i64>,
    task: TaskContext,
) -> Result<i64, ToolError> {
    Ok(a + b.unwrap_or_default())
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub struct slow_sum {}
const _: () = {
    const __INPUT_0: ::mcp_tasks::private::Parameter<i64> = ::mcp_tasks::private::Parameter::<
        i64,
    >::new("a")
        .description("First addend.");
    const __INPUT_1: ::mcp_tasks::private::Parameter<Option<i64>> = ::mcp_tasks::private::Parameter::<
        Option<i64>,
    >::new("b")
        .description("Second addend.");
    fn __returned() -> ::mcp_tasks::private::Returned<Result<i64, ToolError>> {
        #[allow(unused_imports)]
        use ::mcp_tasks::private::PlainReturn as _;
        ::mcp_tasks::private::ReturnType::<Result<i64, ToolError>>::describe()
    }
    impl ::mcp_tasks::private::TaskTool for slow_sum {
        fn definition() -> ::mcp_tasks::private::ToolDefinition {
            ::mcp_tasks::private::ToolDefinition::new(
                    "slow_sum",
                    const {
                        &::mcp_tasks::private::ToolOptions::new()
                            .ttl_ms(600000u64)
                            .poll_interval_ms(500u64)
                    },
                )
                .description("Adds two numbers, slowly.\n\nBlank lines stay.")
                .parameter(&__INPUT_0)
                .parameter(&__INPUT_1)
                .extracts::<TaskContext>()
                .returns(&__returned())
        }
        async fn call(
            mut call: ::mcp_tasks::private::ToolCall,
        ) -> ::mcp_tasks::private::ToolResult {
            let input_0 = call.argument(&__INPUT_0)?;
            let input_1 = call.argument(&__INPUT_1)?;
            let input_2 = ::mcp_tasks::private::ToolCall::extract::<
                TaskContext,
            >(&mut call)?;
            __returned().convert(slow_sum(input_0, input_1, input_2).await)
        }
    }
};
