#![deny(warnings, missing_docs, unused_qualifications)]
//! A task tool beside an ordinary one in rmcp's router, with `#[task_handler]` in both orders.

use mcp_tasks::{TaskContext, task_handler, task_tool};
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::MetaObject;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};

/// Two numbers.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Sum {
    a: i64,
    b: i64,
}

/// Has the handler attribute above rmcp's.
#[derive(Clone)]
pub struct Above;

#[tool_router]
impl Above {
    /// Adds.
    #[task_tool(ttl = "10m", read_only)]
    #[tool(title = "Sum")]
    async fn sum(&self, Parameters(Sum { a, b }): Parameters<Sum>, _task: TaskContext) -> Json<i64> {
        Json(a + b)
    }

    /// Says hello.
    #[tool]
    async fn hello(&self) -> String {
        "hello".to_owned()
    }
}

#[task_handler]
#[tool_handler]
impl ServerHandler for Above {}

/// Has the handler attribute below rmcp's.
#[derive(Clone)]
pub struct Below;

#[tool_router]
impl Below {
    #[task_tool]
    #[rmcp::tool(description = "Adds.", meta = MetaObject::default())]
    async fn sum(&self, sum: Parameters<Sum>) -> Result<String, String> {
        Ok((sum.0.a + sum.0.b).to_string())
    }
}

#[tool_handler]
#[task_handler]
impl ServerHandler for Below {}

fn main() {
    // The method stays callable, with the arguments that it has.
    drop(Above.sum(Parameters(Sum { a: 1, b: 2 }), TaskContext::for_test().context()));
    assert_eq!(Above::tool_router().list_all()[1].description.as_deref(), Some("Adds."));
    assert_eq!(Below::tool_router().list_all().len(), 1);
}
