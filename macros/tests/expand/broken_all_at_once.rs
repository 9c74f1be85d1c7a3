#[task_tool(ttl = "0s", tll = "1s", mode = "sometimes", max_running = "3", ttl = "1s" on_cancel = "drop")]
pub fn tool<T>(a: &str, (b, c): (i64, i64), one: TaskContext, two: TaskContext, d: impl Into<T>) -> impl Sized {
    a
}
