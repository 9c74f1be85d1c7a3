//! MCP Tasks (SEP-2663, `io.modelcontextprotocol/tasks`) for Rust: tools that take longer than a request should.
//!
//! An async fn becomes a tool that can answer `tools/call` with a task. The client polls it, answers what it asks, may
//! cancel it, and gets the result the fn returned:
//!
//! ```
//! use mcp_tasks::{TaskContext, TaskServer, ToolError, task_tool};
//!
//! /// Adds two numbers, slowly.
//! #[task_tool(ttl = "10m", poll_interval = "500ms")]
//! async fn slow_sum(
//!     /// First addend.
//!     a: i64,
//!     /// Second addend.
//!     b: i64,
//!     task: TaskContext,
//! ) -> Result<i64, ToolError> {
//!     task.status("adding").await?;
//!     Ok(a + b)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = TaskServer::new("calculator", "1.0").tool::<slow_sum>().in_memory().build()?;
//! # let _ = server;
//! // server.serve_stdio().await?;
//! # Ok(())
//! # }
//! ```
//!
//! A client that did not declare tasks gets the same result inside the request. Without `in_memory` tasks are kept in a
//! file, and outlive the process.
//!
//! # Ways in
//! - [`task_tool`] on free fns, collected by [`TaskServer`].
//! - [`task_tool`] above a method of an rmcp `#[tool_router]`, and [`task_handler`] on its handler, or the wrapper
//!   [`Tasks`].
//! - Over Streamable HTTP the layer in `http` (feature `http`) in front of rmcp's service.
//!
//! # Below
//! [`engine`] runs tasks on a [`store`]; [`task`] says what a task may become; [`protocol`] and [`wire`] say what that is
//! on the wire. [`types`] are the messages, generated from the extension's schema.

pub use mcp_tasks_macros::{task_handler, task_tool};
pub use mcp_tasks_types as types;

pub use self::{
    context::TaskContext,
    elicit::{AskError, Elicited},
    handler::Tasks,
    server::TaskServer,
    tool::{CallInfo, Json, State, ToolError, ToolOutput, ToolSet},
};

#[cfg(feature = "client")]
pub mod client;
pub mod clock;
pub mod context;
pub mod elicit;
pub mod engine;
pub mod error;
pub mod handler;
#[cfg(feature = "http")]
pub mod http;
pub mod input;
mod json_schema;
pub mod limits;
pub mod principal;
#[doc(hidden)]
pub mod private;
pub mod protocol;
pub mod request_state;
pub mod server;
pub mod stdio;
pub mod store;
mod subscriptions;
pub mod task;
pub mod task_id;
pub mod tool;
pub mod wire;

/// The program in the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
