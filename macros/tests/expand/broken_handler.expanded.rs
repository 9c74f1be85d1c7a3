::core::compile_error! {
    "`#[task_handler]` has no argument `motor`: there are `engine` and `crate`"
}
::core::compile_error! {
    "`engine` needs a value: write `engine = self.engine`"
}
::core::compile_error! {
    "this handler has no `call_tool`, so no tool could become a task: write `#[tool_handler]` beside `#[task_handler]`"
}
::core::compile_error! {
    "`get_task` is what `#[task_handler]` adds: remove the fn or the attribute"
}
impl ServerHandler for Server {
    async fn get_task(&self) {}
}
