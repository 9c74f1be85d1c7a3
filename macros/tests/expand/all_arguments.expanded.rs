pub(crate) async fn tool(db: State<Db>) -> Json<Report> {
    report(db).await
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub(crate) struct tool {}
const _: () = {
    fn __returned() -> renamed::tasks::private::Returned<Json<Report>> {
        #[allow(unused_imports)]
        use renamed::tasks::private::PlainReturn as _;
        renamed::tasks::private::ReturnType::<Json<Report>>::describe()
    }
    impl renamed::tasks::private::TaskTool for tool {
        fn definition() -> renamed::tasks::private::ToolDefinition {
            renamed::tasks::private::ToolDefinition::new(
                    "the.tool",
                    const {
                        &renamed::tasks::private::ToolOptions::new()
                            .unlimited_ttl()
                            .poll_interval_ms(1000u64)
                            .mode(renamed::tasks::private::TaskMode::Optional)
                            .when(policy::large::<3, 4>)
                            .promote_after_ms(2000u64)
                            .on_cancel(renamed::tasks::private::OnCancel::Signal)
                            .on_restart(renamed::tasks::private::OnRestart::Rerun)
                            .max_attempts(3)
                            .version("2")
                            .max_running(4)
                    },
                )
                .title("The tool")
                .description(include_str!("tool.md"))
                .read_only(true)
                .destructive(false)
                .idempotent(true)
                .open_world(false)
                .extracts::<State<Db>>()
                .returns(&__returned())
        }
        async fn call(
            mut call: renamed::tasks::private::ToolCall,
        ) -> renamed::tasks::private::ToolResult {
            let input_0 = renamed::tasks::private::ToolCall::extract::<
                State<Db>,
            >(&mut call)?;
            __returned().convert(tool(input_0).await)
        }
    }
};
