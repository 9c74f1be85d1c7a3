//! Drives one tool from its start to the end of its run: waits for its turn, catches its panic (ERR-03), drops it when it
//! is stopped, and settles its task.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    task::AbortHandle,
};
use tracing::Instrument;

use crate::{
    clock::{BoxFuture, UnixMillis},
    context::TaskContext,
    engine::{
        metrics::{self, RunningNow},
        run::Run,
        runs::Listed,
    },
    limits::Limits,
    task::{Failure, Mutation, Settlement},
};

/// The body of a tool, bound to its arguments: started once, in a context, and ending in a [`Settlement`].
pub struct Work(Box<dyn FnOnce(TaskContext) -> BoxFuture<'static, Settlement> + Send>);

impl Work {
    /// The work that `body` does.
    pub fn new<F, Fut>(body: F) -> Self
    where
        F: FnOnce(TaskContext) -> Fut + Send + 'static,
        Fut: Future<Output = Settlement> + Send + 'static,
    {
        Self(Box::new(move |task| Box::pin(body(task))))
    }
}

/// Lets a bounded number of runs through at a time (`max_running`). Clones share one bound.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    /// A gate for `max_running` runs.
    pub fn new(max_running: usize) -> Self {
        Self(Arc::new(Semaphore::new(max_running.min(Semaphore::MAX_PERMITS))))
    }

    /// How many more runs it lets through now.
    pub(crate) fn room(&self) -> usize {
        self.0.available_permits()
    }

    fn try_pass(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }

    /// Waits for a place. The gate is never closed, so there always is a permit in the end.
    async fn pass(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).acquire_owned().await.ok()
    }
}

/// The gates that a run must pass: its tool's, then its engine's.
pub(crate) struct Gates {
    pub tool: Option<Gate>,
    pub engine: Gate,
}

/// Places behind gates, given back when this is dropped.
struct Passed {
    _tool: Option<OwnedSemaphorePermit>,
    _engine: Option<OwnedSemaphorePermit>,
}

impl Gates {
    /// Passes if there is room at once.
    fn try_pass(&self) -> Option<Passed> {
        let tool = match &self.tool {
            Some(gate) => Some(gate.try_pass()?),
            None => None,
        };
        Some(Passed { _tool: tool, _engine: Some(self.engine.try_pass()?) })
    }

    async fn pass(self) -> Passed {
        let tool = match &self.tool {
            Some(gate) => gate.pass().await,
            None => None,
        };
        Passed { _tool: tool, _engine: self.engine.pass().await }
    }
}

/// Starts driving a run beside its caller.
pub(crate) fn start(
    listed: Listed,
    gates: Gates,
    work: Work,
    reply: Option<oneshot::Sender<Settlement>>,
) -> AbortHandle {
    let span = tracing::info_span!("task.run", task_id = %listed.run.id);
    let drive = Drive::new(listed, gates, work, reply);
    // A span that nobody records is not worth its room in every running task.
    let driving = if span.is_disabled() { tokio::spawn(drive) } else { tokio::spawn(drive.instrument(span)) };
    driving.abort_handle()
}

/// One run of a tool, to its end. An inline run's settlement goes to `reply`; a task's goes to the store.
///
/// Dropping it ends the run, drops the tool and settles nothing. Written by hand and not as an async fn, because it is held
/// for as long as the tool runs, once for each task: what is awaited only for a short time is boxed.
struct Drive {
    stage: Stage,
    reply: Option<oneshot::Sender<Settlement>>,
    /// The last to be dropped: a run is listed until its tool is gone.
    listed: Listed,
}

