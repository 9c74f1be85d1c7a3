//! `TaskServer`: a whole MCP server made of fns under [`task_tool`](crate::task_tool).

mod error;
mod ready;
mod storage;

use std::{any::type_name, sync::Arc};

use rmcp::{
    RoleServer,
    model::{Implementation, ServerCapabilities, ServerConfig},
    transport::IntoTransport,
};
use tokio::io::{AsyncRead, AsyncWrite};

#[cfg(feature = "sqlite")]
pub use self::storage::data_file;
use self::storage::{Storage, engine_in_memory};
pub use self::{
    error::{BuildError, ServeError},
    ready::ReadyServer,
};
use crate::{
    elicit::{Form, form},
    engine::Engine,
    limits::Limits,
    store::TaskStore,
    tool::{SetBuilder, SetFault, TaskTool},
};

/// A server whose tools are fns.
///
/// ```no_run
/// use mcp_tasks::{TaskContext, TaskServer, ToolError, task_tool};
///
/// /// Adds two numbers, slowly.
/// #[task_tool(ttl = "10m", poll_interval = "500ms")]
/// async fn slow_sum(
///     /// First addend.
///     a: i64,
///     /// Second addend.
///     b: i64,
///     task: TaskContext,
/// ) -> Result<i64, ToolError> {
///     task.progress(0, 1).await?;
///     task.sleep(std::time::Duration::from_secs(5)).await;
///     a.checked_add(b).ok_or(ToolError::new("the sum is too large"))
/// }
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// TaskServer::new("calculator", "1.0").tool::<slow_sum>().serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
///
/// # Where tasks are kept
/// In a SQLite file, so that they outlive the process ([`SqliteStore`](crate::store::sqlite::SqliteStore)): that of the
/// server's name in the user's data folder ([`data_file`]), or the one that [`database`](Self::database) names. Only
/// the user can read it. Several servers, such as those of several stdio clients, may share a file.
/// [`in_memory`](Self::in_memory), [`store`](Self::store) and [`engine`](Self::engine) keep tasks elsewhere; so does a
/// build without the feature `sqlite`, whose default is the memory of the process.
///
/// # Errors
/// What is wrong with the tools or the file is found when the server is built, by [`build`](Self::build) and by whatever
/// serves it.
#[must_use = "a server does nothing until it is served"]
pub struct TaskServer {
    config: ServerConfig,
    tools: SetBuilder,
    limits: Limits,
    storage: Storage,
    /// The first thing that is wrong.
    fault: Option<BuildError>,
}

impl TaskServer {
    /// A server without tools. Name and version are told to clients.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        Self {
            config: ServerConfig::new(capabilities).with_server_info(Implementation::new(name, version)),
            tools: SetBuilder::default(),
            limits: Limits::default(),
            storage: Storage::default(),
            fault: None,
        }
    }

    /// Tells clients, and the models behind them, how to use the server.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.config.instructions = Some(text.into());
        self
    }

    /// Adds a tool: the name of a fn under [`task_tool`](crate::task_tool).
    pub fn tool<T: TaskTool>(mut self) -> Self {
        self.tools.add::<T>();
        self
    }

    /// Shares a value with the tools, which take it as a [`State`](crate::State) of its type. One value a type.
    ///
    /// A tool that takes a state that the server does not have is found when the server is built.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        let new = self.tools.states.insert(value);
        self.check(if new { Ok(()) } else { Err(BuildError::DuplicateState(type_name::<T>())) })
    }

    /// Makes sure that `T`, which a tool [`elicit`](crate::TaskContext::elicit)s, can be shown as a form. Without this it
    /// is found out when the tool asks.
    pub fn form<T: Form>(self) -> Self {
        self.check(form::<T>().map(drop).map_err(BuildError::from))
    }

    /// Sets how much clients and tools may make the server hold (SEC-04). Default: [`Limits::default`]. An
    /// [`engine`](Self::engine) of one's own has its own.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Keeps tasks in the memory of the process: they are gone when it ends, and each of its clients has to come to this one
    /// process.
    pub fn in_memory(mut self) -> Self {
        self.storage = Storage::Memory;
        self
    }

    /// Keeps tasks in this SQLite file, which is made if it is not there, with the folders above it. It is opened when the
    /// server is built.
    #[cfg(feature = "sqlite")]
    pub fn database(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.storage = Storage::File(path.into());
        self
    }

    /// Keeps tasks in this store, which may be shared with other servers. It is not closed with the server.
    pub fn store(mut self, store: Arc<dyn TaskStore>) -> Self {
        self.storage = Storage::Store(store);
        self
    }

    /// Keeps tasks in this engine, which may be shared with other servers. It should check answers with
    /// [`validate_response`](crate::elicit::validate_response) (UPD-07). It is not shut down with the server.
    pub fn engine(mut self, engine: &Engine) -> Self {
        self.storage = Storage::Engine(engine.clone());
        self
    }

    fn check(mut self, checked: Result<(), BuildError>) -> Self {
        self.fault = self.fault.or(checked.err());
        self
    }

    /// Makes it ready to be served, on the tokio runtime that this is called on.
    ///
    /// # Errors
    /// Whatever is wrong with the tools, the state or the forms: the first thing. Then, whatever keeps the store from being
    /// opened.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn build(self) -> Result<ReadyServer, BuildError> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        let name = self.config.server_info.name.clone();
        let tools = self.tools.finish(self.config).map_err(|fault| match fault {
            SetFault::Duplicate(name) => BuildError::DuplicateTool(name),
            SetFault::Invalid(name, cause) => BuildError::Tool { name, cause },
            SetFault::MissingState(name, missing) => BuildError::MissingState { name, missing },
        })?;
        let kept = self.storage.open(&name, self.limits)?;
        Ok(ReadyServer::new(tools, kept))
    }

    /// Serves the client that started this process, over standard input and output, until it closes them. Nothing else may
    /// write to standard output: logs go to standard error.
    ///
    /// # Errors
    /// If the server cannot be built, or no session comes about.
    ///
    /// # Panics
    /// Outside a tokio runtime with IO.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        let server = self.build()?;
        server.serve_stdio().await
    }

    /// Serves the client at the other end of these streams, such as a socket's, until either end closes: see
    /// [`ReadyServer::serve_on`].
    ///
    /// # Errors
    /// If the server cannot be built, or no session comes about.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn serve_on<R, W>(self, read: R, write: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let server = self.build()?;
        server.serve_on(read, write).await
    }

    /// Serves one client over any transport of rmcp's, until either end closes it: see [`ReadyServer::serve`].
    ///
    /// # Errors
    /// If the server cannot be built, or no session comes about.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn serve<T, E, A>(self, transport: T) -> Result<(), ServeError>
    where
        T: IntoTransport<RoleServer, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let server = self.build()?;
        server.serve(transport).await
    }
}

impl Engine {
    /// An engine with the default limits that keeps tasks in the memory of the process, checks what clients answer, and
    /// starts on the tokio runtime that this is called on.
    ///
    /// # Errors
    /// [`EngineError::NoEntropy`](crate::error::EngineError::NoEntropy) if the operating system gives no random bytes.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn in_memory() -> Result<Self, crate::error::EngineError> {
        engine_in_memory(Limits::default())
    }
}
