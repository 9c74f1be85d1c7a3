//! Creating a task: stored before its tool starts, started once, and found again by the key of its call.

use std::{sync::Arc, time::Duration};

use tracing::Instrument;

use crate::{
    clock::BoxFuture,
    context::detach,
    engine::{
        Call, Core, Engine, Promotion, Ran, TaskWatch,
        drive::start,
        metrics,
        run::{Host, Run},
        watch::Watch,
    },
    error::{EngineError, LimitExceeded, StoreError},
    store::{Lease, Written},
    task::{Epoch, IdempotencyKey, NewTask, TaskRecord, TaskState, TaskStatus},
    task_id::TaskId,
};

/// The epoch of a task that was created with a lease, for as long as the lease was not lost.
const FIRST: Epoch = Epoch(1);
/// The first and the longest pause before a store is asked again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// What became of a call that is to be a task.
pub(super) enum Created {
    /// A task, whose tool has been started.
    Started(Arc<TaskRecord>),
    /// The task that an earlier call with the same key made, or one whose lease was lost before its tool could start.
    Found(Arc<TaskRecord>),
}

impl Created {
    pub fn record(self) -> Arc<TaskRecord> {
        match self {
            Self::Started(record) | Self::Found(record) => record,
        }
    }
}

impl Engine {
    pub(super) fn check(&self, task: &NewTask) -> Result<(), LimitExceeded> {
        let (size, limit) = (task.arguments.len(), self.core.host.limits.argument_bytes);
        if size > limit { Err(LimitExceeded::Arguments { size, limit }) } else { Ok(()) }
    }

    /// Creates the task of a call, or finds it by its key. A call with a key is made to be asked for again when its client
    /// was lost: it goes on if its request is dropped meanwhile.
    pub(super) async fn create_task(&self, id: TaskId, call: Call) -> Result<Created, EngineError> {
        if call.task.key.is_none() {
            return self.create_now(id, call).await;
        }
        let engine = self.clone();
        let creating = tokio::spawn(async move { engine.create_now(id, call).await }.in_current_span());
        // It ends without a result only with its runtime.
        creating.await.unwrap_or(Err(EngineError::ShuttingDown))
    }

    async fn create_now(&self, id: TaskId, call: Call) -> Result<Created, EngineError> {
        self.check(&call.task)?;
        // Listed before it is stored, so that no cancellation passes between the two (case 1).
        let run = Run::of_task(&self.core.host, id, &call.task);
        let listed = self.core.runs.enter(run).ok_or(EngineError::ShuttingDown)?;
        let key = call.task.key.clone();
        let mut creation = Creation::of(&self.core, id, call.task);
        let record = creation.stored().await?;
        if record.id != id {
            return same_call(key, &record).map(|()| Created::Found(record));
        }
        if !is_ours(&record) {
            creation.keep();
            return Ok(Created::Found(record));
        }
        metrics::created();
        if self.core.take_up(&listed.run, &record).await {
            start(listed, self.gates(call.gate), call.work, None);
        }
        creation.keep();
        Ok(Created::Started(record))
    }

    /// A call that has a key and may stay inside the request: its task is there before its tool starts, so that the key is
    /// taken, and the caller waits for the tool's end as long as it would have without (case 45). A call whose key is taken
    /// does not wait.
    pub(super) async fn run_keyed(&self, call: Call, promotion: Promotion) -> Result<Ran, EngineError> {
        match self.create_task(TaskId::random()?, call).await? {
            Created::Found(record) => Ok(Ran::Promoted(record)),
            Created::Started(record) => self.wait_for_end(record, promotion).await,
        }
    }

    /// Waits until the task has ended or asks something, and no longer than a promotion would have waited.
    async fn wait_for_end(&self, mut record: Arc<TaskRecord>, promotion: Promotion) -> Result<Ran, EngineError> {
        let (host, watchers) = (Arc::clone(&self.core.host), Arc::clone(&self.core.watchers));
        let Ok(mut watch) = Watch::open(host, watchers, &record.principal, &[record.id]).await else {
            // The task is there and runs, whatever has become of the store.
            return Ok(Ran::Promoted(record));
        };
        let over = self.time_inline(promotion);
        tokio::pin!(over);
        loop {
            if let TaskState::Settled(settlement) = &record.state {
                return Ok(Ran::Finished(settlement.clone()));
            }
            if record.status() == TaskStatus::InputRequired {
                return Ok(Ran::Promoted(record));
            }
            let next = tokio::select! {
                biased;
                next = watch.next() => next,
                () = &mut over => None,
            };
            match next {
                Some(next) => record = next,
                None => return Ok(Ran::Promoted(record)),
            }
        }
    }
}

