//! Who can run lost tasks again. An engine is made before the handlers that are served on it, so they add themselves: for
//! as long as they are served, or, where a handler is made anew for each request, until the engine shuts down.

use std::{
    any::{Any, TypeId},
    collections::HashSet,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::{Context, Poll},
    time::Duration,
};

use tokio::sync::Notify;

use crate::{
    clock::{BoxFuture, Clock},
    engine::drive::{Gate, Work, panic_text},
    task::{Target, TaskRecord},
};

/// How long those that are prepared are waited for. The sweep goes on after it.
const PREPARED_WITHIN: Duration = Duration::from_secs(5);

/// Starts tasks anew whose worker is gone (`on_restart = "rerun"`).
pub trait Recover: Any + Send + Sync {
    /// Finds out what [`targets`](Self::targets) says. Called before it, each time; by default there is nothing to do.
    ///
    /// It is dropped after 5 seconds, and called again with the next sweep. One that takes longer, and one that panics here or
    /// in another method, is passed over: others run their tasks again.
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

impl Able {
    /// [`Recover::recover`], whose panic is as if it had given nothing.
    pub fn recover(&self, task: &TaskRecord) -> Option<(Work, Option<Gate>)> {
        unless_it_panics(|| self.recover.recover(task)).flatten()
    }
}

/// One that is being asked what it can run: code of a handler, which may panic, and may take for ever.
enum Asked {
    Preparing(BoxFuture<'static, Able>),
    Answered(Able),
    PassedOver,
}

impl Asked {
    fn new(recover: Arc<dyn Recover>) -> Self {
        Self::Preparing(Box::pin(async move {
            recover.prepare().await;
            let targets = recover.targets();
            Able { recover, targets }
        }))
    }

    /// Whether it has answered, or will not any more.
    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        let Self::Preparing(preparing) = self else { return true };
        match unless_it_panics(|| preparing.as_mut().poll(cx)) {
            Some(Poll::Pending) => return false,
            Some(Poll::Ready(able)) => self.turn(Self::Answered(able)),
            None => self.turn(Self::PassedOver),
        }
        true
    }

    fn turn(&mut self, next: Self) {
        let before = std::mem::replace(self, next);
        // What is dropped is a handler's as well.
        unless_it_panics(|| drop(before));
    }

    fn answer(mut self) -> Option<Able> {
        if matches!(self, Self::Preparing(_)) {
            tracing::warn!("a handler did not say in time which tasks it runs again, and is passed over");
            self.turn(Self::PassedOver);
        }
        match self {
            Self::Answered(able) => Some(able),
            _ => None,
        }
    }
}

/// What a handler's code gives. The sweep goes on whatever it does.
fn unless_it_panics<T>(run: impl FnOnce() -> T) -> Option<T> {
    let caught = catch_unwind(AssertUnwindSafe(run));
    caught.inspect_err(|panic| tracing::error!(panic = panic_text(&**panic), "a handler panicked in recovery")).ok()
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

    /// Those that are still there, and say in time what they can run.
    pub async fn able(&self, clock: &dyn Clock) -> Vec<Able> {
        let mut asked: Vec<Asked> = self.present().into_iter().map(Asked::new).collect();
        let answers = poll_fn(|cx| {
            // Each is polled, not only those up to the first that is pending.
            let pending = asked.iter_mut().map(|asked| asked.poll(cx)).filter(|answered| !answered).count();
            if pending == 0 { Poll::Ready(()) } else { Poll::Pending }
        });
        tokio::select! {
            biased;
            () = answers => {}
            () = clock.sleep_until(clock.now().plus(PREPARED_WITHIN)) => {}
        }
        asked.into_iter().filter_map(Asked::answer).collect()
    }

    fn present(&self) -> Vec<Arc<dyn Recover>> {
        let mut known = self.known();
        known.retain(|known| known.get().is_some());
        known.iter().filter_map(Known::get).collect()
    }
}
