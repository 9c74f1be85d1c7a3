//! `TaskContext`: what a tool may do while it runs.
//!
//! A tool takes it as a parameter and need not know whether its call is a task, will become one, or runs inside the
//! request. Writes about the task wait until they are stored, and give way to other tasks: each is an await at which a
//! cancelled tool is dropped.

mod testing;

use std::{
    future::Future,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use tracing::Instrument;

pub use self::testing::TestTask;
use crate::{
    clock::BoxFuture,
    engine::{Run, metrics},
    error::{LimitExceeded, TaskContextError},
    input::{InputKey, InputKind, InputState, Question},
    principal::Principal,
    task::{Mutation, Progress, Refusal, Step, TaskRecord},
    task_id::TaskId,
};

/// How often a tool that waits for an answer asks the store whether a hint was lost.
const SAFETY_POLL: Duration = Duration::from_secs(2);

/// A tool's view of the task it runs in. Clones share one task.
#[derive(Debug, Clone)]
pub struct TaskContext {
    run: Arc<Run>,
}

impl TaskContext {
    pub(crate) fn new(run: Arc<Run>) -> Self {
        Self { run }
    }

    /// A task of a test's own, with scripted answers and time: a tool is tested by calling it as the plain Rust it is.
    pub fn for_test() -> TestTask {
        TestTask::new()
    }

    /// The task's id; `None` as long as the call is not a task.
    pub fn task_id(&self) -> Option<TaskId> {
        self.is_task().then_some(self.run.id)
    }

    /// Whether the call is a task by now.
    pub fn is_task(&self) -> bool {
        self.run.is_task()
    }

    /// Who made the call.
    pub fn principal(&self) -> &Principal {
        &self.run.principal
    }

    /// How often the tool was started for this call, this time included: more than 1 only after a restart.
    pub fn attempt(&self) -> u32 {
        self.run.recorded.as_ref().map_or(1, |record| record.attempt)
    }

    /// Says in a sentence how the task stands (`statusMessage`). Kept for later if the call is not a task yet.
    ///
    /// # Errors
    /// [`TaskContextError::LimitExceeded`] if it is too long, [`TaskContextError::Stopped`] if the task has ended.
    pub async fn status(&self, message: impl Into<Arc<str>>) -> Result<(), TaskContextError> {
        self.report(message.into(), None).await
    }

    /// Says how far the task has come, in units of the tool's own; the status message becomes `done/total`.
    ///
    /// # Errors
    /// [`TaskContextError::Stopped`] if the task has ended.
    pub async fn progress(&self, done: u64, total: u64) -> Result<(), TaskContextError> {
        self.report(format!("{done}/{total}").into(), Some(Progress { done, total })).await
    }

    async fn report(&self, message: Arc<str>, progress: Option<Progress>) -> Result<(), TaskContextError> {
        let (size, limit) = (message.len(), self.run.host.limits.status_message_bytes);
        if size > limit {
            return Err(LimitExceeded::StatusMessage { size, limit }.into());
        }
        let drafted = self.run.draft(|task| {
            task.status_message = Some(Arc::clone(&message));
            task.progress = progress.or(task.progress);
        });
        self.unless(drafted, Mutation::Report { status_message: Some(message), progress }).await
    }

    /// Makes sure that the task is kept for at least `duration` from now, by the clock of this server. Never shortens its
    /// life.
    ///
    /// # Errors
    /// [`TaskContextError::Stopped`] if the task has ended.
    pub async fn extend_ttl(&self, duration: Duration) -> Result<(), TaskContextError> {
        let until = self.run.host.clock.now().plus(duration);
        let drafted = self.run.draft(|task| task.ttl = task.ttl.map(|ttl| ttl.max(duration)));
        self.unless(drafted, Mutation::KeepUntil(until)).await
    }

    /// Sets how often the client should poll.
    ///
    /// # Errors
    /// [`TaskContextError::Stopped`] if the task has ended.
    pub async fn set_poll_interval(&self, interval: Duration) -> Result<(), TaskContextError> {
        let drafted = self.run.draft(|task| task.poll_interval = Some(interval));
        self.unless(drafted, Mutation::PollInterval(interval)).await
    }

    /// Whether cancellation was requested, or the tool is over: then what it has spawned should wind up as well.
    pub fn is_cancelled(&self) -> bool {
        self.run.is_cancelled()
    }

    /// Resolves once cancellation is requested (CAN-02), or the tool is over. Of use to a tool with
    /// `on_cancel = "signal"`, and to what a tool has spawned; another tool is dropped at that moment.
    pub async fn cancelled(&self) {
        self.run.until(|run| run.is_cancelled().then_some(())).await;
    }

    /// Waits on the server's clock, which is a test's own in a test.
    pub async fn sleep(&self, duration: Duration) {
        let clock = &self.run.host.clock;
        clock.sleep_until(clock.now().plus(duration)).await;
    }

    /// Runs `work` and, if the task may run again after a restart, records what it gave, so that it is
    /// not done again. Steps are told apart by `key` and, within a key, by their order.
    ///
    /// A step that was interrupted before it was recorded runs again.
    ///
    /// # Errors
    /// [`TaskContextError::Step`] if the value does not survive JSON, [`TaskContextError::Stopped`] if the task has ended,
    /// [`TaskContextError::LimitExceeded`] if too much was recorded already: then the work was done and is not recorded.
    pub async fn step<T>(&self, key: &str, work: impl Future<Output = T>) -> Result<T, TaskContextError>
    where
        T: Serialize + DeserializeOwned,
    {
        let key = self.step_key(key);
        let unfit = |cause| TaskContextError::Step { key: (*key).into(), cause };
        if let Some(recorded) = self.recorded_step(&key) {
            return serde_json::from_slice(recorded).map_err(unfit);
        }
        let value = work.await;
        let step = Step { key: Arc::clone(&key), value: serde_json::to_vec(&value).map_err(unfit)?.into() };
        self.run.count_recorded(step.value.len())?;
        let drafted = self.run.draft(|task| task.steps.push(step.clone()));
        self.unless(drafted, Mutation::Record(step)).await?;
        Ok(value)
    }

    fn step_key(&self, key: &str) -> Arc<str> {
        let ordinal = self.run.count(|counts| counts.steps.next(key));
        if ordinal == 1 { key.into() } else { format!("{key}#{ordinal}").into() }
    }

    fn recorded_step(&self, key: &str) -> Option<&Bytes> {
        let record = self.run.recorded.as_ref()?;
        record.journal.steps().iter().find(|step| *step.key == *key).map(|step| &step.value)
    }

    /// Asks the client, and waits for its response: both are JSON text, and whether the client accepted, declined or
    /// cancelled stands in the response. A call that is no task yet becomes one, if its client declared tasks.
    ///
    /// The wire key is `name`, then `name#2` and so on for each further ask of that name (UPD-04, case 12). Dropping the
    /// future withdraws the question (case 10). After a restart the recorded response to the same question is returned.
    ///
    /// # Errors
    /// [`TaskContextError::NotDeclared`] if the client cannot be asked this: it is never shown the question (case 19).
    /// [`TaskContextError::Cancelled`] at once when cancellation is requested, before or while it waits (case 11).
    /// [`TaskContextError::Stopped`] if the tool that it was asked for is over.
    /// [`TaskContextError::LimitExceeded`] if too many questions wait, or too much was recorded already.
    pub async fn ask(
        &self,
        kind: InputKind,
        name: impl Into<Arc<str>>,
        request: Bytes,
    ) -> Result<Bytes, TaskContextError> {
        if !self.run.declared.contains(kind) {
            return Err(TaskContextError::NotDeclared(kind));
        }
        self.may_ask()?;
        let name = name.into();
        let question = Question { ordinal: self.run.count(|counts| counts.questions.next(&name)), name, request };
        if let Some(response) = self.run.answered_before(&question) {
            return Ok(response);
        }
        if let Some(inline) = self.run.inline.as_deref().filter(|_| !self.is_task()) {
            match (&inline.input, inline.may_promote) {
                (_, true) => inline.wish.notify_one(),
                (Some(input), false) => return self.ask_inline(input.ask(kind, question)).await,
                (None, false) => return Err(TaskContextError::CannotAsk),
            }
        }
        self.ask_in_task(question).await
    }

    fn may_ask(&self) -> Result<(), TaskContextError> {
        if self.run.has_ended() {
            return Err(TaskContextError::Stopped);
        }
        if self.is_cancelled() { Err(TaskContextError::Cancelled) } else { Ok(()) }
    }

    /// Waits for an answer that may never come, for no longer than the tool runs.
    async fn ask_inline(
        &self,
        answer: BoxFuture<'static, Result<Bytes, TaskContextError>>,
    ) -> Result<Bytes, TaskContextError> {
        tokio::select! {
            biased;
            answer = answer => answer,
            () = self.run.until(|run| run.has_ended().then_some(())) => Err(TaskContextError::Stopped),
        }
    }

    async fn ask_in_task(&self, question: Question) -> Result<Bytes, TaskContextError> {
        let mut pending = PendingAsk::new(&self.run, &question)?;
        self.run.count_recorded(question.request.len())?;
        let record = pending.ask(question.clone()).await.map_err(refused)?;
        let entry = record.inputs().paired(&question).ok_or(TaskContextError::Stopped)?;
        let response = match &entry.state {
            InputState::Answered { response } => response.clone(),
            _ => {
                let span = tracing::debug_span!("task.wait_for_input", task_id = %self.run.id, key = %entry.key);
                self.answer(&entry.key).instrument(span).await?
            }
        };
        pending.outstanding = false;
        // What is recorded already is not refused; whatever would come on top of it is.
        self.run.count(|counts| counts.recorded = counts.recorded.saturating_add(response.len()));
        Ok(response)
    }

    /// Waits for the answer to an outstanding request.
    async fn answer(&self, key: &InputKey) -> Result<Bytes, TaskContextError> {
        let host = &self.run.host;
        let since = host.clock.now();
        loop {
            let change = self.run.change();
            self.may_ask()?;
            match host.store.input(self.run.id, key).await {
                Ok(Some(response)) => {
                    metrics::answered(host.clock.now().since(since));
                    return Ok(response);
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "an answer was not read"),
            }
            tokio::select! {
                () = change => {}
                () = host.clock.sleep_until(host.clock.now().plus(SAFETY_POLL)) => {}
            }
        }
    }

    /// Makes a write, unless it went into the draft of a call that is not a task yet. Gives way either way, so that a
    /// tool that writes without end can be dropped, and holds up nobody.
    async fn unless(&self, drafted: bool, mutation: Mutation) -> Result<(), TaskContextError> {
        if !drafted {
            self.commit(&mutation).await?;
        }
        tokio::task::yield_now().await;
        Ok(())
    }

    async fn commit(&self, mutation: &Mutation) -> Result<Arc<TaskRecord>, TaskContextError> {
        self.run.commit(mutation).await.map_err(refused)
    }
}

fn refused(refusal: Refusal) -> TaskContextError {
    match refusal {
        Refusal::CancelRequested => TaskContextError::Cancelled,
        _ => TaskContextError::Stopped,
    }
}

/// A question that waits for its answer; dropping it unanswered withdraws it.
struct PendingAsk {
    run: Arc<Run>,
    name: Arc<str>,
    ordinal: u32,
    /// The question on its way to the store, which may take it even if nobody waits any more.
    asking: Option<BoxFuture<'static, Result<Arc<TaskRecord>, Refusal>>>,
    /// The store has the question, and not its answer.
    outstanding: bool,
}

impl PendingAsk {
    fn new(run: &Arc<Run>, question: &Question) -> Result<Self, LimitExceeded> {
        let limit = run.host.limits.outstanding_inputs;
        run.count(|counts| {
            let room = counts.outstanding < limit;
            counts.outstanding += usize::from(room);
            room.then_some(())
        })
        .ok_or(LimitExceeded::OutstandingInputs { limit })?;
        let (run, name) = (Arc::clone(run), Arc::clone(&question.name));
        Ok(Self { run, name, ordinal: question.ordinal, asking: None, outstanding: false })
    }

    /// Puts the question to the client, once the run is a task.
    async fn ask(&mut self, question: Question) -> Result<Arc<TaskRecord>, Refusal> {
        // What is given up before there is a task was never asked.
        self.run.until_task().await?;
        let run = Arc::clone(&self.run);
        let asking = self.asking.insert(Box::pin(async move { run.commit(&Mutation::Ask(question)).await }));
        let asked = asking.await;
        self.asking = None;
        self.outstanding = asked.is_ok();
        asked
    }
}

impl Drop for PendingAsk {
    fn drop(&mut self) {
        self.run.count(|counts| counts.outstanding -= 1);
        let asking = self.asking.take();
        if (asking.is_none() && !self.outstanding) || self.run.is_over() {
            return;
        }
        let (run, name, ordinal) = (Arc::clone(&self.run), Arc::clone(&self.name), self.ordinal);
        detach(async move {
            // A store with many connections may take the later write first: then it would find nothing to withdraw.
            if let Some(asking) = asking
                && asking.await.is_err()
            {
                return;
            }
            // A refusal means that there is nothing left to withdraw.
            let _ = run.commit(&Mutation::Withdraw { name, ordinal }).await;
        });
    }
}

/// Does what it can of `work` at once, and the rest beside its caller.
pub(crate) fn detach(work: impl Future<Output = ()> + Send + 'static) {
    let mut work = Box::pin(work);
    let unfinished = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Pending;
    if let (true, Ok(runtime)) = (unfinished, tokio::runtime::Handle::try_current()) {
        runtime.spawn(work);
    }
}
