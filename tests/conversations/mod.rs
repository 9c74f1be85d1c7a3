//! The conversations of `generated/vectors/`, and when a message is the one that a conversation has.
//!
//! `generated/vectors/conversations.md` describes both, for every language.

mod file;
mod matching;
mod schemas;

pub use file::*;
pub use matching::Known;
pub use schemas::judge;
