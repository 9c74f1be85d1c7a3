#[task_tool]
struct NotAFn {
    field: u8,
}
