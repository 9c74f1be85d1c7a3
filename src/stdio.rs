//! Tasks over stdio, and over any other pair of byte streams that carries a JSON message a line.
//!
//! rmcp reads messages into its own types, which have no room for the `taskIds` of a `subscriptions/listen`. So the lines
//! pass by here first: those about tasks are answered from stored bytes, by the checks of [`protocol`](crate::protocol),
//! and all else goes on to rmcp as it came, and back.
//!
//! Guarantees:
//! - one acknowledgement for each listen, before anything else that carries its subscription id; a listen that asks for
//!   tasks and other things gets all of them under one id (NOT-06);
//! - `notifications/cancelled` ends a listen, and no task (CAN-04);
//! - a message that gives a key twice is refused (HTTP-02);
//! - no line is longer than [`MAX_LINE`]: a longer one is dropped, and the connection goes on.

mod lines;
mod pump;
mod route;

use std::io;

use rmcp::{RoleServer, ServerHandler, ServiceExt, transport::async_rw::AsyncRwTransport};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadHalf, WriteHalf};

pub use self::lines::MAX_LINE;
use self::{pump::Pump, route::Router};
use crate::{handler::Tasks, server::ServeError};

/// How much may be on its way between rmcp and the client's streams.
const BUFFER: usize = 64 << 10;

/// A transport for rmcp, with the lines about tasks taken out.
pub type TasksTransport = AsyncRwTransport<RoleServer, ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

/// The transport over which to serve `tasks` to the one client at the other end of `read` and `write`.
///
/// ```no_run
/// use mcp_tasks::{Tasks, stdio};
/// use rmcp::ServiceExt;
/// # async fn serve<H: rmcp::ServerHandler>(tasks: Tasks<H>, stream: tokio::net::TcpStream) -> Result<(), Box<dyn std::error::Error>> {
/// let (read, write) = stream.into_split();
/// let transport = stdio::transport(&tasks, read, write);
/// tasks.serve(transport).await?.waiting().await?;
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// Outside a tokio runtime.
pub fn transport<H, R, W>(tasks: &Tasks<H>, read: R, write: W) -> TasksTransport
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (near, far) = tokio::io::duplex(BUFFER);
    let router = Router::new(tasks.shared(), tasks.supported_protocol_versions());
    Pump::start(router, read, write, far);
    let (read, write) = tokio::io::split(near);
    AsyncRwTransport::new_server(read, write)
}

impl<H: ServerHandler> Tasks<H> {
    /// Serves the client at the other end of stdin and stdout, until either end closes.
    ///
    /// # Errors
    /// If no session comes about, or the service panics.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        let (stdin, stdout) = rmcp::transport::stdio();
        self.serve_on(stdin, stdout).await
    }

    /// Serves the client at the other end of these streams, until either end closes. See [`transport`].
    ///
    /// # Errors
    /// If no session comes about, or the service panics.
    pub async fn serve_on<R, W>(self, read: R, write: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let transport = transport(&self, read, write);
        let service = self.serve(transport).await.map_err(|error| ServeError::Start(Box::new(error)))?;
        service.waiting().await.map(drop).map_err(ServeError::Stopped)
    }
}

/// An end of a stream that the other end has closed is no failure.
fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof)
}
