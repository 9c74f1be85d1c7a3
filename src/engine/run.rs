//! `Run`: what the engine, the tool's context and the client's calls share about one run of a tool.
//!
//! A run is inline at first, or a task from the start. An inline run becomes a task at most once, and ends either inline
//! or as a task, never both: [`Phase`] is where that is decided.

use std::{
    fmt, mem,
    pin::pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::Notify;

use crate::{
    clock::{BoxFuture, Clock},
    engine::metrics,
    error::{LimitExceeded, StoreError, TaskContextError},
    input::{InputKind, InputKinds, Question},
    limits::Limits,
    principal::Principal,
    store::{TaskStore, Written},
    task::{Epoch, Mutation, NewTask, OnCancel, Refusal, TaskRecord},
    task_id::TaskId,
};

/// What every run of an engine needs from outside.
pub(crate) struct Host {
    pub store: Arc<dyn TaskStore>,
    pub clock: Arc<dyn Clock>,
    pub limits: Limits,
}

/// Asks the client of a call that is not a task and cannot become one.
///
/// It may answer from what the client sent along, ask over the call's own connection, or note the question, end the call
/// with it and never resolve: then the tool is dropped, and runs again from its start once the client has answered.
pub trait InlineInput: Send + Sync + 'static {
    /// The client's response to `question`, as JSON text.
    fn ask(&self, kind: InputKind, question: Question) -> BoxFuture<'static, Result<Bytes, TaskContextError>>;
}

/// What is special about a run that began inline.
pub(crate) struct Inline {
    pub may_promote: bool,
    pub input: Option<Arc<dyn InlineInput>>,
    /// The tool cannot go on unless the call becomes a task.
    pub wish: Notify,
}

/// Whether the run is a task yet. Only ever goes forward.
enum Phase {
    /// Not a task; what it would be created with.
    Inline(Box<NewTask>),
    /// The store is being asked to create the task.
    Promoting,
    /// A task.
    Task,
    /// Ended inline: it will never be a task.
    EndedInline,
}

/// Cancellation was requested.
const CANCELLED: u8 = 1;
/// The task is not this run's any more, and the tool is to be dropped.
const REVOKED: u8 = 2;
/// The tool has ended or is being dropped: what is no task by now never will be.
const ENDED: u8 = 4;

pub(crate) struct Run {
    pub host: Arc<Host>,
    pub id: TaskId,
    pub principal: Principal,
    pub declared: InputKinds,
    pub inline: Option<Box<Inline>>,
    /// The task as an earlier run left it.
    pub recorded: Option<Arc<TaskRecord>>,
    /// Made at the first question or step, for most tools have none.
    counts: Mutex<Option<Box<Counts>>>,
    on_cancel: OnCancel,
    phase: Mutex<Phase>,
    /// 0 until the run is a task.
    epoch: AtomicU64,
    rev: AtomicU64,
    flags: AtomicU8,
    /// Somebody should look again: a flag, the phase, or the stored record has changed.
    changed: Notify,
    /// Who drives the tool, to be woken with the others. A waker takes less room in each running task than a wait.
    driver: Mutex<Option<Waker>>,
}

/// What is counted within one run of a tool.
#[derive(Default)]
pub(crate) struct Counts {
    /// Questions of each name.
    pub questions: Ordinals,
    /// Steps of each key.
    pub steps: Ordinals,
    /// Questions that wait for an answer now.
    pub outstanding: usize,
    /// Bytes that are recorded: steps, questions and answers.
    pub recorded: usize,
}

/// How often each name was used.
#[derive(Default)]
pub(crate) struct Ordinals(Vec<(Arc<str>, u32)>);

impl Ordinals {
    /// Counts one more use of `name`: 1 for the first.
    pub fn next(&mut self, name: &str) -> u32 {
        match self.0.iter_mut().find(|(known, _)| **known == *name) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.0.push((name.into(), 1));
                1
            }
        }
    }
}

impl Run {
    /// A run of a task that is being created.
    pub fn of_task(host: &Arc<Host>, id: TaskId, task: &NewTask) -> Self {
        Self::new(host, id, &task.principal, task.declared, task.on_cancel, Phase::Promoting)
    }

    /// A run that is no task yet.
    pub fn inline(host: &Arc<Host>, id: TaskId, task: NewTask, inline: Inline) -> Self {
        let (principal, declared, on_cancel) = (task.principal.clone(), task.declared, task.on_cancel);
        let run = Self::new(host, id, &principal, declared, on_cancel, Phase::Inline(Box::new(task)));
        Self { inline: Some(Box::new(inline)), ..run }
    }

