::core::compile_error! {
    "`#[task_tool]` stands above a fn: write `async fn name(argument: T, .., task: TaskContext) -> Result<T, ToolError>`"
}
struct NotAFn {
    field: u8,
}
