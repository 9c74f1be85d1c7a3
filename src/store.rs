//! `TaskStore`: where tasks are kept, and the contract that every store keeps.
//!
//! # Contract
//! - **What a task becomes is decided in [`task`](crate::task), not here.** A store reads a record, lets
//!   [`TaskRecord::at`] and [`TaskRecord::after`] say what it becomes, and writes that if the record is still the one it
//!   read. Each call changes one task in one atomic step; `create` counts the quota in the same step.
//! - **Durable before answered.** When a call returns `Ok`, what it did survives whatever the store survives (NEW-01),
//!   and every later call, from any node, sees it.
//! - **Time is the store's.** It has one clock for creation, time to live and leases. A task whose time has come is read
//!   as such before any [`reap`](TaskStore::reap), and never again as it was before, even if the clock steps back (GET-05).
//! - **Fenced.** A worker's write names its epoch. It is refused once the task has settled or the epoch is no longer the
//!   newest, which it ceases to be with each claim and with each lease that ran out (TSK-08).
//! - **Safe to repeat.** Every call may be made again with the same arguments; what it already did, it does not do twice.
//!   That is how an [`StoreError::Ambiguous`] write is settled.
//! - **Hints are hints.** They may be lost, doubled, late and out of order. Whoever relies on a change reads again, and
//!   asks for [`revs`](TaskStore::revs) now and then.
//! - **One task a key.** A principal's tasks differ in their [`IdempotencyKey`](crate::task::IdempotencyKey): `create` with
//!   a key that a task of the principal has, and that is not gone, returns that task, whatever its id.
//! - **No listing.** No call finds a task without its id, save for workers that look for work (SEC-03). What an operator
//!   may see is a trait of its own, [`AdminStore`].
//! - **Cost.** No call but a repeated `reap` may take time in proportion to the number of tasks held.
//!
//! A store does not check principals: the engine does, on the record that `get` returns (SEC-02).
//!
//! Every future may be dropped before it is ready; the call then has happened or not, as with an ambiguous write.

pub mod admin;
#[cfg(feature = "test-support")]
pub mod conformance;
#[cfg(feature = "test-support")]
pub mod faulty;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) mod row;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(crate) mod seal;
#[cfg(feature = "sqlite")]
pub mod sqlite;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::sync::broadcast;

pub use self::admin::AdminStore;
#[cfg(all(feature = "encryption", any(feature = "sqlite", feature = "postgres")))]
pub use self::seal::{InvalidKeyId, Keyring};
pub use crate::error::{QuotaExceeded, StoreError};
use crate::{
    clock::BoxFuture,
    input::InputKey,
    limits::Quota,
    task::{Epoch, Mutation, NewTask, Refusal, Rev, Target, TaskRecord},
    task_id::TaskId,
};

/// A future of a store call.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// One process that runs tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WorkerId(pub u64);

/// The right to run a task for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Who holds it.
    pub worker: WorkerId,
    /// How long, from the call on, on the store's clock.
    pub period: Duration,
}

/// What a write did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// The task as it stands after the write, whether or not that changed it.
    Stands(Arc<TaskRecord>),
    /// The write was refused, and nothing changed.
    Refused(Refusal),
}

/// What [`TaskStore::renew`] found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Renewed {
    /// Tasks that the worker may no longer run: settled, gone, or run by somebody else.
    pub lost: Vec<(TaskId, Epoch)>,
    /// Tasks whose cancellation was requested.
    pub cancel_requested: Vec<(TaskId, Epoch)>,
}

/// What [`TaskStore::reap`] did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reaped {
    /// Tasks that failed by their time to live.
    pub expired: Vec<TaskId>,
    /// Tasks whose lease had run out: they failed, were cancelled, or can be claimed.
    pub abandoned: Vec<TaskId>,
    /// How many tasks are gone.
    pub removed: usize,
    /// Whether it stopped at its limit: call again.
    pub more: bool,
}

/// A task has changed, and is now at `rev` or later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    /// Which task.
    pub id: TaskId,
    /// Where it was when the hint was given.
    pub rev: Rev,
}

