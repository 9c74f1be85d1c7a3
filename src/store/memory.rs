//! `MemoryStore`: tasks in the memory of this process, gone with it.
//!
//! One lock over hash maps and ordered indexes; it is held for the time of a few look-ups and never across an await. A
//! read takes the record out as an `Arc`: nothing of it is copied, however large its result. No call scans the tasks.

mod admin;
mod agenda;
mod tables;

use std::{
    fmt, future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;

use self::tables::Tables;
use crate::{
    clock::Clock,
    input::{InputKey, InputState},
    limits::Quota,
    store::{Hints, Lease, Reaped, Renewed, StoreError, StoreFuture, TaskStore, Written},
    task::{Epoch, Event, Mutation, NewTask, Rev, Target, TaskRecord},
    task_id::TaskId,
};

/// Keeps tasks in memory. See [`TaskStore`] for the contract; what it survives is nothing but dropped futures.
pub struct MemoryStore {
    clock: Arc<dyn Clock>,
    tables: Mutex<Tables>,
}

impl MemoryStore {
    /// An empty store on this clock.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, tables: Mutex::new(Tables::new()) }
    }

    /// How many tasks it holds, settled ones included.
    pub fn len(&self) -> usize {
        self.tables().len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tables stay whole if a holder panics: every change is made after the decisions that could fail.
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `event` happen to the task.
    fn happen(&self, id: TaskId, event: &Event<'_>) -> Written {
        self.tables().happen(id, event, self.clock.now())
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("len", &self.len()).finish_non_exhaustive()
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> StoreFuture<'a, T> {
    Box::pin(future::ready(Ok(value)))
}

impl TaskStore for MemoryStore {
    fn create<'a>(
        &'a self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &'a Quota,
    ) -> StoreFuture<'a, Arc<TaskRecord>> {
        let created = self.tables().create(id, task, lease, quota, self.clock.now());
        Box::pin(future::ready(created.map_err(StoreError::QuotaExceeded)))
    }

    fn get(&self, id: TaskId) -> StoreFuture<'_, Option<Arc<TaskRecord>>> {
        ready(self.tables().current(id, self.clock.now()))
    }

    fn respond<'a>(&'a self, id: TaskId, responses: &'a [(InputKey, Bytes)]) -> StoreFuture<'a, Written> {
        ready(self.happen(id, &Event::Respond(responses)))
    }

    fn request_cancel(&self, id: TaskId) -> StoreFuture<'_, Written> {
        ready(self.happen(id, &Event::RequestCancel))
    }

    fn claim<'a>(
        &'a self,
        lease: Lease,
        targets: &'a [Arc<Target>],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        ready(self.tables().claim(lease, targets, limit, self.clock.now()))
    }

    fn renew<'a>(&'a self, lease: Lease, held: &'a [(TaskId, Epoch)]) -> StoreFuture<'a, Renewed> {
        ready(self.tables().renew(lease, held, self.clock.now()))
    }

    fn commit<'a>(&'a self, id: TaskId, epoch: Epoch, mutation: &'a Mutation) -> StoreFuture<'a, Written> {
        ready(self.happen(id, &Event::Commit { epoch, mutation }))
    }

    fn input<'a>(&'a self, id: TaskId, key: &'a InputKey) -> StoreFuture<'a, Option<Bytes>> {
        let record = self.tables().current(id, self.clock.now());
        ready(record.and_then(|record| match &record.inputs().get(key.as_str())?.state {
            InputState::Answered { response } => Some(response.clone()),
            _ => None,
        }))
    }

    fn reap(&self, limit: usize) -> StoreFuture<'_, Reaped> {
        ready(self.tables().reap(limit, self.clock.now()))
    }

    fn watch(&self) -> Hints {
        self.tables().watch()
    }

    fn revs<'a>(&'a self, ids: &'a [TaskId]) -> StoreFuture<'a, Vec<(TaskId, Rev)>> {
        let (mut tables, now) = (self.tables(), self.clock.now());
        ready(ids.iter().filter_map(|id| tables.current(*id, now).map(|record| (*id, record.rev))).collect())
    }
}

#[cfg(test)]
mod tests;
