//! Writes that a store carries out though nobody waits for them any more, as one does that runs on a thread or a server of
//! its own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_tasks::{
    clock::ManualClock,
    context::TaskContext,
    engine::{Call, Engine, Gate, Promotion, Ran, Recover, TaskEngine, Work},
    input::{InputKey, InputKind},
    limits::Quota,
    store::{Hints, Lease, Operation, Reaped, Renewed, StoreFuture, TaskStore, Written, faulty::Fault},
    task::{Epoch, Mutation, NewTask, OnCancel, OnRestart, Rev, Target, TaskRecord},
    task_id::TaskId,
};

use crate::support::*;

const SECOND: Duration = Duration::from_secs(1);
const HALF: Duration = Duration::from_millis(500);
const LEASE: Duration = Duration::from_secs(6);

/// A store whose creations and commits go on when their futures are dropped.
struct Onward(Arc<Faulty>);

impl TaskStore for Onward {
    fn create<'a>(
        &'a self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &'a Quota,
    ) -> StoreFuture<'a, Arc<TaskRecord>> {
        let (store, quota) = (Arc::clone(&self.0), *quota);
        let creating = tokio::spawn(async move { store.create(id, task, lease, &quota).await });
        Box::pin(async move { creating.await.expect("no panic") })
    }

    fn commit<'a>(&'a self, id: TaskId, epoch: Epoch, mutation: &'a Mutation) -> StoreFuture<'a, Written> {
        let (store, mutation) = (Arc::clone(&self.0), mutation.clone());
        let committing = tokio::spawn(async move { store.commit(id, epoch, &mutation).await });
        Box::pin(async move { committing.await.expect("no panic") })
    }

    fn get(&self, id: TaskId) -> StoreFuture<'_, Option<Arc<TaskRecord>>> {
        self.0.get(id)
    }

    fn respond<'a>(&'a self, id: TaskId, responses: &'a [(InputKey, Bytes)]) -> StoreFuture<'a, Written> {
        self.0.respond(id, responses)
    }

    fn request_cancel(&self, id: TaskId) -> StoreFuture<'_, Written> {
        self.0.request_cancel(id)
    }

    fn claim<'a>(
        &'a self,
        lease: Lease,
        targets: &'a [Arc<Target>],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        self.0.claim(lease, targets, limit)
    }

    fn renew<'a>(&'a self, lease: Lease, held: &'a [(TaskId, Epoch)]) -> StoreFuture<'a, Renewed> {
        self.0.renew(lease, held)
    }

    fn input<'a>(&'a self, id: TaskId, key: &'a InputKey) -> StoreFuture<'a, Option<Bytes>> {
        self.0.input(id, key)
    }

    fn reap(&self, limit: usize) -> StoreFuture<'_, Reaped> {
        self.0.reap(limit)
    }

    fn watch(&self) -> Hints {
        self.0.watch()
    }

    fn revs<'a>(&'a self, ids: &'a [TaskId]) -> StoreFuture<'a, Vec<(TaskId, Rev)>> {
        self.0.revs(ids)
    }
}

/// Runs every lost task again, and counts how often a tool is started.
#[derive(Clone, Default)]
struct Starts(Arc<AtomicUsize>);

impl Starts {
    fn work(&self) -> Work {
        let starts = Arc::clone(&self.0);
        Work::new(move |_| async move {
            starts.fetch_add(1, Ordering::SeqCst);
            std::future::pending().await
        })
    }
}

impl Recover for Starts {
    fn targets(&self) -> Vec<Arc<Target>> {
        vec![new_task().target]
    }

    fn recover(&self, _: &TaskRecord) -> Option<(Work, Option<Gate>)> {
        Some((self.work(), None))
    }
}

struct Rig {
    clock: ManualClock,
    store: Arc<Faulty>,
    engine: Engine,
    starts: Starts,
}

impl Rig {
    fn new() -> Self {
        let clock = ManualClock::default();
        let (store, starts) = (faulty(&clock), Starts::default());
        let onward = Arc::new(Onward(Arc::clone(&store)));
        let engine = engine_on(onward, &clock, |builder| builder.lease(LEASE).recover(Arc::new(starts.clone())));
        Self { clock, store, engine, starts }
    }

