//! Creation, the end of a tool, panics, blocking, shutdown.

use std::{
    sync::{Arc, Barrier},
    time::Duration,
};

use bytes::Bytes;
use mcp_tasks::{
    clock::ManualClock,
    engine::{Call, Gate, TaskEngine, Work},
    error::EngineError,
    principal::Principal,
    store::{Operation, faulty::Fault},
    task::{Failure, NewTask, OnRestart, Settlement, Target, TaskState, TaskStatus},
};
use tokio::sync::oneshot;

use crate::support::*;

/// NEW-01, GET-02: a task can be read as soon as it is created, and carries its result from its end on. Case 8: the same
/// bytes each time, not even copied. GET-06: they are the bytes the tool gave.
#[tokio::test]
async fn a_task_ends_with_its_tools_result() {
    let world = World::new();
    let (finish, finished) = oneshot::channel::<Bytes>();
    let id = world.create(|_| async { completed(finished.await.unwrap_or_default()) }).await;
    assert_eq!(world.shown(id).await, "working");
    let result =
        Bytes::from(format!(r#"{{"content":"{}\u0000\ud800 1e400 18446744073709551616"}}"#, "x".repeat(5 << 20)));
    finish.send(result.clone()).expect("the tool waits");
    let record = world.until(id, &format!("completed {}", String::from_utf8_lossy(&result))).await;
    for _ in 0..3 {
        let again = world.get(id).await.expect("a finished task is readable");
        assert_eq!(again, record);
        let TaskState::Settled(Settlement::Completed(stored)) = &again.state else { panic!("settled") };
        assert_eq!(stored.as_ptr(), result.as_ptr(), "a poll hands out the stored bytes");
    }
}

/// NEW-03, ERR-02: a store that cannot keep the task makes the creation fail, says nothing of its own troubles, and no
/// tool starts.
#[tokio::test]
async fn without_a_store_nothing_starts() {
    let clock = ManualClock::default();
    let store = faulty(&clock);
    let engine = engine_on(store.clone(), &clock, |builder| builder);
    store.break_down(true);
    let started = Drops::default();
    let guard = started.guard();
    let call = Call::new(
        new_task(),
        Work::new(move |_| async move {
            drop(guard);
            unreachable!("the tool must not start")
        }),
    );
    let error = engine.create(call).await.expect_err("the store is broken");
    assert!(matches!(error, EngineError::Store(_)));
    assert_eq!(error.to_string(), "internal error");
    assert_eq!((engine.running(), store.inner().len(), started.count()), (0, 0, 1));
}

/// ERR-03, ERR-02, case 5: a panic ends the task at once, without its text; the engine goes on.
#[tokio::test]
async fn a_panic_ends_the_task() {
    let world = World::new();
    let mut ids = vec![world.create(|_| async { panic!("SECRET") }).await];
    ids.push(world.create(|_| -> std::future::Ready<Settlement> { panic!("SECRET") }).await);
    for id in ids {
        let record = world.until(id, "failed Panicked").await;
        assert!(!format!("{record:?}").contains("SECRET"));
        assert_eq!(record.status_message.as_deref(), Some("the tool stopped unexpectedly"));
    }
    world.idle().await;
    let id = world.create(|_| async { completed("1") }).await;
    world.until(id, "completed 1").await;
}

/// ERR-03: a tool that panics when it is dropped harms nobody either.
#[tokio::test]
async fn a_panic_in_drop_is_caught() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let world = World::new();
    let id = world
        .create(|_| async {
            let _bomb = Bomb;
            std::future::pending().await
        })
        .await;
    settle_down().await;
    world.cancel(id).await.expect("cancellation is taken");
    world.idle().await;
    assert_eq!(world.shown(id).await, "cancelled");
}

/// ERR-05: a protocol error fails the task with exactly that error.
#[tokio::test]
async fn a_protocol_error_fails_the_task() {
    let world = World::new();
    let error = Bytes::from_static(br#"{"code":-32001,"message":"no such city","data":[1]}"#);
    let reported = Failure::Reported { error, message: "no such city".into() };
    let settlement = Settlement::failed(reported.clone());
    let id = world.create(|_| async { settlement }).await;
    let record = world.until(id, &format!("failed {reported:?}")).await;
    assert_eq!(record.status_message.as_deref(), Some("no such city"));
}

/// Case 4: while a tool blocks its thread, calls about it and about others are answered, and it can be called off.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocking_tool_holds_up_nobody() {
    let world = World::new();
    let (entered, release) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let (tool_entered, tool_release) = (entered.clone(), release.clone());
    let blocker = world
        .create(|task| async move {
            task.status("about to block").await.expect("the task is open");
            tool_entered.wait();
            tool_release.wait();
            completed("1")
        })
        .await;
    entered.wait();
    let other = world.create(|_| async { completed("2") }).await;
    world.until(other, "completed 2").await;
    assert_eq!(world.shown(blocker).await, "working");
    world.cancel(blocker).await.expect("cancellation is taken");
    world.until(blocker, "cancelled").await;
    release.wait();
    world.idle().await;
    assert_eq!(world.shown(blocker).await, "cancelled");
}

/// CAP-06: a task for a method that nobody has heard of.
#[tokio::test]
async fn any_method_can_be_a_task() {
    let world = World::new();
    let target = Arc::new(Target::new("prompts/brew", "tea", "7"));
    let task = NewTask::new(alice(), target, Bytes::from_static(br#"{"leaves":3}"#));
    let id = world.create_with(task, |_| async { completed(r#"{"cup":1}"#) }).await;
    let record = world.until(id, r#"completed {"cup":1}"#).await;
    assert_eq!(&*record.target.method, "prompts/brew");
}

/// TSK-03, case 25: reading does not date a task; and the record says nothing it was not told (case 24).
#[tokio::test]
async fn reading_changes_nothing() {
    let world = World::new();
    let task = NewTask { ttl: None, poll_interval: None, ..new_task() };
    let id = world.create_with(task, |_| std::future::pending()).await;
    let first = world.get(id).await.expect("the task is there");
    world.clock.advance(Duration::from_secs(5));
    assert_eq!(world.get(id).await.expect("the task is there"), first);
    assert_eq!((first.ttl, first.poll_interval, &first.status_message), (None, None, &None));
    assert_eq!(first.created_at, first.last_updated_at);
}

/// Case 9: while calls arrive the server shuts down. Then nothing runs, late calls are refused, and what is stored is
/// honest: tasks that must not run again failed, the others wait for another worker.
#[tokio::test]
async fn a_shutdown_leaves_nothing_running() {
    let world = World::new();
    let drops = Drops::default();
    let mut ids = Vec::new();
    for n in 0..1_000 {
        let on_restart = if n % 2 == 0 { OnRestart::Fail } else { OnRestart::Rerun { max_attempts: 2 } };
        let guard = drops.guard();
        let task = NewTask { on_restart, ..new_task() };
        ids.push(
            world
                .create_with(task, move |_| async move {
                    let _guard = guard;
                    std::future::pending().await
                })
                .await,
        );
    }
    let quick = world.create(|_| async { completed("1") }).await;
    let engine = world.engine.clone();
    let shutdown = tokio::spawn(async move { engine.shutdown(Duration::from_secs(5)).await });
    settle_down().await;
    let late = Call::new(new_task(), Work::new(|_| async { completed("2") }));
    assert!(matches!(world.engine.create(late).await, Err(EngineError::ShuttingDown)));
    world.clock.sleepers(3).await;
    world.clock.advance(Duration::from_secs(5));
    assert_eq!(shutdown.await.expect("the shutdown ends"), 0);
    assert_eq!(drops.count(), 1_000);
    assert_eq!(world.shown(quick).await, "completed 1");
    for (n, id) in ids.into_iter().enumerate() {
        let expected = if n % 2 == 0 { "failed Interrupted" } else { "working" };
        assert_eq!(world.shown(id).await, expected);
    }
}

/// `max_running`: calls beyond it wait, `working`, and one that is called off while it waits never starts.
#[tokio::test]
async fn a_gate_bounds_what_runs() {
    let world = World::new();
    let gate = Gate::new(1);
    let (release, released) = oneshot::channel::<()>();
    let call = |work| Call { gate: Some(gate.clone()), ..Call::new(new_task(), work) };
    let first = Work::new(|_| async {
        released.await.expect("the test releases it");
        completed("1")
    });
    let first = world.engine.create(call(first)).await.expect("created").id;
    settle_down().await;
    let dropped = Work::new(|_| async { unreachable!("called off before it starts") });
    let dropped = world.engine.create(call(dropped)).await.expect("created").id;
    let last = world.engine.create(call(Work::new(|_| async { completed("3") }))).await.expect("created").id;
    settle_down().await;
    assert_eq!((world.engine.running(), world.shown(last).await), (3, "working".into()));
    world.cancel(dropped).await.expect("cancellation is taken");
    release.send(()).expect("the first tool waits");
    world.until(first, "completed 1").await;
    world.until(last, "completed 3").await;
    assert_eq!(world.shown(dropped).await, "cancelled");
    world.idle().await;
}

/// A write that may or may not have been made is made again, and counts once.
#[tokio::test]
async fn a_doubtful_write_is_repeated() {
    let clock = ManualClock::default();
    let store = faulty(&clock);
    let engine = engine_on(store.clone(), &clock, |builder| builder);
    store.script(Operation::Commit, [Some(Fault::After)]);
    let work = Work::new(|task| async move {
        task.status("one").await.expect("it is stored in the end");
        std::future::pending().await
    });
    let id = engine.create(Call::new(new_task(), work)).await.expect("created").id;
    settle_down().await;
    clock.sleepers(3).await;
    clock.advance(Duration::from_millis(50));
    settle_down().await;
    let record = engine.get(&alice(), id).await.expect("the task is there");
    assert_eq!(record.status_message.as_deref(), Some("one"));
    assert_eq!(record.status(), TaskStatus::Working);
    assert_eq!(record.rev.0, 3, "created, claimed, and one status");
    assert_eq!(record.principal, Principal::new("alice"));
}
