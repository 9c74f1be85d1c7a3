use mcp_tasks::{ToolError, task_tool};

struct Size;

#[task_tool]
async fn measure() -> Size {
    Size
}

#[task_tool]
async fn try_to_measure() -> Result<Size, ToolError> {
    Ok(Size)
}

fn main() {}
