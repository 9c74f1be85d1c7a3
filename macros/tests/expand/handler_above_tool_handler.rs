#[task_handler(engine = self.engine)]
#[tool_handler(router = self.router)]
impl ServerHandler for Server {}