    /// Moves the clock on, step by step.
    async fn pass(&self, time: Duration) {
        settle_down().await;
        for _ in 0..time.as_millis() / 50 {
            self.clock.advance(Duration::from_millis(50));
            settle_down().await;
        }
    }

    /// Makes a call of a tool that may run again, drops it after `patience`, and waits for what comes of it.
    async fn drop_call(&self, promotion: Option<Promotion>, on_cancel: OnCancel, patience: Duration) {
        let task = NewTask { on_restart: OnRestart::Rerun { max_attempts: 3 }, on_cancel, ..new_task() };
        let (engine, call) = (self.engine.clone(), Call::new(task, self.starts.work()));
        let made = tokio::spawn(async move {
            match promotion {
                Some(promotion) => engine.run(call, promotion, None).await.map(drop),
                None => engine.create(call).await.map(drop),
            }
        });
        self.pass(patience).await;
        assert!(!made.is_finished(), "the call is to be dropped while its task is stored");
        made.abort();
        self.pass(LEASE * 3).await;
    }
}

/// CAN-04, TSK-08: a call that is dropped while its task is being stored leaves nothing that runs later, whenever the store
/// does what it was told, and though the tool may run again after a restart.
#[tokio::test]
async fn a_dropped_call_leaves_no_task() {
    let faults = [Fault::Late(SECOND), Fault::Slow(SECOND), Fault::After];
    let ways = [(None, 0), (Some(Promotion::After(HALF)), 1)];
    for ((promotion, started), fault) in ways.into_iter().flat_map(|way| faults.map(|fault| (way, fault))) {
        for on_cancel in [OnCancel::Drop, OnCancel::Signal] {
            let rig = Rig::new();
            // Where the store does not say what it did, the call is dropped before it is asked again.
            let patience = match (promotion, fault) {
                (None, Fault::After) => Duration::ZERO,
                (None, _) | (Some(_), Fault::After) => HALF,
                (Some(_), _) => HALF * 2,
            };
            rig.store.script(Operation::Create, [Some(fault)]);
            rig.drop_call(promotion, on_cancel, patience).await;
            let starts = rig.starts.0.load(Ordering::SeqCst);
            assert_eq!(
                (rig.store.inner().len(), starts, rig.engine.running()),
                (1, started, 0),
                "{promotion:?} {fault:?}"
            );
        }
    }
}

async fn give_up_after(task: &TaskContext, patience: Duration) {
    tokio::select! {
        _ = task.ask(InputKind::Roots, "a", Bytes::from_static(b"{}")) => unreachable!("nobody answers"),
        () = task.sleep(patience) => {}
    }
}

/// Case 10: a question that is given up while it is on its way to the store is withdrawn, though the store takes it later.
#[tokio::test]
async fn a_question_given_up_on_its_way_is_withdrawn() {
    let rig = Rig::new();
    rig.store.script(Operation::Commit, [Some(Fault::Slow(SECOND))]);
    let work = Work::new(|task: TaskContext| async move {
        give_up_after(&task, HALF).await;
        std::future::pending().await
    });
    let id = rig.engine.create(Call::new(new_task(), work)).await.expect("created").id;
    rig.pass(SECOND * 2).await;
    let record = rig.engine.get(&alice(), id).await.expect("the task is there");
    assert_eq!(record.inputs().entries().len(), 1, "the store took the question");
    assert_eq!(show(&record), "working");
}

/// Case 10: a question that is given up before its call is a task is never put to the client.
#[tokio::test]
async fn a_question_given_up_before_the_task_is_not_asked() {
    let rig = Rig::new();
    rig.store.script(Operation::Create, [Some(Fault::Slow(SECOND))]);
    let work = Work::new(|task: TaskContext| async move {
        give_up_after(&task, HALF).await;
        std::future::pending().await
    });
    let engine = rig.engine.clone();
    let call = tokio::spawn(async move { engine.run(Call::new(new_task(), work), Promotion::WhenAsking, None).await });
    rig.pass(SECOND * 2).await;
    let Ok(Ran::Promoted(task)) = call.await.expect("no panic") else { panic!("it asked") };
    let record = rig.engine.get(&alice(), task.id).await.expect("the task is there");
    assert!(record.inputs().entries().is_empty());
}
