//! Types of the MCP Tasks extension (SEP-2663, `io.modelcontextprotocol/tasks`), generated from JSON Schema.
//!
//! A server may answer `tools/call` with a task; the client polls `tasks/get`, answers questions with `tasks/update` and
//! may `tasks/cancel`. These are the messages of that exchange and the core shapes they need. They lose nothing: members
//! that the schema does not name are kept in `extra` and written again, and so are values of open enums and messages of
//! open unions that are not known yet.
//!
//! ```
//! use mcp_tasks_types::{GetTaskResult, Response};
//!
//! let text = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","taskId":"t-1","status":"working",
//!     "createdAt":"2026-07-28T10:00:00Z","lastUpdatedAt":"2026-07-28T10:00:01Z","ttlMs":null}}"#;
//! let response: Response<GetTaskResult> = serde_json::from_str(text)?;
//! match response.outcome {
//!     Ok(GetTaskResult::Working(task)) => assert_eq!(task.task_id.as_str(), "t-1"),
//!     Ok(other) => println!("it has gone on: {other:?}"),
//!     Err(error) => println!("{}: {}", error.code, error.message),
//! }
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Revisions
//! Each revision of the protocol is a module; the newest stands at the root. [`v2025_11_25`] has the experimental tasks
//! of that revision, which are another thing on the wire.
//!
//! # Payloads
//! The result of a completed task is whatever the tool returned. [`CompletedTask`] and all that holds one take its form
//! as a parameter: [`support::JsonObject`] by default, or with the feature `raw` a `RawObject`, the JSON text as it came,
//! which a poll neither parses nor prints.
//!
//! # Errors
//! A message that does not fit names the type, the member and the reason: `WorkingTask.ttlMs: -1 is less than 0`. What
//! the schema says and what is read more leniently is listed in the project's `schema/codegen.toml`.

mod detailed;
mod error_code;
mod response;
mod scalars;

#[cfg(feature = "raw")]
#[rustfmt::skip]
mod raw;
#[cfg(feature = "schemars")]
#[rustfmt::skip]
mod schema;
#[rustfmt::skip]
pub mod support;
#[rustfmt::skip]
pub mod v2025_11_25;
#[rustfmt::skip]
pub mod v2026_07_28;

#[cfg(feature = "raw")]
pub use raw::RawObject;
pub use response::Response;
pub use support::{Notification, Request};
pub use v2026_07_28::*;

/// The identifier of the extension, as it stands in `capabilities.extensions` (SEP-2663, Extension Identifier).
pub const EXTENSION_ID: &str = "io.modelcontextprotocol/tasks";

/// The revision of the protocol that the types at the root are of, as it is named on the wire.
pub const PROTOCOL_VERSION: &str = "2026-07-28";

/// The revision with the experimental tasks, under which the extension does not exist (LEG-01).
pub const LEGACY_PROTOCOL_VERSION: &str = "2025-11-25";
