//! The extension as a client sees it: JSON over a real transport, on a clock that stands still unless a test moves it.
//!
//! Each test runs over every transport there is ([`support::Wire`]); a test whose matter is one transport's says so.

#[path = "../http/client.rs"]
#[allow(dead_code, reason = "this binary needs less of it")]
mod http_client;
mod stores;
#[macro_use]
mod support;
mod tools;

mod call;
mod cancel;
mod capability;
mod conversations;
mod idempotency;
mod input;
mod legacy;
mod lifecycle;
mod listen;
mod one_stream;
mod owners;
mod pace;
mod params;
mod recovery;
mod rmcp_router;
mod rounds;
mod storage;
