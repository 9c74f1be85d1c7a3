//! Several nodes on one store: what is done on one is seen on the others, with hints, with some, and without any.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_tasks::{
    clock::{BoxFuture, ManualClock},
    context::TaskContext,
    engine::{Call, Engine, Gate, Recover, TaskEngine, Work},
    error::EngineError,
    input::{InputKey, InputKind},
    limits::Quota,
    store::{Lease, Operation, TaskStore, WorkerId},
    task::{NewTask, OnRestart, Settlement, Target, TaskRecord},
    task_id::TaskId,
};

use crate::support::*;

const LEASE: Duration = Duration::from_secs(30);
const RERUN: OnRestart = OnRestart::Rerun { max_attempts: 3 };

/// Two nodes whose store has these hints.
struct Nodes {
    clock: ManualClock,
    store: Arc<Faulty>,
    engines: [Engine; 2],
}

impl Nodes {
    fn new(store: impl FnOnce(&ManualClock) -> Arc<Faulty>) -> Self {
        let clock = ManualClock::default();
        let store = store(&clock);
        let engines = [0, 1].map(|_| engine_on(store.clone(), &clock, |builder| builder));
        Self { clock, store, engines }
    }

    /// A task that the first node runs.
    async fn create<F, Fut>(&self, task: NewTask, body: F) -> TaskId
    where
        F: FnOnce(TaskContext) -> Fut + Send + 'static,
        Fut: Future<Output = Settlement> + Send + 'static,
    {
        let id = self.engines[0].create(Call::new(task, Work::new(body))).await.expect("created").id;
        settle_down().await;
        id
    }

    async fn shown(&self, id: TaskId) -> String {
        show(&self.engines[1].get(&alice(), id).await.expect("the task is there"))
    }
}

async fn ask(task: TaskContext) -> Settlement {
    match task.ask(InputKind::Roots, "a", Bytes::from_static(b"{}")).await {
        Ok(answer) => Settlement::Completed(answer),
        Err(_) => Settlement::Cancelled,
    }
}

fn answer() -> Vec<(InputKey, Bytes)> {
    vec![(InputKey::new("a"), Bytes::from_static(b"1"))]
}

/// UPD-06: an answer that another node takes reaches the tool at once, or, if the hint is lost, within two seconds.
#[tokio::test]
async fn an_answer_crosses_nodes() {
    let nodes = Nodes::new(faulty);
    let id = nodes.create(new_task(), ask).await;
    nodes.engines[1].respond(&alice(), id, answer()).await.expect("taken");
    settle_down().await;
    assert_eq!(nodes.shown(id).await, "completed 1");

    let nodes = Nodes::new(faulty_and_deaf);
    let id = nodes.create(new_task(), ask).await;
    nodes.engines[1].respond(&alice(), id, answer()).await.expect("taken");
    settle_down().await;
    assert_eq!(nodes.shown(id).await, "working");
    nodes.clock.advance(Duration::from_secs(2));
    settle_down().await;
    assert_eq!(nodes.shown(id).await, "completed 1");
}

/// CAN-02, UPD-06: a store that says only that something has changed, as one of several processes on a file does, is enough:
/// answers and cancellations reach the tools that run here at once; tools about which nothing is new are not looked up.
#[tokio::test]
async fn a_store_that_knows_no_better_is_enough() {
    let nodes = Nodes::new(faulty_and_deaf);
    let answered = nodes.create(new_task(), ask).await;
    let dropped = nodes.create(new_task(), |_| std::future::pending()).await;
    let told = nodes
        .create(signalled(), |task| async move {
            task.cancelled().await;
            completed("told")
        })
        .await;
    let other = nodes.create(new_task(), |_| std::future::pending()).await;
    nodes.engines[1].respond(&alice(), answered, answer()).await.expect("taken");
    nodes.engines[1].cancel(&alice(), dropped).await.expect("taken");
    nodes.engines[1].cancel(&alice(), told).await.expect("taken");
    settle_down().await;
    assert_eq!(nodes.engines[0].running(), 4, "nobody has heard of it yet");
    let before = nodes.store.calls(Operation::Get);
    nodes.store.miss_hints();
    settle_down().await;
    assert_eq!(nodes.engines[0].running(), 1);
    assert_eq!(nodes.store.calls(Operation::Get) - before, 3);
    for (id, shown) in [(answered, "completed 1"), (dropped, "cancelled"), (told, "completed told"), (other, "working")]
    {
        assert_eq!(nodes.shown(id).await, shown);
    }
}

