::core::compile_error! {
    "expected `,` between two arguments"
}
::core::compile_error! {
    "`ttl` is zero, so that no result could be fetched: write a longer one, or `\"unlimited\"`"
}
::core::compile_error! {
    "`#[task_tool]` has no argument `tll`: there are `name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, `open_world`, `ttl`, `poll_interval`, `mode`, `when`, `promote_after`, `on_cancel`, `on_restart`, `max_attempts`, `version`, `max_running`, `crate`"
}
::core::compile_error! {
    "`mode` cannot be `\"sometimes\"`: write `mode = \"optional\"` or `mode = \"required\"`"
}
::core::compile_error! {
    "`max_running` takes a whole number from 1: write `max_running = 4`"
}
::core::compile_error! {
    "`tool` is not async: write `async fn tool`"
}
::core::compile_error! {
    "`tool` is generic; a tool has one input schema, so it cannot be generic: write the types out"
}
::core::compile_error! {
    "a task outlives the request it came from, so its parameters are owned: write `String` instead of a reference"
}
::core::compile_error! {
    "a pattern gives the argument no name: write `name: T` and take it apart in the body, or mark it `#[args]` to take all arguments at once"
}
::core::compile_error! {
    "the type has to be named for the input schema: write it out instead of `impl ..`"
}
::core::compile_error! {
    "a second `TaskContext`: a call has one, remove this parameter"
}
::core::compile_error! {
    "the return type has to be named for the output schema: write it out instead of `impl ..`"
}
pub fn tool<T>(
    a: &str,
    (b, c): (i64, i64),
    one: TaskContext,
    two: TaskContext,
    d: impl Into<T>,
) -> impl Sized {
    a
}
#[doc(hidden)]
#[allow(non_camel_case_types, dead_code)]
pub struct tool {}
impl ::mcp_tasks::private::TaskTool for tool {
    fn definition() -> ::mcp_tasks::private::ToolDefinition {
        ::core::unreachable!()
    }
    async fn call(
        _: ::mcp_tasks::private::ToolCall,
    ) -> ::mcp_tasks::private::ToolResult {
        ::core::unreachable!()
    }
}
