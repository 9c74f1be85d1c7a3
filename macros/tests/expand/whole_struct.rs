#[task_tool]
async fn search(task: TaskContext, #[args] Query { text, limit }: Query) -> Result<Json<Hits>, SearchError> {
    find(text, limit).await
}
