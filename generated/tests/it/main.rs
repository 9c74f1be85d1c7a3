//! The types on the wire: what is read, what is written, what is refused and with which words.

mod budget;
mod hostile;
mod messages;
mod properties;
#[cfg(feature = "raw")]
mod raw;
mod revisions;
#[cfg(feature = "schemars")]
mod schemars;
mod vectors;
mod wire;
