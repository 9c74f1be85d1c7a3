#[task_tool]
#[tool]
async fn tool(&mut self, #[arg(default)] a: Parameters<A>) {}
