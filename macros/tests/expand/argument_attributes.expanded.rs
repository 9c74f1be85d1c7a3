async fn search(
    r#kind: Kind,
    tags: Vec<String>,
    mut limit: u32,
    state: State,
    #[allow(unused_variables)]
    r#in: String,
    TaskHandle { .. }: TaskContext,
) -> String {
    limit += 1;
    find(kind, tags, limit).await
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct search {}
const _: () = {
    const __INPUT_0: ::mcp_tasks::private::Parameter<Kind> = ::mcp_tasks::private::Parameter::<
        Kind,
    >::new("type")
        .description("What to look for.");
    const __INPUT_1: ::mcp_tasks::private::Parameter<Vec<String>> = ::mcp_tasks::private::Parameter::<
        Vec<String>,
    >::new("tags")
        .default(<Vec<String> as ::core::default::Default>::default);
    const __INPUT_2: ::mcp_tasks::private::Parameter<u32> = ::mcp_tasks::private::Parameter::<
        u32,
    >::new("limit")
        .default(|| 10);
    const __INPUT_3: ::mcp_tasks::private::Parameter<State> = ::mcp_tasks::private::Parameter::<
        State,
    >::new("state");
    const __INPUT_4: ::mcp_tasks::private::Parameter<String> = ::mcp_tasks::private::Parameter::<
        String,
    >::new("in");
    fn __returned() -> ::mcp_tasks::private::Returned<String> {
        #[allow(unused_imports)]
        use ::mcp_tasks::private::PlainReturn as _;
        ::mcp_tasks::private::ReturnType::<String>::describe()
    }
    impl ::mcp_tasks::private::TaskTool for search {
        fn definition() -> ::mcp_tasks::private::ToolDefinition {
            ::mcp_tasks::private::ToolDefinition::new(
                    "search",
                    const { &::mcp_tasks::private::ToolOptions::new() },
                )
                .parameter(&__INPUT_0)
                .parameter(&__INPUT_1)
                .parameter(&__INPUT_2)
                .parameter(&__INPUT_3)
                .parameter(&__INPUT_4)
                .extracts::<TaskContext>()
                .returns(&__returned())
        }
        async fn call(
            mut call: ::mcp_tasks::private::ToolCall,
        ) -> ::mcp_tasks::private::ToolResult {
            let input_0 = call.argument(&__INPUT_0)?;
            let input_1 = call.argument(&__INPUT_1)?;
            let input_2 = call.argument(&__INPUT_2)?;
            let input_3 = call.argument(&__INPUT_3)?;
            let input_4 = call.argument(&__INPUT_4)?;
            let input_5 = ::mcp_tasks::private::ToolCall::extract::<
                TaskContext,
            >(&mut call)?;
            __returned()
                .convert(
                    search(input_0, input_1, input_2, input_3, input_4, input_5).await,
                )
        }
    }
};
