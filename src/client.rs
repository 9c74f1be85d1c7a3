//! The client's side: a tool is called, and its result comes, whatever happens in between.
//!
//! rmcp carries the messages. On top of it [`TaskClient`] follows the tasks that servers answer with: it polls or listens,
//! leads their questions to the client's own handler, sends answers until they have arrived, and survives servers that
//! fail, repeat themselves or say nonsense.
//!
//! ```no_run
//! use mcp_tasks::client::TaskClient;
//! use rmcp::model::CallToolRequestParams;
//!
//! # async fn run(transport: tokio::io::DuplexStream) -> Result<(), Box<dyn std::error::Error>> {
//! let client = TaskClient::connect((), transport).await?;
//! let result = client.call_tool(CallToolRequestParams::new("slow_sum")).await?;
//! println!("{:?}", result.content);
//! # Ok(())
//! # }
//! ```
//!
//! # Questions
//! What a task asks goes to rmcp's `ClientHandler` that the client was made with, as if the server had asked it directly
//! (CLI-05). Only what the handler's `get_info` declares is asked; a server that asks for more gets nothing, and the call
//! ends with [`ClientError::MissingHandler`]. A handler whose question is withdrawn is told by the drop of its future.
//!
//! # What is lost on the way in
//! rmcp reads every answer into types of its own before this module sees it, and drops members it does not know from
//! those it recognises. Tasks that it cannot read come through whole.

mod call;
mod driver;
mod error;
mod handle;
mod relay;
mod shell;
mod state;
mod ticket;
mod wire;

use std::{
    any::Any,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    Peer, RoleClient,
    model::{CallToolRequestParams, CallToolResult, ProtocolVersion},
    service::{
        ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService, RunningServiceCancellationToken,
        Service,
    },
    transport::IntoTransport,
};
use serde_json::json;

use self::{
    call::Answer,
    driver::{Driver, Settings},
    wire::Wire,
};
pub use self::{
    call::IDEMPOTENCY_KEY,
    error::{Cause, ClientError},
    handle::TaskHandle,
    relay::WithTasks,
    state::{InputRequest, Outcome, Progress, TaskState},
    ticket::Ticket,
};

/// How a client is set up.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ClientOptions {
    /// What tickets call the server; it has to tell apart the servers that tickets are kept for. Default: the name that the
    /// server gives itself. A program that keeps tickets should say how to get to the server, such as its URL.
    pub server: Option<String>,
}

impl ClientOptions {
    /// Sets what tickets call the server.
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }
}

/// How a task is followed.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct FollowOptions {
    /// Who answers the task's questions.
    pub input: Input,
    /// What becomes of the task when its handle is dropped.
    pub on_drop: OnDrop,
    /// Whether to poll also where the server could push.
    pub poll_only: bool,
}

impl FollowOptions {
    /// Sets who answers the task's questions.
    pub fn with_input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }

    /// Sets what becomes of the task when its handle is dropped.
    pub fn with_on_drop(mut self, on_drop: OnDrop) -> Self {
        self.on_drop = on_drop;
        self
    }

    /// Opens no stream: the task is polled only.
    pub fn with_poll_only(mut self) -> Self {
        self.poll_only = true;
        self
    }
}

/// Who answers a task's questions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Input {
    /// The client's handler. A question that it has no part for ends the following with
    /// [`ClientError::MissingHandler`].
    #[default]
    Handler,
    /// Whoever calls [`TaskHandle::answer`]. The questions are in [`TaskState::input_requests`].
    Manual,
}

/// What becomes of a task when its handle is dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnDrop {
    /// It runs on.
    #[default]
    Detach,
    /// It is cancelled, in the background; also where its following has ended with an error and it may live on.
    Cancel,
}

/// What a call came to.
#[derive(Debug)]
pub enum Called {
    /// A result at once.
    Result(Box<CallToolResult>),
    /// A task.
    Task(TaskHandle),
}

/// A client that knows what to do with tasks. Cheap to clone; the connection closes when the last clone and the last handle
/// are dropped.
#[derive(Clone)]
pub struct TaskClient {
    wire: Wire,
    server: Arc<str>,
}

