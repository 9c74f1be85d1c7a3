//! Who can run lost tasks again. An engine is made before the handlers that are served on it, so they add themselves: for
//! as long as they are served, or, where a handler is made anew for each request, until the engine shuts down.

use std::{
    any::{Any, TypeId},
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::Notify;

use crate::{
    clock::BoxFuture,
    engine::drive::{Gate, Work},
    task::{Target, TaskRecord},
};

/// Starts tasks anew whose worker is gone (`on_restart = "rerun"`).
pub trait Recover: Any + Send + Sync {
    /// Finds out what [`targets`](Self::targets) says. Called before it, each time; by default there is nothing to do.
    fn prepare(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The targets it can run. Tasks of others are left to other workers.
    fn targets(&self) -> Vec<Arc<Target>>;

    /// The work of `task`, from its stored arguments. With `None` it is not started here, and its lease runs out, which
    /// counts as an attempt.
    fn recover(&self, task: &TaskRecord) -> Option<(Work, Option<Gate>)>;
}

/// Those that an engine knows of.
#[derive(Default)]
pub(crate) struct Recoverers {
    known: Mutex<Vec<Known>>,
    /// The types of those that were ever lent.
    lent: Mutex<HashSet<TypeId>>,
    /// There may be work for them: one was added, or a task was let go.
    called: Notify,
}

enum Known {
    /// Kept by the engine.
    Kept(Arc<dyn Recover>),
    /// Kept by somebody else.
    Lent(Weak<dyn Recover>),
    /// Kept by the engine, one for all handlers of this type.
    OfType(TypeId, Arc<dyn Recover>),
}

impl Known {
    fn get(&self) -> Option<Arc<dyn Recover>> {
        match self {
            Self::Kept(recover) | Self::OfType(_, recover) => Some(Arc::clone(recover)),
            Self::Lent(recover) => recover.upgrade(),
        }
    }
}

/// One that is still there, and what it can run.
pub(crate) struct Able {
    pub recover: Arc<dyn Recover>,
    pub targets: Vec<Arc<Target>>,
}

impl Recoverers {
    fn known(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps one until [`clear`](Self::clear).
    pub fn keep(&self, recover: Arc<dyn Recover>) {
        self.known().push(Known::Kept(recover));
        self.call();
    }

    /// Knows one for as long as somebody else keeps it.
    pub fn lend(&self, recover: &Arc<dyn Recover>) {
        self.known().push(Known::Lent(Arc::downgrade(recover)));
        let of = Any::type_id(&**recover);
        // A server that makes one for each request is not to make a sweep of each.
        if self.lent.lock().unwrap_or_else(PoisonError::into_inner).insert(of) {
            self.call();
        }
    }

    /// Keeps one for all handlers of a type, unless there is one.
    pub fn keep_of_type(&self, handler: TypeId, make: impl FnOnce() -> Arc<dyn Recover>) {
        let mut known = self.known();
        if !known.iter().any(|known| matches!(known, Known::OfType(of, _) if *of == handler)) {
            known.push(Known::OfType(handler, make()));
            drop(known);
            self.call();
        }
    }

    /// Forgets them all: nothing is started any more.
    pub fn clear(&self) {
        // Dropped after the lock is given back: a handler may hold an engine.
        let forgotten = std::mem::take(&mut *self.known());
        drop(forgotten);
    }

    /// Says that there may be work.
    pub fn call(&self) {
        self.called.notify_one();
    }

    /// Resolves once somebody says so. A call is kept until then.
    pub async fn called(&self) {
        self.called.notified().await;
    }

    /// Those that are still there.
    pub async fn able(&self) -> Vec<Able> {
        let present: Vec<_> = {
            let mut known = self.known();
            known.retain(|known| known.get().is_some());
            known.iter().filter_map(Known::get).collect()
        };
        let mut able = Vec::with_capacity(present.len());
        for recover in present {
            recover.prepare().await;
            let targets = recover.targets();
            able.push(Able { recover, targets });
        }
        able
    }
}
