//! Tasks over Streamable HTTP: a tower layer in front of rmcp's `StreamableHttpService`.
//!
//! The layer answers `tasks/*`, and every `subscriptions/listen` that names `taskIds`, from what the store holds; it hands
//! all else to rmcp as it came. Behind it stands the same set of checks as behind every other transport
//! ([`crate::protocol`]).
//!
//! Guarantees:
//! - the checks come in one order: origin and transport, headers, version, capability, parameters, owner (HTTP-02);
//! - what rmcp would refuse for its transport (host, origin, media types, a version it does not know) is handed to rmcp, so
//!   that it is refused in rmcp's words; under the versions before 2026-07-28 `tasks/*` does not exist, and everything else
//!   is left to rmcp (LEG-01);
//! - a body that gives a key of the message twice is refused, whatever its method (HTTP-02);
//! - the [`Principal`] of a request is worked out once, here, and reaches the tool handler with the request (SEC-02).
//!
//! Set `TCP_NODELAY` on the listener: without it each message of an event stream can be held back for 40 ms.

mod body;
mod headers;
mod listen;
mod request;
mod respond;
mod service;
mod sse;
mod transport;

use std::{fmt, sync::Arc};

use ::http::request::Parts;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tower_layer::Layer;

use self::service::Shared;
pub use self::service::TasksService;
use crate::{engine::TaskEngine, principal::Principal};

type PrincipalOf = dyn Fn(&Parts) -> Option<Principal> + Send + Sync;

/// Puts tasks in front of rmcp's Streamable HTTP service.
///
/// Allowed hosts and origins, the size limit of a body, the keep-alive of event streams and the shutdown token are those
/// of the service's own configuration: they are set in one place.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use mcp_tasks::{engine::Engine, http::TasksLayer, principal::Principal};
/// # use rmcp::transport::streamable_http_server::{StreamableHttpService, session::local::LocalSessionManager};
/// # #[derive(Clone)] struct Account(String);
/// # fn f<H: rmcp::ServerHandler>(engine: &Engine, handler: fn() -> Result<H, std::io::Error>) {
/// let service = StreamableHttpService::new(handler, Arc::new(LocalSessionManager::default()), Default::default());
/// // `Account` was put into the request by the authentication in front of it.
/// let service = TasksLayer::new(engine)
///     .principal(|request| request.extensions.get::<Account>().map(|account| Principal::new(account.0.as_str())))
///     .around(service);
/// # let _ = service; }
/// ```
#[derive(Clone)]
pub struct TasksLayer {
    engine: Arc<dyn TaskEngine>,
    principal: Option<Arc<PrincipalOf>>,
}

impl fmt::Debug for TasksLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TasksLayer").field("has_principal", &self.principal.is_some()).finish_non_exhaustive()
    }
}

impl TasksLayer {
    /// A layer over the engine that the handlers behind it use as well. Make the engine once: rmcp makes a new handler for
    /// each request.
    pub fn new(engine: &(impl TaskEngine + Clone)) -> Self {
        Self { engine: Arc::new(engine.clone()), principal: None }
    }

    /// A layer over the engine of this process, which `#[task_handler]` uses unless it names another.
    ///
    /// # Panics
    /// Outside a tokio runtime, or if the operating system gives no random bytes, the first time that engine is used.
    pub fn of_process() -> Self {
        Self::new(crate::handler::glue::process_engine())
    }

    /// Says who makes a request; `None` is [`Principal::anonymous`].
    ///
    /// It names, it does not authenticate: refuse strangers before they get here, and name a party only by what that
    /// authentication has made sure of, such as an extension that it left in the request.
    ///
    /// Without this function it is the [`Principal`] that something in front has left in the request's extensions. If
    /// nothing does, everybody is [`Principal::anonymous`]: whoever learns a task id can read, answer and cancel that task.
    /// The layer warns of it when it is put in front of a service.
    #[must_use]
    pub fn principal(mut self, of: impl Fn(&Parts) -> Option<Principal> + Send + Sync + 'static) -> Self {
        self.principal = Some(Arc::new(of));
        self
    }

    /// Puts the layer in front of a service. The same as [`Layer::layer`], for those who have no use for tower.
    pub fn around<S, M>(&self, service: StreamableHttpService<S, M>) -> TasksService<StreamableHttpService<S, M>> {
        let config = service.config.clone();
        self.around_configured(service, &config)
    }

    /// Puts the layer in front of a service that leads to one of rmcp's with this configuration, for servers with
    /// something of their own between the two.
    pub fn around_configured<S>(&self, service: S, config: &StreamableHttpServerConfig) -> TasksService<S> {
        if self.principal.is_none() {
            tracing::warn!(
                "no principal function: unless something in front names one, every client over HTTP is the same principal, \
                 and whoever learns a task id can use that task; set one with TasksLayer::principal"
            );
        }
        TasksService::new(service, Shared::new(Arc::clone(&self.engine), self.principal.clone(), config))
    }
}

impl<S, M> Layer<StreamableHttpService<S, M>> for TasksLayer {
    type Service = TasksService<StreamableHttpService<S, M>>;

    fn layer(&self, service: StreamableHttpService<S, M>) -> Self::Service {
        self.around(service)
    }
}
