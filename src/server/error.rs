//! Why a server is not built, or not served.

use crate::{elicit::FormError, error::EngineError, tool::InvalidTool};

/// What is wrong with a [`TaskServer`](crate::TaskServer). Found when it is built, before any client is there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Two tools have one name.
    #[error("there are two tools called `{0}`")]
    DuplicateTool(&'static str),
    /// A tool cannot be served.
    #[error("tool `{name}`: {cause}")]
    Tool {
        /// The tool.
        name: &'static str,
        /// What is wrong with it.
        cause: InvalidTool,
    },
    /// A tool takes shared state that the server was not given.
    #[error("tool `{name}` takes a `{missing}` that the server does not have: add it with `TaskServer::state`")]
    MissingState {
        /// The tool.
        name: &'static str,
        /// The type of its parameter.
        missing: &'static str,
    },
    /// There are two values of shared state of one type, and tools could get only one.
    #[error("there are two states of type `{0}`")]
    DuplicateState(&'static str),
    /// A type that tools ask for cannot be shown as a form.
    #[error(transparent)]
    Form(#[from] FormError),
    /// The file in which tasks are kept was not opened.
    #[cfg(feature = "sqlite")]
    #[error("the task store was not opened")]
    Store(#[source] crate::store::sqlite::OpenError),
    /// The engine did not start.
    #[error("the engine did not start")]
    Engine(#[source] EngineError),
}

#[cfg(feature = "sqlite")]
impl From<crate::store::sqlite::OpenError> for BuildError {
    fn from(error: crate::store::sqlite::OpenError) -> Self {
        Self::Store(error)
    }
}

/// Why a server stopped serving, or did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The server was not built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The client at the other end did not start a session.
    #[error("the session did not start")]
    Start(#[source] Box<rmcp::service::ServerInitializeError>),
    /// The service ended with a panic.
    #[error("the service stopped unexpectedly")]
    Stopped(#[source] tokio::task::JoinError),
}