    /// A new run of a task whose earlier run was lost.
    pub fn again(host: &Arc<Host>, record: &Arc<TaskRecord>) -> Self {
        let run = Self::new(host, record.id, &record.principal, record.declared, record.on_cancel, Phase::Promoting);
        Self { recorded: Some(Arc::clone(record)), ..run }
    }

    fn new(
        host: &Arc<Host>,
        id: TaskId,
        principal: &Principal,
        declared: InputKinds,
        on_cancel: OnCancel,
        phase: Phase,
    ) -> Self {
        Self {
            host: Arc::clone(host),
            id,
            principal: principal.clone(),
            declared,
            inline: None,
            recorded: None,
            counts: Mutex::default(),
            on_cancel,
            phase: Mutex::new(phase),
            epoch: AtomicU64::new(0),
            rev: AtomicU64::new(0),
            flags: AtomicU8::new(0),
            changed: Notify::new(),
            driver: Mutex::default(),
        }
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts something.
    pub fn count<T>(&self, count: impl FnOnce(&mut Counts) -> T) -> T {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        count(counts.get_or_insert_with(|| {
            let recorded = self.recorded.as_ref().map_or(0, |record| record.journal.recorded_bytes());
            Box::new(Counts { recorded, ..Counts::default() })
        }))
    }

    /// Counts so many bytes that the tool is about to record.
    pub fn count_recorded(&self, bytes: usize) -> Result<(), LimitExceeded> {
        let limit = self.host.limits.journal_bytes;
        self.count(|counts| {
            let size = counts.recorded.saturating_add(bytes);
            if size > limit {
                return Err(LimitExceeded::Journal { size, limit });
            }
            counts.recorded = size;
            Ok(())
        })
    }

    /// The fencing token, once the run is a task.
    pub fn epoch(&self) -> Option<Epoch> {
        match self.epoch.load(Ordering::Acquire) {
            0 => None,
            epoch => Some(Epoch(epoch)),
        }
    }

    pub fn is_task(&self) -> bool {
        self.epoch().is_some()
    }

    /// Changes what the task would be created with. False if it is too late for that.
    pub fn draft(&self, change: impl FnOnce(&mut NewTask)) -> bool {
        match &mut *self.phase() {
            Phase::Inline(task) => {
                change(task);
                true
            }
            _ => false,
        }
    }

    /// The answer that the client gave to `question` before there was a task, as long as there is none (NEW-02).
    pub fn answered_before(&self, question: &Question) -> Option<Bytes> {
        match &*self.phase() {
            Phase::Inline(task) => task.inputs.answer_to(question).cloned(),
            _ => None,
        }
    }

    /// Takes what the task is to be created with; `None` if the tool has ended already.
    pub fn begin_promotion(&self) -> Option<NewTask> {
        let mut phase = self.phase();
        if !matches!(*phase, Phase::Inline(_)) {
            return None;
        }
        match mem::replace(&mut *phase, Phase::Promoting) {
            Phase::Inline(task) => Some(*task),
            _ => None,
        }
    }

    /// The store has created the task, or given it to this run.
    pub fn became_task(&self, record: &TaskRecord) {
        *self.phase() = Phase::Task;
        self.rev.fetch_max(record.rev.0, Ordering::AcqRel);
        self.epoch.store(record.epoch.0, Ordering::Release);
        self.look_again();
    }

    /// The tool has ended. True if that ends an inline run, false if there is or will be a task to settle.
    pub fn end_inline(&self) -> bool {
        let mut phase = self.phase();
        let inline = matches!(*phase, Phase::Inline(_));
        if inline {
            *phase = Phase::EndedInline;
        }
        inline
    }

    /// Takes notice of how the task stands in the store.
    pub fn observe(&self, record: &TaskRecord) {
        self.rev.fetch_max(record.rev.0, Ordering::AcqRel);
        if record.is_settled() {
            self.flags.fetch_or(REVOKED, Ordering::AcqRel);
        } else if self.epoch().is_some_and(|own| own != record.epoch) {
            self.lose();
        }
        if record.cancel_requested {
            self.flags.fetch_or(CANCELLED, Ordering::AcqRel);
        }
        self.look_again();
    }

    /// Whether the run knows the task as it is at `rev`.
    pub fn knows(&self, rev: u64) -> bool {
        self.rev.load(Ordering::Acquire) >= rev
    }

    /// Cancellation was requested.
    pub fn cancel(&self) {
        self.flags.fetch_or(CANCELLED, Ordering::AcqRel);
        self.look_again();
    }

    /// The task is not this run's any more.
    pub fn revoke(&self) {
        self.flags.fetch_or(REVOKED, Ordering::AcqRel);
        self.look_again();
    }

    /// The lease was lost: the task is not this run's any more, though it did not end.
    pub fn lose(&self) {
        if self.flags.fetch_or(REVOKED, Ordering::AcqRel) & REVOKED == 0 {
            metrics::lease_lost();
            tracing::warn_span!("task.lease_lost", task_id = %self.id)
                .in_scope(|| tracing::warn!("a tool is stopped, for its lease was lost"));
        }
        self.look_again();
    }

    /// The stored record, or something else about the run, may have changed.
    pub fn look_again(&self) {
        self.changed.notify_waiters();
        if let Some(driver) = &*self.driver() {
            driver.wake_by_ref();
        }
    }

    fn driver(&self) -> MutexGuard<'_, Option<Waker>> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ready once the tool's future is to be dropped. For the one driver of the run.
    pub fn poll_stopped(&self, cx: &Context<'_>) -> Poll<()> {
        let mut driver = self.driver();
        if driver.as_ref().is_none_or(|waker| !waker.will_wake(cx.waker())) {
            *driver = Some(cx.waker().clone());
        }
        drop(driver);
        if self.is_stopped() { Poll::Ready(()) } else { Poll::Pending }
    }

    pub fn is_revoked(&self) -> bool {
        self.flags.load(Ordering::Acquire) & REVOKED != 0
    }

    /// Nobody drives the tool any more. Whoever still holds the run, such as something that the tool has spawned, is told.
    pub fn end(&self) {
        self.end_inline();
        self.flags.fetch_or(ENDED, Ordering::AcqRel);
        self.look_again();
    }

    pub fn has_ended(&self) -> bool {
        self.flags.load(Ordering::Acquire) & ENDED != 0
    }

    /// Whether there is nothing left to write: the tool is gone, or the task is not this run's any more.
    pub fn is_over(&self) -> bool {
        self.flags.load(Ordering::Acquire) & (REVOKED | ENDED) != 0
    }

    /// Whether the tool, or what it has left behind, should wind up.
    pub fn is_cancelled(&self) -> bool {
        self.flags.load(Ordering::Acquire) != 0
    }

    /// Whether the tool's future is to be dropped.
    pub fn is_stopped(&self) -> bool {
        match self.on_cancel {
            OnCancel::Drop => self.is_cancelled(),
            OnCancel::Signal => self.is_revoked(),
        }
    }

    /// Resolves once `ready` gives something; looks at each change.
    pub async fn until<T>(&self, ready: impl Fn(&Self) -> Option<T>) -> T {
        let mut changed = pin!(self.changed.notified());
        loop {
            changed.as_mut().enable();
            if let Some(value) = ready(self) {
                return value;
            }
            changed.as_mut().await;
            changed.set(self.changed.notified());
        }
    }

    /// The fencing token, as soon as the run is a task; a refusal if it never becomes one.
    pub async fn until_task(&self) -> Result<Epoch, Refusal> {
        self.until(|run| run.epoch().map(Ok).or(run.is_over().then_some(Err(Refusal::Fenced)))).await
    }

    /// Resolves at the next change, counted from this call.
    pub fn change(&self) -> impl Future<Output = ()> + Send + '_ {
        let mut changed = Box::pin(self.changed.notified());
        changed.as_mut().enable();
        changed
    }

