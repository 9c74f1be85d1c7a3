async fn search(
    task: TaskContext,
    Query { text, limit }: Query,
) -> Result<Json<Hits>, SearchError> {
    find(text, limit).await
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct search {}
const _: () = {
    const __INPUT_1: ::mcp_tasks::private::WholeInput<Query> = ::mcp_tasks::private::WholeInput::<
        Query,
    >::new();
    fn __returned() -> ::mcp_tasks::private::Returned<Result<Json<Hits>, SearchError>> {
        #[allow(unused_imports)]
        use ::mcp_tasks::private::PlainReturn as _;
        ::mcp_tasks::private::ReturnType::<Result<Json<Hits>, SearchError>>::describe()
    }
    impl ::mcp_tasks::private::TaskTool for search {
        fn definition() -> ::mcp_tasks::private::ToolDefinition {
            ::mcp_tasks::private::ToolDefinition::new(
                    "search",
                    const { &::mcp_tasks::private::ToolOptions::new() },
                )
                .extracts::<TaskContext>()
                .whole_input(&__INPUT_1)
                .returns(&__returned())
        }
        async fn call(
            mut call: ::mcp_tasks::private::ToolCall,
        ) -> ::mcp_tasks::private::ToolResult {
            let input_0 = ::mcp_tasks::private::ToolCall::extract::<
                TaskContext,
            >(&mut call)?;
            let input_1 = call.whole_input(&__INPUT_1)?;
            __returned().convert(search(input_0, input_1).await)
        }
    }
};
