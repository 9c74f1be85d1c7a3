//! The command line as a person uses it, at a terminal, and as a script does, in a pipe; against servers of our own.
#![cfg(unix)]

mod admin;
mod pipe;
mod session;
mod stranger;
mod strangers;
mod support;
mod terminal;
