#[task_tool]
async fn ping() {}
