use mcp_tasks::task_handler;
use rmcp::model::{GetTaskParams, GetTaskResult};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, tool, tool_handler, tool_router};

#[derive(Clone)]
struct Server;

#[tool_router]
impl Server {
    #[tool]
    async fn ping(&self) -> String {
        String::new()
    }
}

#[task_handler]
#[tool_handler]
impl rmcp::ServerHandler for Server {
    async fn get_task(
        &self,
        _request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Err(ErrorData::internal_error("", None))
    }
}

fn main() {}
