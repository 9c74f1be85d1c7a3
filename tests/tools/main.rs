//! Fns under `#[task_tool]`, at the JSON boundary: what they say about themselves, what arguments do, what results are,
//! and what they may ask. No transport, no engine.

mod calls;
#[cfg(feature = "sqlite")]
mod durable;
mod elicit;
mod outputs;
mod quickstart;
mod schemas;
mod server;
mod support;
mod wire;
