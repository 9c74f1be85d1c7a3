//! `ReadyServer`: a server whose tools are all right, with its engine running.

use std::{fmt, time::Duration};

use rmcp::{RoleServer, ServiceExt, transport::IntoTransport};
use tokio::io::{AsyncRead, AsyncWrite};

use super::ServeError;
use crate::{engine::Engine, handler::Tasks, tool::ToolSet};

/// How long tools may go on after their only client has gone.
const DRAIN: Duration = Duration::from_secs(5);

/// A [`TaskServer`](crate::TaskServer) that can be served: over any transport of rmcp's, or as a handler within
/// something larger.
#[derive(Clone)]
pub struct ReadyServer {
    /// Made once: as long as there is a clone of it, lost tasks run again.
    tasks: Tasks<ToolSet>,
    /// Whether nobody else uses the engine.
    own: bool,
}

impl ReadyServer {
    pub(super) fn new(tools: ToolSet, engine: Engine, own: bool) -> Self {
        Self { tasks: Tasks::new(tools, &engine), own }
    }

    /// Where the tasks are: for a look at them, for a shutdown, or for the layer that answers over HTTP.
    pub fn engine(&self) -> &Engine {
        self.tasks.engine()
    }

    /// The tools, without what makes tasks of their calls.
    pub fn tools(&self) -> &ToolSet {
        self.tasks.inner()
    }

    /// The handler to give to a transport of rmcp's that makes one for each request or session. All of them share one
    /// engine.
    pub fn handler(&self) -> Tasks<ToolSet> {
        self.tasks.clone()
    }

    /// Serves the client at the other end of stdin and stdout, until it closes them.
    ///
    /// # Errors
    /// If no session comes about, or the service panics.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        let ended = self.handler().serve_stdio().await;
        self.wind_up().await;
        ended
    }

    /// Serves the client at the other end of these streams, one line a message, until either end closes.
    ///
    /// When the client is gone nobody is left to ask for the tasks of an engine of the server's own: tools that still run
    /// get a few seconds to end, and are stopped then. An engine that was given to the server is left as it is.
    ///
    /// # Errors
    /// If no session comes about, or the service panics.
    pub async fn serve_on<R, W>(self, read: R, write: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let ended = self.handler().serve_on(read, write).await;
        self.wind_up().await;
        ended
    }

    /// Serves one client over any transport of rmcp's, until either end closes it. Tasks can be polled there, but not
    /// listened to: rmcp drops the `taskIds` of a `subscriptions/listen`. [`serve_on`](Self::serve_on) has both.
    ///
    /// # Errors
    /// If no session comes about, or the service panics.
    pub async fn serve<T, E, A>(self, transport: T) -> Result<(), ServeError>
    where
        T: IntoTransport<RoleServer, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let ended = match self.handler().serve(transport).await {
            Ok(service) => service.waiting().await.map(drop).map_err(ServeError::Stopped),
            Err(error) => Err(ServeError::Start(Box::new(error))),
        };
        self.wind_up().await;
        ended
    }

    async fn wind_up(&self) {
        if self.own {
            let left = self.engine().shutdown(DRAIN).await;
            tracing::debug!(left, "the client has gone, and so have its tasks");
        }
    }
}

impl fmt::Debug for ReadyServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyServer").field("tools", self.tools()).field("engine", self.engine()).finish()
    }
}
