//! The clauses of the contract, an example each. Every one is run on a fresh store, on two connections.

mod cancel;
mod claims;
mod creation;
mod hints;
mod input;
mod leases;
mod time;
mod writes;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{Harness, Subject, block_on};
use crate::{
    clock::BoxFuture,
    input::{InputKey, Question},
    limits::Quota,
    principal::Principal,
    store::{Lease, StoreError, StoreFuture, TaskStore, WorkerId, Written},
    task::{Mutation, NewTask, OnCancel, OnRestart, Refusal, Settlement, Target, TaskRecord, TaskStatus},
    task_id::TaskId,
};

/// A clause of the contract, and the example that shows it.
struct Clause {
    name: &'static str,
    example: fn(World) -> BoxFuture<'static, ()>,
}

/// The clauses of these names; each is the name of an async fn of a [`World`].
macro_rules! clauses {
    ($($name:ident),* $(,)?) => {
        pub(super) const CLAUSES: &[super::Clause] =
            &[$(super::Clause { name: stringify!($name), example: |world| Box::pin($name(world)) }),*];
    };
}
use clauses;

/// Shows each clause of the contract on a store of its own.
///
/// # Panics
/// If a clause does not hold. The clause stands on standard error before its example runs, and what did not hold in the
/// message.
pub fn examples(harness: &dyn Harness) {
    for clause in all() {
        eprintln!("store contract: {}", clause.name.replace('_', " "));
        block_on(async { (clause.example)(World::new(harness).await).await });
    }
}

fn all() -> impl Iterator<Item = &'static Clause> {
    let files = [
        creation::CLAUSES,
        writes::CLAUSES,
        input::CLAUSES,
        cancel::CLAUSES,
        claims::CLAUSES,
        leases::CLAUSES,
        time::CLAUSES,
        hints::CLAUSES,
    ];
    files.into_iter().flatten()
}

/// How long leases are here.
const PERIOD: Duration = Duration::from_secs(600);
const LEASE: Lease = Lease { worker: WorkerId(1), period: PERIOD };
const OTHER: Lease = Lease { worker: WorkerId(2), period: PERIOD };
/// How long tasks live here unless they say otherwise, and how long they stay readable after that.
const TTL: Duration = Duration::from_secs(3600);
const GRACE: Duration = Duration::from_secs(300);
/// The least step that changes what a store sees, whatever its drift.
const STEP: Duration = Duration::from_secs(60);

/// A fresh store and two connections to it.
struct World {
    subject: Box<dyn Subject>,
    here: Arc<dyn TaskStore>,
    there: Arc<dyn TaskStore>,
}

impl World {
    async fn new(harness: &dyn Harness) -> Self {
        Self::opened(harness.fresh().await).await
    }

    async fn opened(subject: Box<dyn Subject>) -> Self {
        let (here, there) = (subject.open().await, subject.open().await);
        Self { subject, here, there }
    }

    /// Closes all connections and opens new ones.
    async fn reopened(self) -> Self {
        let Self { subject, here, there } = self;
        drop((here, there));
        Self::opened(subject).await
    }

    async fn advance(&self, step: Duration) {
        self.subject.advance(step).await;
    }

    async fn create(&self, bits: u128, task: NewTask, lease: Option<Lease>) -> Arc<TaskRecord> {
        works(self.here.create(TaskId::from_bits(bits), task, lease, &Quota::UNLIMITED)).await
    }

    /// A claimed task that may run again.
    async fn running(&self, bits: u128) -> Arc<TaskRecord> {
        self.create(bits, task(), Some(LEASE)).await
    }

    /// The task, as the other connection sees it.
    async fn get(&self, record: &TaskRecord) -> Option<Arc<TaskRecord>> {
        works(self.there.get(record.id)).await
    }

    async fn status(&self, record: &TaskRecord) -> Option<TaskStatus> {
        self.get(record).await.map(|record| record.status())
    }

    async fn commit(&self, record: &TaskRecord, mutation: &Mutation) -> Written {
        works(self.here.commit(record.id, record.epoch, mutation)).await
    }

    /// A commit that must not be refused.
    async fn changed(&self, record: &TaskRecord, mutation: &Mutation) -> Arc<TaskRecord> {
        stands(self.commit(record, mutation).await)
    }

    async fn respond(&self, record: &TaskRecord, answers: &[(&str, &str)]) -> Written {
        let answers: Vec<_> =
            answers.iter().map(|(key, text)| (InputKey::new(*key), Bytes::copy_from_slice(text.as_bytes()))).collect();
        works(self.there.respond(record.id, &answers)).await
    }

    async fn input(&self, record: &TaskRecord, key: &str) -> Option<Bytes> {
        works(self.here.input(record.id, &InputKey::new(key))).await
    }

    /// Reaps until there is nothing more; says which tasks were abandoned.
    async fn reap(&self) -> Vec<TaskId> {
        let mut abandoned = Vec::new();
        for _ in 0..1000 {
            let reaped = works(self.there.reap(100)).await;
            abandoned.extend(reaped.abandoned);
            if !reaped.more {
                return abandoned;
            }
        }
        panic!("reap: there is always more");
    }
}

/// The outcome of a call that must work. One that is ambiguous would have to be made again, and here none should be.
async fn works<T>(call: StoreFuture<'_, T>) -> T {
    call.await.unwrap_or_else(|error: StoreError| panic!("a call failed: {error:?}"))
}

#[track_caller]
fn stands(written: Written) -> Arc<TaskRecord> {
    match written {
        Written::Stands(record) => record,
        Written::Refused(refusal) => panic!("the write was refused: {refusal}"),
    }
}

#[track_caller]
fn refused(written: Written, expected: Refusal) {
    assert_eq!(written, Written::Refused(expected));
}

/// A task that may run twice.
fn task() -> NewTask {
    let target = Arc::new(Target::new("tools/call", "tool", "1"));
    NewTask {
        ttl: Some(TTL),
        grace: GRACE,
        on_restart: OnRestart::Rerun { max_attempts: 2 },
        ..NewTask::new(Principal::new("alice"), target, Bytes::from_static(b"{\"a\":1}"))
    }
}

/// A task that runs at most once.
fn once() -> NewTask {
    NewTask { on_restart: OnRestart::Fail, ..task() }
}

fn signalled() -> NewTask {
    NewTask { on_cancel: OnCancel::Signal, ..task() }
}

fn ask(name: &str) -> Mutation {
    Mutation::Ask(Question { name: name.into(), ordinal: 1, request: Bytes::from_static(b"{}") })
}

fn report(message: &str) -> Mutation {
    Mutation::Report { status_message: Some(message.into()), progress: None }
}

fn complete(result: &'static str) -> Mutation {
    Mutation::Settle(Settlement::Completed(Bytes::from_static(result.as_bytes())))
}

fn ids(records: &[Arc<TaskRecord>]) -> Vec<u128> {
    records.iter().map(|record| record.id.to_bits()).collect()
}
