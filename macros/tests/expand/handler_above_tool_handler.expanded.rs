#[tool_handler(router = self.router)]
#[::mcp_tasks::task_handler(engine = self.engine)]
impl ServerHandler for Server {}
