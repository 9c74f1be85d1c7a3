//! Leases, fencing, and tasks that outlive their worker: two engines on one store.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use mcp_tasks::{
    clock::ManualClock,
    engine::{Call, Engine, Gate, Recover, TaskEngine, Work},
    input::{InputKey, InputKind},
    limits::Quota,
    store::{Lease, TaskStore, WorkerId, Written, memory::MemoryStore},
    task::{Mutation, NewTask, OnRestart, Refusal, Settlement, Target, TaskRecord},
    task_id::TaskId,
};

use crate::support::*;

const LEASE: Duration = Duration::from_millis(200);

/// Two nodes on one store; which node ran the tool, in order.
struct Nodes {
    clock: ManualClock,
    store: Arc<MemoryStore>,
    engines: [Engine; 2],
    starts: Arc<Mutex<Vec<String>>>,
}

struct Again {
    node: usize,
    starts: Arc<Mutex<Vec<String>>>,
}

impl Recover for Again {
    fn targets(&self) -> Vec<Arc<Target>> {
        vec![new_task().target]
    }

    fn recover(&self, task: &TaskRecord) -> Option<(Work, Option<Gate>)> {
        assert_eq!(task.journal.arguments(), b"{}");
        Some((tool(self.node, &self.starts), None))
    }
}

/// Takes a step, asks, and ends with both.
fn tool(node: usize, starts: &Arc<Mutex<Vec<String>>>) -> Work {
    let starts = Arc::clone(starts);
    Work::new(move |task| async move {
        let note = |what: &str| starts.lock().expect("no panic").push(format!("{node}:{what}{}", task.attempt()));
        note("run");
        let step = task.step("step", async { note("step") }).await;
        if step.is_err() {
            return Settlement::Cancelled;
        }
        match task.ask(InputKind::Roots, "a", Bytes::from_static(b"{}")).await {
            Ok(answer) => Settlement::Completed(answer),
            Err(_) => Settlement::Cancelled,
        }
    })
}

impl Nodes {
    fn new() -> Self {
        let clock = ManualClock::default();
        let store = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
        let starts = Arc::<Mutex<Vec<String>>>::default();
        let engines = [0, 1].map(|node| {
            let recover = Arc::new(Again { node, starts: Arc::clone(&starts) });
            engine_on(store.clone(), &clock, |builder| builder.lease(LEASE).sweep_every(LEASE / 2).recover(recover))
        });
        Self { clock, store, engines, starts }
    }

    async fn create(&self, on_restart: OnRestart) -> TaskId {
        let task = NewTask { on_restart, ..new_task() };
        self.engines[0].create(Call::new(task, tool(0, &self.starts))).await.expect("created").id
    }

    async fn pass(&self, time: Duration) {
        for _ in 0..time.as_millis() / 10 {
            self.clock.advance(Duration::from_millis(10));
            settle_down().await;
        }
    }

    fn starts(&self) -> String {
        self.starts.lock().expect("no panic").join(" ")
    }

    async fn shown(&self, id: TaskId) -> String {
        show(&self.engines[1].get(&alice(), id).await.expect("the task is there"))
    }
}

/// Case 6: with renewal a tool that takes five leases runs once. The other node serves its task meanwhile.
#[tokio::test]
async fn a_renewed_lease_is_kept() {
    let nodes = Nodes::new();
    let id = nodes.create(OnRestart::Rerun { max_attempts: 3 }).await;
    nodes.pass(LEASE * 5).await;
    assert_eq!(nodes.shown(id).await, "input_required a");
    let answer = vec![(InputKey::new("a"), Bytes::from_static(b"1"))];
    nodes.engines[1].respond(&alice(), id, answer).await.expect("taken");
    settle_down().await;
    assert_eq!(nodes.shown(id).await, "completed 1");
    assert_eq!(nodes.starts(), "0:run1 0:step1");
}

/// CAN-02: a cancellation on one node stops the tool on another.
#[tokio::test]
async fn a_cancellation_crosses_nodes() {
    let nodes = Nodes::new();
    let id = nodes.create(OnRestart::Fail).await;
    settle_down().await;
    nodes.engines[1].cancel(&alice(), id).await.expect("taken");
    settle_down().await;
    assert_eq!((nodes.shown(id).await.as_str(), nodes.engines[0].running()), ("cancelled", 0));
}

/// Case 9: a node that shuts down gives its leases up, and the other goes on at once with the recorded step; the answer
/// that was given in between is delivered.
#[tokio::test]
async fn a_released_task_goes_on_elsewhere() {
    let nodes = Nodes::new();
    let id = nodes.create(OnRestart::Rerun { max_attempts: 3 }).await;
    settle_down().await;
    let engine = nodes.engines[0].clone();
    let shutdown = tokio::spawn(async move { engine.shutdown(Duration::ZERO).await });
    settle_down().await;
    assert_eq!(shutdown.await.expect("the shutdown ends"), 0);
    let answer = vec![(InputKey::new("a"), Bytes::from_static(b"1"))];
    nodes.engines[1].respond(&alice(), id, answer).await.expect("taken");
    nodes.pass(LEASE).await;
    assert_eq!(nodes.shown(id).await, "completed 1");
    assert_eq!(nodes.starts(), "0:run1 0:step1 1:run2");
}

/// Case 6, TSK-08: a worker that was frozen past its lease writes nothing any more; a task that must not run again has
/// failed and says so, another one runs elsewhere.
#[tokio::test]
async fn a_frozen_worker_is_fenced() {
    let nodes = Nodes::new();
    let frozen = Lease { worker: WorkerId(99), period: LEASE };
    let mut tasks = Vec::new();
    for (bits, on_restart) in [(1, OnRestart::Fail), (2, OnRestart::Rerun { max_attempts: 2 })] {
        let task = NewTask { on_restart, ..new_task() };
        let created = nodes.store.create(TaskId::from_bits(bits), task, Some(frozen), &Quota::UNLIMITED).await;
        tasks.push(created.expect("created"));
    }
    nodes.pass(LEASE * 2).await;
    assert_eq!(nodes.shown(tasks[0].id).await, "failed Interrupted");
    assert_eq!(nodes.shown(tasks[1].id).await, "input_required a");
    let end = Mutation::Settle(completed("late"));
    for (task, refusal) in tasks.iter().zip([Refusal::Settled, Refusal::Fenced]) {
        let written = nodes.store.commit(task.id, task.epoch, &end).await.expect("a memory store works");
        assert_eq!(written, Written::Refused(refusal));
    }
    assert_eq!(nodes.starts().matches("run2").count(), 1);
}

/// A worker that cannot renew for a whole lease stops its tools by itself.
#[tokio::test]
async fn a_worker_without_a_store_stops_itself() {
    let clock = ManualClock::default();
    let store = faulty(&clock);
    let engine = engine_on(store.clone(), &clock, |builder| builder.lease(LEASE));
    let drops = Drops::default();
    let guard = drops.guard();
    let work = Work::new(|_| async {
        let _guard = guard;
        std::future::pending().await
    });
    engine.create(Call::new(new_task(), work)).await.expect("created");
    settle_down().await;
    store.break_down(true);
    for (advanced, running) in [(LEASE / 2, 1), (LEASE / 4, 1), (LEASE, 0)] {
        clock.advance(advanced);
        settle_down().await;
        assert_eq!(engine.running(), running);
    }
    assert_eq!(drops.count(), 1);
}