struct Running {
    stop: Mutex<Option<RunningServiceCancellationToken>>,
    /// Dropping it closes the connection.
    _service: Box<dyn Any + Send + Sync>,
}

/// The transport to the server at `uri`, over rmcp's client for Streamable HTTP: for [`TaskClient::connect`].
///
/// Where another feature brings TLS to that client (`cli` does), this makes sure that there is a provider of cryptography,
/// without which the client cannot be made.
#[cfg(feature = "client-http")]
pub fn http(uri: impl Into<Arc<str>>) -> rmcp::transport::StreamableHttpClientTransport<reqwest::Client> {
    #[cfg(feature = "cli")]
    // An error means that there is one already.
    drop(rustls::crypto::ring::default_provider().install_default());
    rmcp::transport::StreamableHttpClientTransport::from_uri(uri)
}

impl TaskClient {
    /// Connects under 2026-07-28, or under an older version with a server that knows no newer one (rmcp's `Auto` life
    /// cycle). The extension is declared on every request.
    ///
    /// # Errors
    /// No session comes about.
    pub async fn connect<H, T, E, A>(handler: H, transport: T) -> Result<Self, ClientInitializeError>
    where
        H: Service<RoleClient>,
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        Self::connect_with(handler, transport, ClientOptions::default()).await
    }

    /// Connects, set up as the options say.
    ///
    /// # Errors
    /// No session comes about.
    pub async fn connect_with<H, T, E, A>(
        handler: H,
        transport: T,
        options: ClientOptions,
    ) -> Result<Self, ClientInitializeError>
    where
        H: Service<RoleClient>,
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let lifecycle = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let running = WithTasks::new(handler).serve_with_lifecycle(transport, lifecycle).await?;
        Ok(Self::new(running, options))
    }

    /// A client around a connection of rmcp's that runs already, whose handler was wrapped before it was served.
    pub fn new<H: Service<RoleClient>>(
        running: RunningService<RoleClient, WithTasks<H>>,
        options: ClientOptions,
    ) -> Self {
        let peer = running.peer().clone();
        let name = || peer.peer_info().and_then(|info| info.server_info.as_ref().map(|server| server.name.clone()));
        let server = options.server.or_else(name).unwrap_or_default().into();
        let (asker, routes) = (running.service().asker(), running.service().routes());
        let stop = Mutex::new(Some(running.cancellation_token()));
        let running = Arc::new(Running { stop, _service: Box::new(running) });
        Self { wire: Wire { peer, asker, routes, running }, server }
    }

    /// rmcp's side of it, for all that has nothing to do with tasks. A server that answers such a request with a task is
    /// found out there, as an unexpected response (CAP-04).
    pub fn peer(&self) -> &Peer<RoleClient> {
        &self.wire.peer
    }

    /// What tickets call the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Whether the server can answer with tasks: it announces the extension, under a version that has it.
    pub fn offers_tasks(&self) -> bool {
        call::offers_tasks(self.peer())
    }

    /// Calls a tool and waits for its result, whatever happens in between (CLI-06): rounds of questions, a task, a lost
    /// connection. A result with `isError` is a result.
    ///
    /// If the future is dropped the call is taken back: its task is cancelled, as soon as there is one.
    ///
    /// # Errors
    /// Why there is no result: see [`ClientError`].
    pub async fn call_tool(&self, params: CallToolRequestParams) -> Result<CallToolResult, ClientError> {
        let options = FollowOptions::default().with_on_drop(OnDrop::Cancel);
        match self.call_tool_task_with(params, options).await? {
            Called::Result(result) => Ok(*result),
            Called::Task(handle) => handle.result().await,
        }
    }

    /// Calls a tool, and gives its result or the task that it became (CAP-03). Rounds of questions before that go to the
    /// client's handler.
    ///
    /// If the future is dropped the call is taken back: its task is cancelled, as soon as there is one (CLI-10).
    ///
    /// # Errors
    /// There is neither: see [`ClientError`].
    pub async fn call_tool_task(&self, params: CallToolRequestParams) -> Result<Called, ClientError> {
        self.call_tool_task_with(params, FollowOptions::default()).await
    }

    /// As [`call_tool_task`](Self::call_tool_task), with the task followed as the options say.
    ///
    /// # Errors
    /// As [`call_tool_task`](Self::call_tool_task).
    pub async fn call_tool_task_with(
        &self,
        params: CallToolRequestParams,
        options: FollowOptions,
    ) -> Result<Called, ClientError> {
        match call::call(&self.wire, params).await? {
            Answer::Result(result) => Ok(Called::Result(Box::new(result))),
            Answer::Task(state) => Ok(Called::Task(self.created(state, &options)?)),
        }
    }

    /// Follows a task of which only the id is known, such as one that another process made.
    ///
    /// # Errors
    /// [`NoEntropy`](ClientError::NoEntropy). Whether there is such a task is said by the handle.
    pub fn follow(&self, task_id: impl Into<String>, options: FollowOptions) -> Result<TaskHandle, ClientError> {
        self.resume_with(Ticket::new(&*self.server, task_id), options)
    }

    /// Goes on with a task after a crash or a restart, with one `tasks/get` first (CLI-03, case 40). Keys that are answered
    /// are neither asked nor answered again.
    ///
    /// # Errors
    /// [`WrongServer`](ClientError::WrongServer), or [`NoEntropy`](ClientError::NoEntropy). That the task is gone is said by
    /// the handle.
    pub fn resume(&self, ticket: Ticket) -> Result<TaskHandle, ClientError> {
        self.resume_with(ticket, FollowOptions::default())
    }

    /// As [`resume`](Self::resume), with the task followed as the options say.
    ///
    /// # Errors
    /// As [`resume`](Self::resume).
    pub fn resume_with(&self, ticket: Ticket, options: FollowOptions) -> Result<TaskHandle, ClientError> {
        if ticket.server != *self.server {
            return Err(ClientError::WrongServer { ticket: ticket.server, here: self.server.to_string() });
        }
        let age = ticket.age();
        let ttl = ticket.ttl.map(Duration::from_millis);
        let settings = self.settings(&options)?;
        let driver = Driver::resumed(ticket.last.clone(), ticket.answered.clone(), ttl, age, settings);
        Ok(TaskHandle::start(self.wire.clone(), ticket, driver, age, &options))
    }

    /// The task as it is now: one `tasks/get`.
    ///
    /// # Errors
    /// [`NotFound`](ClientError::NotFound), or why the server did not say.
    pub async fn get_task(&self, task_id: &str) -> Result<TaskState, ClientError> {
        let task = self.wire.task_request("tasks/get", json!({ "taskId": task_id })).await?;
        TaskState::read(&task).map_err(ClientError::InvalidResponse)
    }

    /// Asks the server to cancel a task: one `tasks/cancel`.
    ///
    /// # Errors
    /// [`NotFound`](ClientError::NotFound), or why the server did not take it.
    pub async fn cancel_task(&self, task_id: &str) -> Result<(), ClientError> {
        self.wire.task_request("tasks/cancel", json!({ "taskId": task_id })).await.map(drop).map_err(ClientError::from)
    }

    /// Closes the connection, for all clones and handles. Tasks run on.
    pub fn close(&self) {
        if let Some(stop) = self.wire.running.stop.lock().unwrap_or_else(PoisonError::into_inner).take() {
            stop.cancel();
        }
    }

    fn created(&self, state: TaskState, options: &FollowOptions) -> Result<TaskHandle, ClientError> {
        let mut ticket = Ticket::new(&*self.server, &state.task_id);
        ticket.ttl = state.ttl.map(ticket::millis);
        ticket.last = Some(state.clone());
        let driver = Driver::created(state, self.settings(options)?);
        Ok(TaskHandle::start(self.wire.clone(), ticket, driver, Duration::ZERO, options))
    }

    fn settings(&self, options: &FollowOptions) -> Result<Settings, ClientError> {
        let seed = getrandom::u64().map_err(|_| ClientError::NoEntropy)?;
        let listen = !options.poll_only && self.offers_tasks();
        Ok(Settings { ask: options.input == Input::Handler, listen, seed })
    }
}

impl fmt::Debug for TaskClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskClient").field("server", &self.server).finish_non_exhaustive()
    }
}
