//! The client's side against servers that behave, and against servers that do not.

mod calls;
mod conversations;
mod endings;
mod examples;
mod handler;
mod http;
mod input;
mod ours;
mod polling;
mod resume;
mod scripted;
mod shapes;
