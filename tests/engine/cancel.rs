//! Cancellation.

use std::time::Duration;

use bytes::Bytes;
use mcp_tasks::{error::TaskContextError, input::InputKind, task::Settlement};

use crate::support::*;

/// CAN-01, CAN-02, cases 1 and 2: a tool that is called off right after its creation is dropped, without its timer, and its
/// task is cancelled once and for ever.
#[tokio::test]
async fn a_dropped_tool_ends_at_once() {
    for polls_before_cancel in 0..4 {
        let world = World::new();
        let drops = Drops::default();
        let guard = drops.guard();
        let id = world
            .create(move |task| async move {
                let _guard = guard;
                task.sleep(Duration::from_secs(3600)).await;
                unreachable!("a ghost")
            })
            .await;
        for _ in 0..polls_before_cancel {
            tokio::task::yield_now().await;
        }
        world.cancel(id).await.expect("cancellation is taken");
        let cancelled = world.get(id).await.expect("the task is there");
        assert_eq!(show(&cancelled), "cancelled");
        world.idle().await;
        assert_eq!(drops.count(), 1);
        world.clock.advance(Duration::from_secs(1));
        world.cancel(id).await.expect("a second cancellation is taken");
        assert_eq!(world.get(id).await.expect("the task is there"), cancelled);
    }
}

/// CAN-02: a tool that never waits but for its own writes is dropped too.
#[tokio::test]
async fn a_busy_tool_can_be_dropped() {
    let world = World::new();
    let id = world
        .create(|task| async move {
            for n in 0.. {
                if task.status(format!("{n}")).await.is_err() {
                    break;
                }
            }
            completed("1")
        })
        .await;
    settle_down().await;
    world.cancel(id).await.expect("cancellation is taken");
    world.idle().await;
    assert_eq!(world.shown(id).await, "cancelled");
}

/// CAN-02: a signalled tool is told, and ends as it likes.
#[tokio::test]
async fn a_signalled_tool_ends_as_it_likes() {
    for (settlement, shown) in [(completed("9"), "completed 9"), (Settlement::Cancelled, "cancelled")] {
        let world = World::new();
        let id = world
            .create_with(signalled(), move |task| async move {
                task.cancelled().await;
                settlement
            })
            .await;
        settle_down().await;
        world.cancel(id).await.expect("cancellation is taken");
        world.until(id, shown).await;
    }
}

/// Case 1: a signalled tool that is called off before it starts never starts.
#[tokio::test]
async fn a_tool_called_off_before_its_start_never_starts() {
    let world = World::new();
    let id = world.create_with(signalled(), |_| async { unreachable!("a ghost") }).await;
    world.cancel(id).await.expect("cancellation is taken");
    world.idle().await;
    assert_eq!(world.shown(id).await, "cancelled");
}

/// Case 3, CAN-03, TSK-08: the cancellation of a task that has ended changes nothing, not even the date.
#[tokio::test]
async fn a_settled_task_stays_as_it_is() {
    let world = World::new();
    let done = world.create(|_| async { completed("1") }).await;
    let failed = world.create(|_| async { panic!("no") }).await;
    for (id, shown) in [(done, "completed 1"), (failed, "failed Panicked")] {
        let before = world.until(id, shown).await;
        world.clock.advance(Duration::from_secs(1));
        world.cancel(id).await.expect("cancellation is acknowledged");
        world.respond(id, &[("name", "1")]).await.expect("answers are acknowledged");
        assert_eq!(world.get(id).await.expect("the task is there"), before);
    }
}

/// CAN-05: a task that waits for input can be cancelled, whether its tool is dropped or told.
#[tokio::test]
async fn a_waiting_task_can_be_cancelled() {
    let world = World::new();
    let ask = |task: mcp_tasks::context::TaskContext| async move {
        match task.ask(InputKind::Roots, "roots", Bytes::from_static(b"{}")).await {
            Err(TaskContextError::Cancelled) => completed("told"),
            other => panic!("{other:?}"),
        }
    };
    let dropped = world.create(ask).await;
    let told = world.create_with(signalled(), ask).await;
    for (id, shown) in [(dropped, "cancelled"), (told, "completed told")] {
        world.until(id, "input_required roots").await;
        world.cancel(id).await.expect("cancellation is taken");
        world.until(id, shown).await;
        world.respond(id, &[("roots", "1")]).await.expect("a late answer is acknowledged");
        assert_eq!(world.shown(id).await, shown);
    }
}

/// Case 11: a tool that asks after it was called off hears so at once, and the client is shown nothing.
#[tokio::test]
async fn an_ask_after_cancellation_is_cancelled() {
    let world = World::new();
    let id = world
        .create_with(signalled(), |task| async move {
            task.cancelled().await;
            let asked = task.ask(InputKind::Sampling, "late", Bytes::from_static(b"{}")).await;
            assert!(matches!(asked, Err(TaskContextError::Cancelled)));
            completed("1")
        })
        .await;
    settle_down().await;
    world.cancel(id).await.expect("cancellation is taken");
    let record = world.until(id, "completed 1").await;
    assert!(record.inputs().entries().is_empty());
}
