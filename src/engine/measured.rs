//! `Measured`: a store whose calls are timed, if anybody takes measurements.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;

use super::metrics;
use crate::{
    input::InputKey,
    limits::Quota,
    store::{Hints, Lease, Operation, Reaped, Renewed, StoreFuture, TaskStore, Written},
    task::{Epoch, Mutation, NewTask, Rev, Target, TaskRecord},
    task_id::TaskId,
};

/// Passes every call on. Where nobody takes measurements, that is all: no time is asked for and nothing allocated.
pub(super) struct Measured(pub Arc<dyn TaskStore>);

/// The same call, timed. Not on the engine's clock: a store call takes less than that tells.
fn timed<'a, T: Send + 'a>(call: Operation, made: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
    if !metrics::are_recorded() {
        return made;
    }
    Box::pin(async move {
        let started = Instant::now();
        let ended = made.await;
        metrics::stored(call, &ended, started.elapsed());
        ended
    })
}

impl TaskStore for Measured {
    fn create<'a>(
        &'a self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &'a Quota,
    ) -> StoreFuture<'a, Arc<TaskRecord>> {
        timed(Operation::Create, self.0.create(id, task, lease, quota))
    }

    fn get(&self, id: TaskId) -> StoreFuture<'_, Option<Arc<TaskRecord>>> {
        timed(Operation::Get, self.0.get(id))
    }

    fn respond<'a>(&'a self, id: TaskId, responses: &'a [(InputKey, Bytes)]) -> StoreFuture<'a, Written> {
        timed(Operation::Respond, self.0.respond(id, responses))
    }

    fn request_cancel(&self, id: TaskId) -> StoreFuture<'_, Written> {
        timed(Operation::RequestCancel, self.0.request_cancel(id))
    }

    fn claim<'a>(
        &'a self,
        lease: Lease,
        targets: &'a [Arc<Target>],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        timed(Operation::Claim, self.0.claim(lease, targets, limit))
    }

    fn renew<'a>(&'a self, lease: Lease, held: &'a [(TaskId, Epoch)]) -> StoreFuture<'a, Renewed> {
        timed(Operation::Renew, self.0.renew(lease, held))
    }

    fn commit<'a>(&'a self, id: TaskId, epoch: Epoch, mutation: &'a Mutation) -> StoreFuture<'a, Written> {
        timed(Operation::Commit, self.0.commit(id, epoch, mutation))
    }

    fn input<'a>(&'a self, id: TaskId, key: &'a InputKey) -> StoreFuture<'a, Option<Bytes>> {
        timed(Operation::Input, self.0.input(id, key))
    }

    fn reap(&self, limit: usize) -> StoreFuture<'_, Reaped> {
        timed(Operation::Reap, self.0.reap(limit))
    }

    fn watch(&self) -> Hints {
        self.0.watch()
    }

    fn revs<'a>(&'a self, ids: &'a [TaskId]) -> StoreFuture<'a, Vec<(TaskId, Rev)>> {
        timed(Operation::Revs, self.0.revs(ids))
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    /// Where the future that was made is kept, and where the one that is passed on is.
    fn passed_on() -> (*const (), *const ()) {
        let made: StoreFuture<'_, [u8; 32]> = Box::pin(ready(Ok([0; 32])));
        let before: *const () = (&raw const *made).cast();
        let after: *const () = (&raw const *timed(Operation::Get, made)).cast();
        (before, after)
    }

    /// Where nobody takes measurements the store's own future is passed on, and no other one is made.
    #[test]
    fn without_a_recorder_nothing_is_made() {
        let (before, after) = passed_on();
        assert_eq!(before, after);
        let recorder = PrometheusBuilder::new().build_recorder();
        let (before, after) = ::metrics::with_local_recorder(&recorder, passed_on);
        assert_ne!(before, after);
    }
}
