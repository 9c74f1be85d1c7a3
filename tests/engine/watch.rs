//! Following tasks.

use std::time::Duration;

use mcp_tasks::{
    clock::ManualClock,
    engine::{Call, TaskEngine, Work},
    store::TaskStore,
};
use tokio::sync::oneshot;

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
