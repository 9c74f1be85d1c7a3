async fn ping() {}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
struct ping {}
const _: () = {
    fn __returned() -> ::mcp_tasks::private::Returned<()> {
        #[allow(unused_imports)]
        use ::mcp_tasks::private::PlainReturn as _;
        ::mcp_tasks::private::ReturnType::<()>::describe()
    }
    impl ::mcp_tasks::private::TaskTool for ping {
        fn definition() -> ::mcp_tasks::private::ToolDefinition {
            ::mcp_tasks::private::ToolDefinition::new(
                    "ping",
                    const { &::mcp_tasks::private::ToolOptions::new() },
                )
                .returns(&__returned())
        }
        async fn call(
            _: ::mcp_tasks::private::ToolCall,
        ) -> ::mcp_tasks::private::ToolResult {
            __returned().convert(ping().await)
        }
    }
};
