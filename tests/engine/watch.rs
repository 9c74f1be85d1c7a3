//! Following tasks.

use std::{sync::Arc, time::Duration};

use mcp_tasks::{
    clock::{BoxFuture, Clock, ManualClock, UnixMillis},
    engine::{Call, Engine, TaskEngine, Work},
    limits::Quota,
    store::{Operation, TaskStore, faulty::Fault},
    task::TaskRecord,
    task_id::TaskId,
};
use tokio::{sync::oneshot, task::JoinHandle};

use crate::support::*;

/// NOT-05, case 20, case 42: every change is seen as a read would have seen it, in order, and the end always, whether one
/// listens before, during or after it.
#[tokio::test]
async fn every_listener_hears_the_end() {
    let world = World::new();
    let (finish, finished) = oneshot::channel::<()>();
    let id = world
        .create(|task| async move {
            task.status("one").await.expect("the task is open");
            finished.await.expect("the test ends it");
            completed("1")
        })
        .await;
    let mut early = world.engine.watch(&alice(), vec![id]).await.expect("one id is not too many");
    assert_eq!(early.accepted(), [id]);
    settle_down().await;
    let first = early.next().await.expect("a snapshot");
    assert_eq!(first, world.get(id).await.expect("the task is there"));
    finish.send(()).expect("the tool waits");
    let last = early.next().await.expect("the end");
    assert_eq!(last, world.get(id).await.expect("the task is there"));
    assert!(last.last_updated_at > first.last_updated_at);
    assert!(early.next().await.is_none());

    let mut late = world.engine.watch(&alice(), vec![id]).await.expect("one id is not too many");
    assert_eq!(late.next().await, Some(last));
    assert!(late.next().await.is_none());
}

/// NOT-05: a listener that gives up waiting for a while misses nothing.
#[tokio::test]
async fn a_dropped_wait_loses_nothing() {
    let world = World::new();
    let (finish, finished) = oneshot::channel::<()>();
    let id = world
        .create(|_| async {
            finished.await.expect("the test ends it");
            completed("1")
        })
        .await;
    let mut watch = world.engine.watch(&alice(), vec![id]).await.expect("one id is not too many");
    assert_eq!(watch.next().await.map(|record| show(&record)).as_deref(), Some("working"));
    tokio::select! {
        biased;
        _ = watch.next() => panic!("nothing has changed"),
        () = settle_down() => {}
    }
    finish.send(()).expect("the tool waits");
    settle_down().await;
    assert_eq!(watch.next().await.map(|record| show(&record)).as_deref(), Some("completed 1"));
}

/// Case 43: a listener that does not read during 100,000 changes costs nothing more for it, holds up nobody, and finds the
/// latest state.
#[tokio::test]
async fn a_slow_listener_finds_the_latest() {
    let world = World::new();
    let id = world
        .create(|task| async move {
            for n in 0..100_000 {
                task.status(n.to_string()).await.expect("the task is open");
            }
            completed("1")
        })
        .await;
    let mut slow = world.engine.watch(&alice(), vec![id]).await.expect("one id is not too many");
    world.until(id, "completed 1").await;
    assert_eq!(slow.next().await.map(|record| show(&record)).as_deref(), Some("completed 1"));
    assert!(slow.next().await.is_none());
}

/// NOT-05: a change whose hint was lost is found by the safety poll.
#[tokio::test]
async fn a_lost_hint_is_made_up_for() {
    let clock = ManualClock::default();
    let store = faulty(&clock);
    store.lose_hints();
    let engine = engine_on(store.clone(), &clock, |builder| builder);
    let call = Call::new(new_task(), Work::new(|_| std::future::pending()));
    let id = engine.create(call).await.expect("created").id;
    let mut watch = engine.watch(&alice(), vec![id]).await.expect("one id is not too many");
    assert_eq!(watch.next().await.map(|record| show(&record)).as_deref(), Some("working"));
    store.request_cancel(id).await.expect("the store works");
    let next = tokio::spawn(async move { watch.next().await });
    settle_down().await;
    assert!(!next.is_finished());
    clock.advance(Duration::from_secs(2));
    assert_eq!(next.await.expect("no panic").map(|record| show(&record)).as_deref(), Some("cancelled"));
}

