//! `Principal`: who a request comes from, and the auth binding of a task to its creator (SEC-02).

use std::{fmt, sync::Arc};

/// The authenticated party behind a request.
///
/// A name that the server's own authentication has made sure of: a subject claim, an account number. It is stored with
/// the task, so it must never be a token or any other secret.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// The principal of this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The one party at the other end of a local transport such as stdio.
    pub fn local() -> Self {
        Self::new("local")
    }

    /// Whoever could not be told apart: all of them are one party. Its name is empty, which no other party's may be.
    pub fn anonymous() -> Self {
        Self::new("")
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({:?})", self.as_str())
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
