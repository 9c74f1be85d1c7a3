//! `Tasks<H>`: an rmcp server handler, with tasks.
//!
//! It stands in front of a handler and passes everything on to it, save for what concerns tasks:
//! - `tools/call` of a tool under `#[task_tool]` is decided before the tool runs ([`Decision`](crate::protocol::Decision)):
//!   inside the request, as a task, refused (CAP-05, LEG-01), or inside the request until it takes too long;
//! - `tasks/*` is answered from the engine, by the checks of [`protocol`](crate::protocol);
//! - the extension is advertised by `server/discover`, and never by `initialize`, whose versions do not have it (CAP-01,
//!   LEG-01).
//!
//! A tool's own code runs the same inline and as a task. As a task it gets another cancellation token than the request's,
//! which rmcp cancels the moment the answer is sent; and its `Peer` reaches nobody, so that no notification of a task goes
//! out on any stream (NOT-04). A panic in a tool is an error, not a caller that waits for ever (ERR-03).
//!
//! On stdio [`serve_stdio`](Tasks::serve_stdio) adds what no handler can do there: `subscriptions/listen` with `taskIds`,
//! which rmcp drops when it reads the message.

mod answers;
mod ask;
mod call;
mod client;
mod delegate;
pub(crate) mod glue;
mod panics;
mod principals;
mod recovery;
mod registry;
mod work;

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
};

use rmcp::ServerHandler;

pub use self::glue::TaskHandler;
#[doc(hidden)]
pub use self::registry::tool_meta;
pub(crate) use self::{client::Client, principals::Principals};
use self::{recovery::Recovery, registry::OptionsCache};
use crate::{
    engine::{Engine, Gate, Recover},
    principal::Principal,
    request_state::StateKey,
    tool::ToolOptions,
};

/// An rmcp handler with tasks: see the [module](self).
///
/// ```no_run
/// # use mcp_tasks::{Tasks, engine::Engine};
/// # async fn serve<H: rmcp::ServerHandler>(handler: H, engine: Engine) -> Result<(), Box<dyn std::error::Error>> {
/// Tasks::new(handler, &engine).serve_stdio().await?;
/// # Ok(())
/// # }
/// ```
///
/// Clones share everything, but no session. Over HTTP, where rmcp asks for a new handler with each request, give it a clone
/// of one.
///
/// # Who calls
/// A task belongs to the [`Principal`] that made it, and to nobody else (SEC-02). On stdio there is one,
/// [`Principal::local`]. Over HTTP it is, in this order: the `Principal` that a layer in front, such as `TasksLayer`, has
/// put into the request's extensions; what the fn given to [`principal`](Self::principal) says; and without either **all
/// callers are one**: who knows a task's id may read, answer and cancel it, whoever he is. The ids cannot be guessed
/// (SEC-01), but a server with more than one user should not rely on that alone; it is warned of in the log once.
pub struct Tasks<H> {
    inner: Arc<H>,
    shared: Arc<Shared>,
    /// Runs lost tasks again, as long as one of the clones is there.
    recovery: Arc<dyn Recover>,
    /// Whether this one serves a session that was begun with `initialize`: its versions do not have the extension.
    in_session: AtomicBool,
}

/// What the calls of one [`Tasks`] have in common.
pub(crate) struct Shared {
    pub engine: Engine,
    pub principals: Principals,
    pub state_key: StateKey,
    pub default_options: Option<ToolOptions>,
    pub cache: OptionsCache,
}

impl Shared {
    pub(crate) fn new(engine: &Engine) -> Self {
        Self {
            engine: engine.clone(),
            principals: Principals::default(),
            state_key: StateKey::of_process(),
            default_options: None,
            cache: OptionsCache::default(),
        }
    }

    /// The gate of a tool, if its calls have one of their own.
    fn gate(&self, tool: &str, options: &ToolOptions) -> Option<Gate> {
        let max_running = usize::try_from(options.max_running?).unwrap_or(usize::MAX);
        Some(self.engine.tool_gate(tool, max_running))
    }
}

impl<H: ServerHandler> Tasks<H> {
    /// Serves `handler` with tasks that `engine` keeps. Make the engine once: tasks live as long as it does. Make this once
    /// as well, and serve clones of it: as long as there is one, lost tasks of the handler's tools run again here. For that
    /// the handler lists its tools once, in a request that nobody made.
    pub fn new(handler: H, engine: &Engine) -> Self {
        Self::of(Arc::new(handler), Arc::new(Shared::new(engine)))
    }

    fn of(inner: Arc<H>, shared: Arc<Shared>) -> Self {
        let recovery: Arc<dyn Recover> =
            Arc::new(Recovery::new(Arc::clone(&inner), Arc::clone(&shared), None, delegate::call_inner::<H>));
        shared.engine.recover_with(&recovery);
        Self { inner, shared, recovery, in_session: AtomicBool::new(false) }
    }

    /// Says who makes a request, from its HTTP parts; `None` on stdio. It may only name whom the server's own
    /// authentication has made sure of.
    #[must_use]
    pub fn principal<F>(self, principal: F) -> Self
    where
        F: Fn(Option<&::http::request::Parts>) -> Principal + Send + Sync + 'static,
    {
        self.with(|shared| shared.principals = Principals::by(principal))
    }

    /// Gives tasks to tools that are not under `#[task_tool]` as well. Without it they are left alone.
    #[must_use]
    pub fn default_options(self, options: ToolOptions) -> Self {
        self.with(|shared| shared.default_options = Some(options))
    }

    /// Sets the key that `requestState` is authenticated with (SEC-05). Nodes that serve the same clients need the same
    /// one. Default: random, one for the process.
    ///
    /// # Errors
    /// [`KeyTooShort`](crate::request_state::KeyTooShort) if it has less than 32 bytes.
    pub fn request_state_key(self, key: &[u8]) -> Result<Self, crate::request_state::KeyTooShort> {
        let key = StateKey::new(key)?;
        Ok(self.with(|shared| shared.state_key = key))
    }

    /// The handler behind.
    pub fn inner(&self) -> &H {
        &self.inner
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Changes a setting. Other clones keep theirs.
    fn with(self, change: impl FnOnce(&mut Shared)) -> Self {
        let old = &self.shared;
        let mut shared = Shared {
            engine: old.engine.clone(),
            principals: old.principals.clone(),
            state_key: old.state_key.clone(),
            default_options: old.default_options.clone(),
            cache: OptionsCache::default(),
        };
        change(&mut shared);
        Self::of(self.inner, Arc::new(shared))
    }
}

impl<H> Clone for Tasks<H> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            shared: Arc::clone(&self.shared),
            recovery: Arc::clone(&self.recovery),
            in_session: AtomicBool::new(false),
        }
    }
}

impl<H> fmt::Debug for Tasks<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").field("engine", &self.shared.engine).finish_non_exhaustive()
    }
}
