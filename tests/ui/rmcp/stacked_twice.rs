#![allow(unused)]

use mcp_tasks::{TaskContext, task_tool};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{tool, tool_router};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sum {
    a: i64,
}

#[derive(Clone)]
struct Server;

#[tool_router]
impl Server {
    #[task_tool]
    #[task_tool(ttl = "10m")]
    #[tool]
    async fn sum(&self, sum: Parameters<Sum>) -> String {
        sum.0.a.to_string()
    }
}

fn main() {}