/// NOT-05: who listens on one node hears what happens on another, its end included, with and without hints.
#[tokio::test]
async fn listeners_hear_other_nodes() {
    for deaf in [false, true] {
        let nodes = Nodes::new(if deaf { faulty_and_deaf } else { faulty });
        let id = nodes.create(new_task(), ask).await;
        let mut watch = nodes.engines[1].watch(&alice(), vec![id]).await.expect("one id is not too many");
        let heard = tokio::spawn(async move {
            let mut heard = Vec::new();
            while let Some(record) = watch.next().await {
                heard.push(show(&record));
            }
            heard
        });
        settle_down().await;
        nodes.engines[0].respond(&alice(), id, answer()).await.expect("taken");
        settle_down().await;
        if deaf {
            nodes.store.miss_hints();
            settle_down().await;
        }
        let heard = heard.await.expect("it ends with the task");
        assert_eq!((heard[0].as_str(), heard[heard.len() - 1].as_str()), ("input_required a", "completed 1"));
    }
}

/// Takes up lost tasks, and counts them.
#[derive(Default)]
struct Again(AtomicUsize);

impl Recover for Again {
    fn targets(&self) -> Vec<Arc<Target>> {
        vec![new_task().target]
    }

    fn recover(&self, _: &TaskRecord) -> Option<(Work, Option<Gate>)> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Some((Work::new(|_| async { completed("again") }), None))
    }
}

/// Lost tasks run again as soon as somebody can run them, and only as many at a time as the node has room for; where
/// nobody can they wait.
#[tokio::test]
async fn lost_tasks_are_taken_up_at_once() {
    let clock = ManualClock::default();
    let store = faulty(&clock);
    let mut ids = Vec::new();
    for _ in 0..1_000 {
        let task = NewTask { on_restart: RERUN, ..new_task() };
        let id = TaskId::random().expect("random bytes");
        store.create(id, task, None, &Quota::UNLIMITED).await.expect("created");
        ids.push(id);
    }
    let engine = engine_on(store.clone(), &clock, |builder| builder);
    settle_down().await;
    assert_eq!(engine.running(), 0);
    let again = Arc::new(Again::default());
    let recover: Arc<dyn Recover> = again.clone();
    engine.recover_with(&recover);
    while again.0.load(Ordering::SeqCst) < 1_000 || engine.running() > 0 {
        tokio::task::yield_now().await;
    }
    for id in ids {
        assert_eq!(show(&engine.get(&alice(), id).await.expect("it is there")), "completed again");
    }
}

/// Who recovers is not kept by the engine.
#[tokio::test]
async fn who_is_gone_recovers_nothing() {
    let world = World::new();
    let recover: Arc<dyn Recover> = Arc::new(Again::default());
    world.engine.recover_with(&recover);
    assert_eq!((Arc::strong_count(&recover), Arc::weak_count(&recover)), (1, 1));
    drop(recover);
    let (id, task) = (TaskId::random().expect("random bytes"), NewTask { on_restart: RERUN, ..new_task() });
    world.store.create(id, task, None, &Quota::UNLIMITED).await.expect("created");
    settle_down().await;
    assert_eq!(world.shown(id).await, "working");
}

/// CAN-02: a task whose cancellation was requested while nobody ran it is not started for it.
#[tokio::test]
async fn a_cancelled_task_is_not_taken_up() {
    let world = World::with(|builder| builder.recover(Arc::new(Again::default())));
    let dead = Lease { worker: WorkerId(7), period: LEASE };
    let mut ids = Vec::new();
    for _ in 0..2 {
        let (id, task) = (TaskId::random().expect("random bytes"), NewTask { on_restart: RERUN, ..signalled() });
        world.store.create(id, task, Some(dead), &Quota::UNLIMITED).await.expect("created");
        ids.push(id);
    }
    world.cancel(ids[0]).await.expect("taken");
    world.advance(LEASE).await;
    assert_eq!(world.shown(ids[0]).await, "cancelled");
    assert_eq!(world.shown(ids[1]).await, "completed again");
}