/// A clock on which no wait is over at once, so that a loop without a pause lets the test go on, and is seen.
struct Unhurried(ManualClock);

impl Clock for Unhurried {
    fn now(&self) -> UnixMillis {
        self.0.now()
    }

    fn sleep_until(&self, deadline: UnixMillis) -> BoxFuture<'static, ()> {
        let sleep = self.0.sleep_until(deadline);
        Box::pin(async {
            tokio::task::yield_now().await;
            sleep.await;
        })
    }
}

/// Follows a task whose time has come by the node's clock, and not, or not readably, in the store.
struct Overdue {
    node: ManualClock,
    stored: ManualClock,
    store: Arc<Faulty>,
    next: JoinHandle<Option<Arc<TaskRecord>>>,
    // Its end would end the watch.
    _engine: Engine,
}

impl Overdue {
    async fn new(behind: Duration, trouble: impl FnOnce(&Faulty)) -> Self {
        let (node, stored) = (ManualClock::default(), ManualClock::default());
        let store = faulty(&stored);
        store.lose_hints();
        let engine = Engine::builder(store.clone(), Arc::new(Unhurried(node.clone())));
        // The sweep is no help.
        let engine = engine.sweep_every(Duration::from_secs(1_000_000)).start().expect("there are random bytes");
        let id = TaskId::random().expect("random bytes");
        let record = store.create(id, new_task(), None, &Quota::UNLIMITED).await.expect("created");
        let mut watch = engine.watch(&alice(), vec![id]).await.expect("one id is not too many");
        assert_eq!(watch.next().await, Some(Arc::clone(&record)));
        trouble(&store);
        let next = tokio::spawn(async move { watch.next().await });
        settle_down().await;
        let left = record.changes_at().since(node.now());
        stored.advance(left - behind);
        node.advance(left);
        Self { node, stored, store, next, _engine: engine }
    }

    fn calls(&self) -> [usize; 2] {
        [Operation::Revs, Operation::Get].map(|operation| self.store.calls(operation))
    }

    /// Lets time pass until the watch gives something, or for `longest`. No call is made twice at one moment; gives how often
    /// the store was asked.
    async fn pass(&self, longest: Duration) -> usize {
        let (step, first) = (Duration::from_millis(10), self.calls());
        for _ in 0..longest.as_millis() / step.as_millis() {
            let before = self.calls();
            settle_down().await;
            let made = [0, 1].map(|kind| self.calls()[kind] - before[kind]);
            assert!(made.iter().all(|made| *made <= 1), "calls at one moment: {made:?}");
            if self.next.is_finished() {
                break;
            }
            self.node.advance(step);
            self.stored.advance(step);
        }
        self.calls()[0] - first[0]
    }
}

/// NOT-05: a task that is overdue by this node's clock alone, because the store's is behind, is asked about with pauses, and
/// its end is heard soon after it has come.
#[tokio::test]
async fn a_store_whose_clock_is_behind_is_not_pressed() {
    let overdue = Overdue::new(Duration::from_millis(700), |_| {}).await;
    // At 0, 50, 150, 350 and 750 ms.
    assert_eq!(overdue.pass(Duration::from_millis(800)).await, 5);
    let end = overdue.next.await.expect("no panic").expect("the end");
    assert_eq!(show(&end), "failed Expired");
}

/// NOT-05: a store that fails at once, and a task that cannot be read, are asked about with pauses; the end is heard once
/// they work again.
#[tokio::test]
async fn a_store_that_fails_is_not_pressed() {
    let broken = |store: &Faulty| store.break_down(true);
    let unread = |store: &Faulty| store.script(Operation::Get, [Some(Fault::Before); 15]);
    for trouble in [&broken as &dyn Fn(&Faulty), &unread] {
        let overdue = Overdue::new(Duration::ZERO, trouble).await;
        // At 0, 50, 150, 350, 750, 1550, 3150 ms, and every 2 seconds from then on.
        assert_eq!(overdue.pass(Duration::from_secs(20)).await, 15);
        assert!(!overdue.next.is_finished());
        overdue.store.break_down(false);
        overdue.pass(Duration::from_secs(2)).await;
        let end = overdue.next.await.expect("no panic").expect("the end");
        assert_eq!(show(&end), "failed Expired");
    }
}