enum Stage {
    /// The tool is started when it is polled first, or ends before that if it was called off.
    Ready { passed: Option<Passed>, work: Option<Work> },
    /// The tool waits for its turn.
    Queued { turn: BoxFuture<'static, Option<Passed>>, work: Option<Work> },
    /// The tool runs.
    Running { tool: Tool, since: UnixMillis, _passed: Passed, _now: RunningNow },
    /// The tool has ended, and its end is passed on.
    Ending(BoxFuture<'static, ()>),
}

impl Drive {
    fn new(listed: Listed, gates: Gates, work: Work, reply: Option<oneshot::Sender<Settlement>>) -> Self {
        let work = Some(work);
        let stage = match gates.try_pass() {
            Some(passed) => {
                metrics::queued(Duration::ZERO);
                Stage::Ready { passed: Some(passed), work }
            }
            None => {
                let span = tracing::debug_span!("task.queue", task_id = %listed.run.id);
                Stage::Queued { turn: Box::pin(turn(Arc::clone(&listed.run), gates).instrument(span)), work }
            }
        };
        Self { stage, reply, listed }
    }

    /// Starts the tool, unless it was called off before its turn (case 1) or the task was taken from it.
    fn begin(&mut self, work: Option<Work>, passed: Option<Passed>) -> Stage {
        if self.listed.run.is_revoked() {
            return Stage::Ending(Box::pin(std::future::ready(())));
        }
        let (Some(work), Some(passed), false) = (work, passed, self.listed.run.is_cancelled()) else {
            return self.end(Settlement::Cancelled);
        };
        match Tool::start(work, TaskContext::new(Arc::clone(&self.listed.run))) {
            Ok(tool) => {
                let since = self.listed.run.host.clock.now();
                Stage::Running { tool, since, _passed: passed, _now: RunningNow::new() }
            }
            Err(panic) => self.end(panicked(&self.listed.run, &*panic)),
        }
    }

    fn end(&mut self, settlement: Settlement) -> Stage {
        Stage::Ending(Box::pin(finish(Arc::clone(&self.listed.run), settlement, self.reply.take())))
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        self.listed.run.end();
    }
}

impl Future for Drive {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        loop {
            this.stage = match &mut this.stage {
                Stage::Ready { passed, work } => {
                    let (work, passed) = (work.take(), passed.take());
                    this.begin(work, passed)
                }
                Stage::Queued { turn, work } => {
                    let passed = ready!(turn.as_mut().poll(cx));
                    let work = work.take();
                    this.begin(work, passed)
                }
                Stage::Running { tool, since, .. } => {
                    let stopped = this.listed.run.poll_stopped(cx).is_ready();
                    let ended = if stopped { None } else { Some(ready!(Pin::new(tool).poll(cx))) };
                    metrics::ran(this.listed.run.host.clock.now().since(*since));
                    // Whoever stopped it has settled the task, or runs it elsewhere.
                    let Some(ended) = ended else { return Poll::Ready(()) };
                    let settlement = ended.unwrap_or_else(|panic| panicked(&this.listed.run, &*panic));
                    this.end(settlement)
                }
                Stage::Ending(end) => return end.as_mut().poll(cx),
            };
        }
    }
}

/// Waits for the tool's turn; `None` if it was called off before.
async fn turn(run: Arc<Run>, gates: Gates) -> Option<Passed> {
    let since = run.host.clock.now();
    let passed = tokio::select! {
        biased;
        () = run.until(|run| run.is_cancelled().then_some(())) => return None,
        passed = gates.pass() => passed,
    };
    metrics::queued(run.host.clock.now().since(since));
    Some(passed)
}

async fn finish(run: Arc<Run>, settlement: Settlement, reply: Option<oneshot::Sender<Settlement>>) {
    let settlement = within(&run.host.limits, settlement);
    match reply {
        Some(reply) if run.end_inline() => {
            // An error means that the caller has gone.
            let _ = reply.send(settlement);
        }
        _ => settle(&run, settlement).await,
    }
}

async fn settle(run: &Run, settlement: Settlement) {
    let span = tracing::debug_span!("task.settle", task_id = %run.id);
    match run.commit(&Mutation::Settle(settlement)).instrument(span).await {
        Ok(record) => {
            metrics::settled(record.status(), 1);
            tracing::debug!(task_id = %run.id, status = ?record.status(), "task settled");
        }
        Err(refusal) => tracing::info!(task_id = %run.id, %refusal, "the end of a tool came too late"),
    }
}

/// The settlement, if what it carries is small enough to keep (SEC-04). The message of an error is a status message, and
/// is cut like one that is too long; the error itself has it whole.
fn within(limits: &Limits, settlement: Settlement) -> Settlement {
    let limit = limits.result_bytes;
    match settlement {
        Settlement::Completed(result) if result.len() > limit => too_large(limit),
        Settlement::Failed(failure) => match *failure {
            Failure::Reported { error, .. } if error.len() > limit => too_large(limit),
            Failure::Reported { error, message } => {
                let message = cut(message, limits.status_message_bytes);
                Settlement::failed(Failure::Reported { error, message })
            }
            other => Settlement::failed(other),
        },
        other => other,
    }
}

fn too_large(limit: usize) -> Settlement {
    Settlement::failed(Failure::ResultTooLarge { limit })
}

/// The beginning of a text, no longer than `limit` bytes.
fn cut(text: Arc<str>, limit: usize) -> Arc<str> {
    if text.len() <= limit { text } else { text[..text.floor_char_boundary(limit)].into() }
}

type Panic = Box<dyn Any + Send>;

/// A tool's future, whose panics are caught: of its start, of its course and of its drop (ERR-03).
struct Tool(Option<BoxFuture<'static, Settlement>>);

impl Tool {
    fn start(work: Work, task: TaskContext) -> Result<Self, Panic> {
        catch_unwind(AssertUnwindSafe(|| (work.0)(task))).map(|body| Self(Some(body)))
    }
}

impl Future for Tool {
    type Output = Result<Settlement, Panic>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(body) = &mut self.0 else { return Poll::Pending };
        match catch_unwind(AssertUnwindSafe(|| body.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(settlement)) => Poll::Ready(Ok(settlement)),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        let body = self.0.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(body))) {
            tracing::error!(panic = panic_text(&*panic), "a tool panicked while it was dropped");
        }
    }
}

