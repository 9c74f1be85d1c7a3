//! Time to live.

use std::time::Duration;

use mcp_tasks::{engine::TaskEngine, error::EngineError, task::NewTask};

use crate::support::*;

const TTL: Duration = Duration::from_secs(10);
const GRACE: Duration = Duration::from_secs(60);

fn short_lived() -> NewTask {
    NewTask { ttl: Some(TTL), ..new_task() }
}

/// GET-05, case 22: before any sweep, an expired task that has ended is gone for every call, and one that has not is
/// failed for the grace period, then gone.
#[tokio::test]
async fn expiry_takes_effect_on_reading() {
    let world = World::with(|builder| builder.sweep_every(Duration::from_secs(1_000_000)));
    let done = world.create_with(short_lived(), |_| async { completed("1") }).await;
    world.until(done, "completed 1").await;
    let open = world.create_with(short_lived(), |_| std::future::pending()).await;
    world.clock.advance(TTL);
    let gone = [world.get(done).await.map(|_| ()), world.respond(done, &[("a", "1")]).await, world.cancel(done).await];
    assert!(gone.iter().all(|result| matches!(result, Err(EngineError::UnknownTask))), "{gone:?}");
    let expired = world.get(open).await.expect("readable for the grace period");
    assert_eq!(show(&expired), "failed Expired");
    assert_eq!(expired.last_updated_at, expired.created_at.plus(TTL));
    world.cancel(open).await.expect("cancellation is acknowledged");
    world.clock.advance(GRACE - Duration::from_millis(1));
    assert_eq!(world.get(open).await.expect("readable for the grace period"), expired);
    world.clock.advance(Duration::from_millis(1));
    assert!(matches!(world.get(open).await, Err(EngineError::UnknownTask)));
}

/// TSK-08, GET-05: what was read as expired stays so when the clock steps back.
#[tokio::test]
async fn an_expired_task_does_not_come_back() {
    use mcp_tasks::clock::Clock;
    let world = World::new();
    let id = world.create_with(short_lived(), |_| std::future::pending()).await;
    let start = world.clock.now();
    world.clock.advance(TTL);
    assert_eq!(world.shown(id).await, "failed Expired");
    world.clock.set(start);
    assert_eq!(world.shown(id).await, "failed Expired");
}

/// GET-05: at its time a task's listeners are told and its tool is dropped, both without anybody asking, and a tool with
/// `on_cancel = "signal"` is no exception.
#[tokio::test]
async fn an_expired_tool_is_dropped() {
    for task in [short_lived(), NewTask { ttl: Some(TTL), ..signalled() }] {
        let world = World::new();
        let drops = Drops::default();
        let guard = drops.guard();
        let id = world
            .create_with(task, |_| async {
                let _guard = guard;
                std::future::pending().await
            })
            .await;
        settle_down().await;
        let mut watch = world.engine.watch(&alice(), vec![id]).await.expect("one id is not too many");
        assert_eq!(watch.next().await.map(|record| show(&record)).as_deref(), Some("working"));
        world.advance(TTL).await;
        assert_eq!(watch.next().await.map(|record| show(&record)).as_deref(), Some("failed Expired"));
        world.idle().await;
        assert_eq!(drops.count(), 1);
    }
}

/// A tool can lengthen the life of its task.
#[tokio::test]
async fn a_tool_lengthens_its_tasks_life() {
    let world = World::new();
    let id = world
        .create_with(short_lived(), |task| async move {
            task.extend_ttl(TTL / 2).await.expect("the task is open");
            task.extend_ttl(TTL * 2).await.expect("the task is open");
            task.status("longer").await.expect("the task is open");
            std::future::pending().await
        })
        .await;
    settle_down().await;
    assert_eq!(world.get(id).await.expect("the task is there").ttl, Some(TTL * 2));
    world.advance(TTL).await;
    assert_eq!(world.shown(id).await, "working");
    world.advance(TTL).await;
    assert_eq!(world.shown(id).await, "failed Expired");
}

/// Case 23: after many short tasks an idle server gives their memory back without another call.
#[tokio::test]
async fn an_idle_server_forgets() {
    let world = World::new();
    for _ in 0..100 {
        for _ in 0..100 {
            let task = NewTask { ttl: Some(SWEEP), ..new_task() };
            world.create_with(task, |_| async { completed("1") }).await;
        }
        settle_down().await;
    }
    world.idle().await;
    assert_eq!(world.store.len(), 10_000);
    world.advance(SWEEP).await;
    assert_eq!(world.store.len(), 0);
}
