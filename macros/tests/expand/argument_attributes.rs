#[task_tool]
async fn search(
    /// What to look for.
    #[arg(name = "type")]
    r#kind: Kind,
    #[arg(default)] tags: Vec<String>,
    #[arg(default = 10)] mut limit: u32,
    #[arg] state: State,
    #[allow(unused_variables)] r#in: String,
    TaskHandle { .. }: TaskContext,
) -> String {
    limit += 1;
    find(kind, tags, limit).await
}