/// Case 9: a node shuts down while 1,000 calls arrive. After it nothing runs there; each call was either refused, and then
/// nothing of it is stored, or has a task whose state is honest: it failed, if it may not run again, or ends elsewhere.
#[tokio::test]
async fn a_shutdown_amid_calls_is_honest() {
    let clock = ManualClock::default();
    let store = faulty(&clock);
    let node = engine_on(store.clone(), &clock, |builder| builder);
    let again = Arc::new(Again::default());
    let other = engine_on(store.clone(), &clock, |builder| builder.recover(again.clone()));
    let mut calls = Vec::new();
    for n in 0..1_000 {
        let (node, rerun) = (node.clone(), n % 2 == 1);
        calls.push(tokio::spawn(async move {
            for _ in 0..n % 10 {
                tokio::task::yield_now().await;
            }
            let task = NewTask { on_restart: if rerun { RERUN } else { OnRestart::Fail }, ..new_task() };
            let call = Call::new(task, Work::new(|_| std::future::pending()));
            node.create(call).await.map(|record| (record.id, rerun))
        }));
    }
    for _ in 0..5 {
        tokio::task::yield_now().await;
    }
    assert_eq!(node.shutdown(Duration::ZERO).await, 0);
    let (mut stored, mut refused) = (Vec::new(), 0);
    for call in calls {
        match call.await.expect("no panic") {
            Ok(created) => stored.push(created),
            Err(EngineError::ShuttingDown) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    settle_down().await;
    assert_eq!((store.inner().len(), node.running(), other.running()), (stored.len(), 0, 0));
    assert!(!stored.is_empty() && refused > 0, "{} stored, {refused} refused", stored.len());
    for (id, rerun) in stored {
        let expected = if rerun { "completed again" } else { "failed Interrupted" };
        assert_eq!(show(&other.get(&alice(), id).await.expect("it is there")), expected);
    }
}

/// How long a handler has to be ready to recover its tasks.
const READY_WITHIN: Duration = Duration::from_secs(5);

/// Where a handler fails that is asked to recover its tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ill {
    Prepare,
    Targets,
    Recover,
    NeverReady,
}

impl Ill {
    fn target() -> Arc<Target> {
        Arc::new(Target::new("tools/call", "ill", "1"))
    }
}

impl Recover for Ill {
    fn prepare(&self) -> BoxFuture<'_, ()> {
        match self {
            Self::NeverReady => Box::pin(std::future::pending()),
            _ => Box::pin(async { assert_ne!(*self, Self::Prepare) }),
        }
    }

    fn targets(&self) -> Vec<Arc<Target>> {
        assert_ne!(*self, Self::Targets);
        vec![Self::target()]
    }

    fn recover(&self, _: &TaskRecord) -> Option<(Work, Option<Gate>)> {
        panic!("it cannot")
    }
}

/// ERR-03: a handler that panics while its lost tasks are recovered, or is never ready to, keeps no other's tasks from running
/// again, and ends no sweep, however often it does so.
#[tokio::test]
async fn an_ill_handler_is_passed_over() {
    for ill in [Ill::Prepare, Ill::Targets, Ill::Recover, Ill::NeverReady] {
        let world = World::with(|builder| builder.recover(Arc::new(ill)).recover(Arc::new(Again::default())));
        for _ in 0..3 {
            let dead = Some(Lease { worker: WorkerId(7), period: LEASE });
            let mut ids = Vec::new();
            for target in [new_task().target, Ill::target()] {
                let (id, task) = (TaskId::random().expect("random bytes"), NewTask { on_restart: RERUN, ..new_task() });
                world.store.create(id, NewTask { target, ..task }, dead, &Quota::UNLIMITED).await.expect("created");
                ids.push(id);
            }
            // The lease's, then that which a handler has to be ready, and the sweep's own. A sweep that has ended is not waited for.
            for step in [LEASE, READY_WITHIN, READY_WITHIN, READY_WITHIN] {
                settle_down().await;
                world.clock.advance(step);
            }
            settle_down().await;
            assert_eq!(world.shown(ids[0]).await, "completed again", "{ill:?}");
            assert_eq!(world.shown(ids[1]).await, "working", "{ill:?}");
        }
    }
}
