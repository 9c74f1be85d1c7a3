use mcp_tasks::{TaskContext, ToolError, task_tool};

struct Size;

#[task_tool]
async fn measure(task: TaskContext) -> Result<(), ToolError> {
    task.elicit::<Size>("size", "How large?").await?;
    Ok(())
}

fn main() {}
