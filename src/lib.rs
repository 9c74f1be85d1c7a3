//! MCP Tasks (SEP-2663, `io.modelcontextprotocol/tasks`) for Rust.
//!
//! There are the messages so far: [`types`], generated from the schemas of the extension. The runtime that serves tasks
//! and the attribute that makes one of a fn are not here yet.

pub use mcp_tasks_types as types;

/// The program in the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
