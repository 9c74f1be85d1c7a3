//! Questions of a server, as a form at the terminal.

mod ask;
mod field;

pub use self::ask::{Answer, ask};
