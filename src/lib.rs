//! MCP Tasks (SEP-2663, `io.modelcontextprotocol/tasks`) for Rust.
//!
//! There are the messages so far: [`types`], generated from the schemas of the extension; and what keeps and runs tasks:
//! an [`engine`] on a [`store`]. What serves them over the protocol, and the attribute that makes one of a fn, are not
//! here yet.

pub mod clock;
pub mod context;
pub mod engine;
pub mod error;
pub mod input;
pub mod limits;
pub mod principal;
pub mod store;
pub mod task;
pub mod task_id;

pub use mcp_tasks_types as types;

/// The program in the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