/// What a store says of changes, and [`Hints::next`] hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// A hint.
    Hint(Hint),
    /// That an open task was let go: whoever looks for work looks now. It may be left out, for they look now and then.
    Claimable,
    /// That hints were lost, or that the store cannot tell which task has changed: it may be any, and one may be claimable.
    Missed,
}

/// The hints of a store from the moment of [`TaskStore::watch`] on.
#[derive(Debug)]
pub struct Hints(broadcast::Receiver<Heard>);

impl Hints {
    /// The hints that arrive at `receiver`. Its capacity bounds what a slow reader can make the store hold (case 43).
    pub fn new(receiver: broadcast::Receiver<Heard>) -> Self {
        Self(receiver)
    }

    /// The next hint; `None` once the store is gone. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Heard> {
        match self.0.recv().await {
            Ok(heard) => Some(heard),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(Heard::Missed),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// The calls of a [`TaskStore`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// [`TaskStore::create`].
    Create,
    /// [`TaskStore::get`].
    Get,
    /// [`TaskStore::respond`].
    Respond,
    /// [`TaskStore::request_cancel`].
    RequestCancel,
    /// [`TaskStore::claim`].
    Claim,
    /// [`TaskStore::renew`].
    Renew,
    /// [`TaskStore::commit`].
    Commit,
    /// [`TaskStore::input`].
    Input,
    /// [`TaskStore::reap`].
    Reap,
    /// [`TaskStore::revs`].
    Revs,
}

/// Keeps tasks. See the [module](self) for the contract of all calls.
pub trait TaskStore: Send + Sync + 'static {
    /// Creates the task `id`, open, and with a `lease` claims it in the same step. If there already is a task of that
    /// id, or one of the same principal with the same idempotency key, it is returned as it stands, and nothing changes.
    ///
    /// # Errors
    /// [`StoreError::QuotaExceeded`] if a task more would break `quota`.
    fn create<'a>(
        &'a self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &'a Quota,
    ) -> StoreFuture<'a, Arc<TaskRecord>>;

    /// The task as it stands now; `None` if it is gone or never was. Changes nothing a client can see (GET-01).
    fn get(&self, id: TaskId) -> StoreFuture<'_, Option<Arc<TaskRecord>>>;

    /// Takes answers of the client. The first answer a key wins; keys that are not outstanding are ignored (UPD-02,
    /// UPD-06). Refused only if the task is gone: a settled one ignores every key.
    fn respond<'a>(&'a self, id: TaskId, responses: &'a [(InputKey, Bytes)]) -> StoreFuture<'a, Written>;

    /// Takes the client's wish to cancel. Refused only if the task is gone; a settled one stays as it is (CAN-03).
    fn request_cancel(&self, id: TaskId) -> StoreFuture<'_, Written>;

    /// Takes up to `limit` open tasks of these targets that nobody holds, oldest first, and leases them.
    fn claim<'a>(
        &'a self,
        lease: Lease,
        targets: &'a [Arc<Target>],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>>;

    /// Prolongs the leases of all these tasks, from now on, and says which are lost and which shall be cancelled.
    fn renew<'a>(&'a self, lease: Lease, held: &'a [(TaskId, Epoch)]) -> StoreFuture<'a, Renewed>;

    /// Makes a worker's write, if the task is open and `epoch` its newest.
    fn commit<'a>(&'a self, id: TaskId, epoch: Epoch, mutation: &'a Mutation) -> StoreFuture<'a, Written>;

    /// The answer to `key`; `None` as long as there is none. For the worker that waits for it.
    fn input<'a>(&'a self, id: TaskId, key: &'a InputKey) -> StoreFuture<'a, Option<Bytes>>;

    /// Looks at up to `limit` tasks whose time to live or lease may have run out, and deals with those.
    fn reap(&self, limit: usize) -> StoreFuture<'_, Reaped>;

    /// Hints of changes, from now on, of all tasks.
    fn watch(&self) -> Hints;

    /// Where each of these tasks is; those that are gone are left out.
    fn revs<'a>(&'a self, ids: &'a [TaskId]) -> StoreFuture<'a, Vec<(TaskId, Rev)>>;
}