/// The storing of a task for a request that may be dropped meanwhile. What a store has begun it may carry out all the same,
/// so a creation that is dropped before it is [kept](Self::keep) is carried on beside, and then called off: nothing is left
/// that would run after a restart and that nobody knows of (CAN-04).
///
/// A task with a key is not called off: its client may have asked again, and been given it by another node.
pub(super) struct Creation {
    host: Arc<Host>,
    id: TaskId,
    /// The write, until it is done.
    writing: Option<BoxFuture<'static, Result<Arc<TaskRecord>, EngineError>>>,
    /// What is stored belongs to nobody if this is dropped.
    forsaken: bool,
}

impl Creation {
    pub fn of(core: &Core, id: TaskId, task: NewTask) -> Self {
        let host = Arc::clone(&core.host);
        let forsaken = task.key.is_none();
        let writing = Box::pin(store_leased(Arc::clone(&host), core.lease, id, task));
        Self { host, id, writing: Some(writing), forsaken }
    }

    /// Resolves once the task is stored, or is known not to be. For one caller.
    pub async fn stored(&mut self) -> Result<Arc<TaskRecord>, EngineError> {
        let Some(writing) = &mut self.writing else { return std::future::pending().await };
        let stored = writing.await;
        self.writing = None;
        self.forsaken &= stored.is_ok();
        stored
    }

    /// The task has been started, or is left as it stands.
    pub fn keep(mut self) {
        self.forsaken = false;
    }
}

impl Drop for Creation {
    fn drop(&mut self) {
        if !self.forsaken {
            return;
        }
        let (host, id, writing) = (Arc::clone(&self.host), self.id, self.writing.take());
        detach(async move {
            if let Some(writing) = writing
                && writing.await.is_err()
            {
                return;
            }
            call_off(host, id).await;
        });
    }
}

/// Stores a task that this engine holds. A store that does not say whether it did is asked again until it does, for the
/// time of a lease; if it says nothing until then, the task is called off as soon as it can be, so that nothing runs that
/// was said not to exist (NEW-03). A task with a key is left to its lease: its client may have asked again in the meantime,
/// and been given it by another node.
async fn store_leased(
    host: Arc<Host>,
    lease: Lease,
    id: TaskId,
    task: NewTask,
) -> Result<Arc<TaskRecord>, EngineError> {
    let Host { store, clock, limits } = &*host;
    let give_up = clock.now().plus(lease.period);
    let (mut in_doubt, (mut pause, longest)) = (false, PAUSES);
    loop {
        let error = match store.create(id, task.clone(), Some(lease), &limits.quota).await {
            Ok(record) => return Ok(record),
            Err(error) => error,
        };
        in_doubt |= matches!(error, StoreError::Ambiguous { .. });
        if !in_doubt || matches!(error, StoreError::QuotaExceeded(_)) {
            return Err(error.into());
        }
        if clock.now() >= give_up {
            if task.key.is_none() {
                tokio::spawn(call_off(Arc::clone(&host), id));
            }
            return Err(error.into());
        }
        tracing::warn!(task_id = %id, error = &error as &dyn std::error::Error, "it is not known whether a task was stored");
        clock.sleep_until(clock.now().plus(pause)).await;
        pause = (pause * 2).min(longest);
    }
}

impl Core {
    /// Makes the run that of a task that was just stored. False if the engine has shut down meanwhile: then the task is let
    /// go at once, and not started here.
    pub(super) async fn take_up(&self, run: &Run, record: &TaskRecord) -> bool {
        run.became_task(record);
        let revoked = run.is_revoked();
        if revoked {
            self.release(record.id, record.epoch).await;
        }
        !revoked
    }
}

/// Whether the task was just created, and its lease is still the one that it was created with.
pub(super) fn is_ours(record: &TaskRecord) -> bool {
    record.epoch == FIRST && !record.is_settled()
}

/// Makes sure that a task that was found by its key is that of the same call.
fn same_call(key: Option<IdempotencyKey>, found: &TaskRecord) -> Result<(), EngineError> {
    match key {
        Some(key) if found.key.as_ref() != Some(&key) => Err(EngineError::KeyTaken { key: key.text }),
        _ => Ok(()),
    }
}

/// Cancels a task that may have been stored, once the store can say so.
async fn call_off(host: Arc<Host>, id: TaskId) {
    let (mut pause, longest) = PAUSES;
    loop {
        match host.store.request_cancel(id).await {
            Ok(Written::Stands(_)) => return tracing::warn!(task_id = %id, "a task that was given up had been stored"),
            Ok(Written::Refused(_)) => return,
            Err(_) => host.clock.sleep_until(host.clock.now().plus(pause)).await,
        }
        pause = (pause * 2).min(longest);
    }
}
