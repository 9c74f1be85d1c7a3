#[task_tool(
    name = "the.tool",
    title = "The tool",
    description = include_str!("tool.md"),
    read_only,
    destructive = false,
    idempotent = true,
    open_world = false,
    ttl = "unlimited",
    poll_interval = "1s",
    mode = "optional",
    when = policy::large::<3, 4>,
    promote_after = "2s",
    on_cancel = "signal",
    on_restart = "rerun",
    max_attempts = 3,
    version = "2",
    max_running = 4,
    crate = renamed::tasks,
)]
pub(crate) async fn tool(db: State<Db>) -> Json<Report> {
    report(db).await
}
