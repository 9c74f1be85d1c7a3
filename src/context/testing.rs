//! `TestTask`: a task without an engine, for the tests of tools.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;

use crate::{
    clock::ManualClock,
    context::TaskContext,
    engine::{Host, Run},
    input::{InputKey, InputKinds, Question},
    limits::{Limits, Quota},
    principal::Principal,
    store::{
        Hints, Lease, Reaped, Renewed, StoreError, StoreFuture, TaskStore, WorkerId, Written, memory::MemoryStore,
    },
    task::{Epoch, Mutation, NewTask, OnCancel, Rev, Target, TaskRecord},
    task_id::TaskId,
};

/// A task whose client is a script and whose clock is the test's.
///
/// Made by [`TaskContext::for_test`]. The client can be asked anything, unless [`declares`](Self::declares) says
/// otherwise; the time stands still until the test advances [`clock`](Self::clock); cancellation signals.
#[derive(Debug)]
pub struct TestTask {
    clock: ManualClock,
    store: Arc<Scripted>,
    task: NewTask,
    run: Option<Arc<Run>>,
}

impl TestTask {
    pub(super) fn new() -> Self {
        let clock = ManualClock::default();
        let target = Arc::new(Target::new("test", "tool", ""));
        let mut task = NewTask::new(Principal::local(), target, Bytes::from_static(b"{}"));
        task.declared = InputKinds::ALL;
        task.on_cancel = OnCancel::Signal;
        let store = Scripted { inner: MemoryStore::new(Arc::new(clock.clone())), script: Mutex::default() };
        Self { clock, store: Arc::new(store), task, run: None }
    }

    /// The client answers the next question of this name that has no answer yet with `response`, a JSON text.
    #[must_use]
    pub fn answer(self, name: &str, response: impl Into<Bytes>) -> Self {
        self.store.script().replies.entry(name.into()).or_default().push_back(Some(response.into()));
        self
    }

    /// The client leaves the next question of this name that has no answer yet unanswered.
    #[must_use]
    pub fn silence(self, name: &str) -> Self {
        self.store.script().replies.entry(name.into()).or_default().push_back(None);
        self
    }

    /// The client can be asked these kinds, and no other.
    #[must_use]
    pub fn declares(mut self, kinds: InputKinds) -> Self {
        self.task.declared = kinds;
        self
    }

    /// The context to call the tool with. All contexts of one test task share the task.
    pub fn context(&mut self) -> TaskContext {
        TaskContext::new(Arc::clone(self.run()))
    }

    /// The clock of the task and of [`TaskContext::sleep`].
    pub fn clock(&self) -> &ManualClock {
        &self.clock
    }

    /// The client requests cancellation.
    pub fn cancel(&mut self) {
        let run = Arc::clone(self.run());
        if let Ok(Written::Stands(record)) = at_once(self.store.inner.request_cancel(run.id)) {
            run.observe(&record);
        }
    }

    /// The task as it stands; `None` before the first [`context`](Self::context), and once it is gone.
    pub fn record(&self) -> Option<Arc<TaskRecord>> {
        at_once(self.store.inner.get(self.run.as_ref()?.id)).ok().flatten()
    }

    /// The status messages so far, in order.
    pub fn status_messages(&self) -> Vec<Arc<str>> {
        self.store.script().messages.clone()
    }

    /// The questions so far, in order.
    pub fn questions(&self) -> Vec<Question> {
        self.store.script().questions.clone()
    }

    fn run(&mut self) -> &Arc<Run> {
        let Self { clock, store, task, run } = self;
        run.get_or_insert_with(|| {
            let host = Host {
                store: Arc::clone(store) as Arc<dyn TaskStore>,
                clock: Arc::new(clock.clone()),
                limits: Limits::default(),
            };
            let run = Run::of_task(&Arc::new(host), TaskId::from_bits(1), task);
            let lease = Lease { worker: WorkerId(1), period: Duration::from_secs(u32::MAX.into()) };
            let created = at_once(store.inner.create(run.id, task.clone(), Some(lease), &Quota::UNLIMITED));
            run.became_task(&created.expect("an empty store takes a task"));
            Arc::new(run)
        })
    }
}

/// What a future gives that never waits.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a memory store does not wait"),
    }
}

/// A store whose questions are answered by a script.
struct Scripted {
    inner: MemoryStore,
    script: Mutex<Script>,
}

#[derive(Default)]
struct Script {
    replies: HashMap<Box<str>, VecDeque<Option<Bytes>>>,
    messages: Vec<Arc<str>>,
    questions: Vec<Question>,
}

impl Scripted {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn write(&self, id: TaskId, epoch: Epoch, mutation: &Mutation) -> Result<Written, StoreError> {
        let written = self.inner.commit(id, epoch, mutation).await?;
        match (mutation, &written) {
            (Mutation::Report { status_message: Some(message), .. }, Written::Stands(_)) => {
                self.script().messages.push(Arc::clone(message));
            }
            (Mutation::Ask(question), Written::Stands(record)) => self.reply(record, question).await?,
            _ => {}
        }
        Ok(written)
    }

    async fn reply(&self, record: &TaskRecord, question: &Question) -> Result<(), StoreError> {
        let reply = {
            let mut script = self.script();
            script.questions.push(question.clone());
            let replies = script.replies.get_mut(&*question.name).and_then(VecDeque::pop_front);
            replies.unwrap_or_else(|| panic!("the tool asked `{}`, which the test did not script", question.name))
        };
        if let (Some(response), Some(entry)) = (reply, record.inputs().paired(question)) {
            self.inner.respond(record.id, &[(entry.key.clone(), response)]).await?;
        }
        Ok(())
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").finish_non_exhaustive()
    }
}

impl TaskStore for Scripted {
    fn create<'a>(
        &'a self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &'a Quota,
    ) -> StoreFuture<'a, Arc<TaskRecord>> {
        self.inner.create(id, task, lease, quota)
    }

    fn get(&self, id: TaskId) -> StoreFuture<'_, Option<Arc<TaskRecord>>> {
        self.inner.get(id)
    }

    fn respond<'a>(&'a self, id: TaskId, responses: &'a [(InputKey, Bytes)]) -> StoreFuture<'a, Written> {
        self.inner.respond(id, responses)
    }

    fn request_cancel(&self, id: TaskId) -> StoreFuture<'_, Written> {
        self.inner.request_cancel(id)
    }

    fn claim<'a>(
        &'a self,
        lease: Lease,
        targets: &'a [Arc<Target>],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        self.inner.claim(lease, targets, limit)
    }

    fn renew<'a>(&'a self, lease: Lease, held: &'a [(TaskId, Epoch)]) -> StoreFuture<'a, Renewed> {
        self.inner.renew(lease, held)
    }

    fn commit<'a>(&'a self, id: TaskId, epoch: Epoch, mutation: &'a Mutation) -> StoreFuture<'a, Written> {
        Box::pin(self.write(id, epoch, mutation))
    }

    fn input<'a>(&'a self, id: TaskId, key: &'a InputKey) -> StoreFuture<'a, Option<Bytes>> {
        self.inner.input(id, key)
    }

    fn reap(&self, limit: usize) -> StoreFuture<'_, Reaped> {
        self.inner.reap(limit)
    }

    fn watch(&self) -> Hints {
        self.inner.watch()
    }

    fn revs<'a>(&'a self, ids: &'a [TaskId]) -> StoreFuture<'a, Vec<(TaskId, Rev)>> {
        self.inner.revs(ids)
    }
}