    /// Writes to the task, and tries again for as long as the store fails and the run is not over: whether a write that
    /// failed was made or not, making it again is safe. Waits for a promotion that is under way.
    pub async fn commit(&self, mutation: &Mutation) -> Result<Arc<TaskRecord>, Refusal> {
        let epoch = self.until_task().await?;
        let mut pause = Duration::from_millis(50);
        loop {
            match self.host.store.commit(self.id, epoch, mutation).await {
                Ok(Written::Stands(record)) => {
                    self.rev.fetch_max(record.rev.0, Ordering::AcqRel);
                    return Ok(record);
                }
                Ok(Written::Refused(refusal)) => {
                    match refusal {
                        Refusal::CancelRequested => {}
                        Refusal::Fenced => self.lose(),
                        _ => self.revoke(),
                    }
                    return Err(refusal);
                }
                Err(error) => self.wait_out(&error, pause).await?,
            }
            pause = (pause * 2).min(Duration::from_secs(2));
        }
    }

    /// Waits before a store call is made again; an error once the run is over.
    async fn wait_out(&self, error: &StoreError, pause: Duration) -> Result<(), Refusal> {
        tracing::warn!(task_id = %self.id, error = error as &dyn std::error::Error, "a write to the task store failed");
        let clock = &self.host.clock;
        tokio::select! {
            () = self.until(|run| run.is_over().then_some(())) => Err(Refusal::Fenced),
            () = clock.sleep_until(clock.now().plus(pause)) => Ok(()),
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("id", &self.id).field("is_task", &self.is_task()).finish_non_exhaustive()
    }
}