/// What a panic ends the task with. What it said goes to the log alone (ERR-02).
fn panicked(run: &Run, panic: &(dyn Any + Send)) -> Settlement {
    tracing::error!(task_id = %run.id, panic = panic_text(panic), "a tool panicked");
    Settlement::failed(Failure::Panicked)
}

pub(super) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let literal = panic.downcast_ref::<&str>().copied();
    literal.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

#[cfg(test)]
mod tests {
    use std::mem::size_of_val;

    use bytes::Bytes;

    use super::*;
    use crate::{
        clock::ManualClock,
        engine::{Host, runs::Runs},
        principal::Principal,
        store::memory::MemoryStore,
        task::{NewTask, Target},
        task_id::TaskId,
    };

    /// The future of a running task is held once for each of perhaps a million: it stays small.
    #[test]
    fn driving_a_tool_takes_little_room() {
        let clock = Arc::new(ManualClock::default());
        let store = Arc::new(MemoryStore::new(clock.clone()));
        let host = Arc::new(Host { store, clock, limits: Limits::default() });
        let task = NewTask::new(Principal::local(), Arc::new(Target::new("m", "t", "")), Bytes::new());
        let listed = Arc::new(Runs::default()).enter(Run::of_task(&host, TaskId::from_bits(1), &task));
        let gates = Gates { tool: None, engine: Gate::new(1) };
        let work = Work::new(|_| std::future::pending());
        let driving = Drive::new(listed.expect("the door is open"), gates, work, None);
        assert!(size_of_val(&driving) <= 96, "{} bytes", size_of_val(&driving));
        assert!(size_of::<Run>() <= 200, "{} bytes", size_of::<Run>());
    }
}
