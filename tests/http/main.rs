//! The layer over real HTTP: what a client that writes its own requests gets to see.

#[allow(dead_code, reason = "this binary needs less of it")]
mod client;
mod examples;
mod headers;
mod legacy;
mod listen;
mod owners;
mod server;
mod shared_stream;
mod transport;
