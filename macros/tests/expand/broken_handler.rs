#[task_handler(motor = x, engine)]
impl ServerHandler for Server {
    async fn get_task(&self) {}
}
