//! The generator as its users meet it: the binary, the files it writes, and what those compile to.

mod bad_input;
mod builder;
mod conversations;
mod diff;
mod diff_ok;
mod diff_sound;
mod drift;
mod export;
mod export_conversations;
mod export_schemas;
mod oracle;
mod page;
mod published;
mod revision;
mod support;
