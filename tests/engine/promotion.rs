//! Calls that run inline, and become tasks or not.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use mcp_tasks::{
    clock::{BoxFuture, Clock, ManualClock},
    context::TaskContext,
    engine::{Call, InlineInput, Promotion, Ran, TaskEngine, Work},
    error::{EngineError, TaskContextError},
    input::{InputKind, Question},
    task::{NewTask, OnRestart, Settlement, TaskRecord},
};

use crate::support::*;

const SECOND: Duration = Duration::from_secs(1);

/// Runs a tool that takes `duration`, promoted after a second, advancing the clock by `step` at a time; what became of
/// the call, after how long, and how often the tool's side effect happened.
async fn run(duration: Duration, step: Duration) -> (String, Duration, usize) {
    let world = World::new();
    let effects = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&effects);
    let work = Work::new(move |task| async move {
        counted.fetch_add(1, Ordering::SeqCst);
        task.status("on it").await.expect("the call goes on");
        task.sleep(duration).await;
        completed("1")
    });
    let started = world.clock.now();
    let engine = world.engine.clone();
    let call = tokio::spawn(async move {
        engine.run(Call::new(new_task(), work), Promotion::After(SECOND), None).await.expect("it runs")
    });
    settle_down().await;
    while !call.is_finished() {
        world.clock.advance(step);
        settle_down().await;
    }
    let took = world.clock.now().since(started);
    let shown = match call.await.expect("no panic") {
        Ran::Finished(settlement) => format!("{settlement:?}"),
        Ran::Promoted(record) => {
            assert_eq!(record.status_message.as_deref(), Some("on it"));
            world.clock.advance(duration);
            world.until(record.id, "completed 1").await;
            "promoted".into()
        }
    };
    world.idle().await;
    (shown, took, effects.load(Ordering::SeqCst))
}

/// Case 45: a short call is answered inline, a long one becomes a task after a second; its side effect happens once
/// either way.
#[tokio::test]
async fn a_long_call_becomes_a_task() {
    let (shown, took, effects) = run(Duration::from_millis(50), Duration::from_millis(10)).await;
    assert_eq!((shown.as_str(), took, effects), ("Completed(b\"1\")", Duration::from_millis(50), 1));
    let (shown, took, effects) = run(SECOND * 5, Duration::from_millis(100)).await;
    assert_eq!((shown.as_str(), took, effects), ("promoted", SECOND, 1));
}

/// CAP-02, CAP-07: without the declaration a call runs to its end inline, however long it takes, and no task is stored.
#[tokio::test]
async fn a_call_that_may_not_be_a_task_never_is() {
    let world = World::new();
    let work = Work::new(|task: TaskContext| async move {
        task.status("unseen").await.expect("the call goes on");
        task.progress(1, 2).await.expect("the call goes on");
        assert!(task.step("s", async { 1 }).await.is_ok());
        assert!((task.is_task(), task.task_id()) == (false, None));
        let asked = task.ask(InputKind::Roots, "a", Bytes::new()).await;
        assert!(matches!(asked, Err(TaskContextError::CannotAsk)));
        task.sleep(Duration::from_secs(86_400)).await;
        completed("1")
    });
    let engine = world.engine.clone();
    let call = tokio::spawn(async move { engine.run(Call::new(new_task(), work), Promotion::Never, None).await });
    settle_down().await;
    world.advance(Duration::from_secs(86_400)).await;
    let ran = call.await.expect("no panic").expect("it runs");
    assert!(matches!(ran, Ran::Finished(Settlement::Completed(_))));
    assert!(world.store.is_empty());
}

/// An ask makes the call a task at once, where that is allowed; what the tool did before is in it.
#[tokio::test]
async fn an_ask_makes_a_task() {
    let world = World::new();
    let work = Work::new(|task: TaskContext| async move {
        task.progress(1, 2).await.expect("the call goes on");
        let step = task.step("s", async { 7 }).await.expect("the call goes on");
        let answer = task.ask(InputKind::Roots, "a", Bytes::new()).await.expect("the test answers");
        assert!(task.is_task());
        completed(format!("{step}{}", String::from_utf8_lossy(&answer)))
    });
    let task = NewTask { on_restart: OnRestart::Rerun { max_attempts: 2 }, ..new_task() };
    let ran = world.engine.run(Call::new(task, work), Promotion::WhenAsking, None).await.expect("it runs");
    let record: Arc<TaskRecord> = match ran {
        Ran::Promoted(record) => record,
        Ran::Finished(other) => panic!("{other:?}"),
    };
    assert_eq!(record.status_message.as_deref(), Some("1/2"));
    assert_eq!(record.journal.steps().len(), 1);
    world.until(record.id, "input_required a").await;
    world.respond(record.id, &[("a", "8")]).await.expect("taken");
    world.until(record.id, "completed 78").await;
}

/// A call that cannot become a task asks in whatever way its transport has.
#[tokio::test]
async fn an_inline_call_asks_over_its_own_connection() {
    struct Echo;
    impl InlineInput for Echo {
        fn ask(&self, _: InputKind, question: Question) -> BoxFuture<'static, Result<Bytes, TaskContextError>> {
            Box::pin(async move { Ok(format!("{}{}", question.name, question.ordinal).into()) })
        }
    }
    let world = World::new();
    let work = Work::new(|task: TaskContext| async move {
        completed(task.ask(InputKind::Roots, "a", Bytes::new()).await.expect("it is answered"))
    });
    let ran = world.engine.run(Call::new(new_task(), work), Promotion::Never, Some(Arc::new(Echo))).await;
    assert!(matches!(ran, Ok(Ran::Finished(Settlement::Completed(answer))) if &*answer == b"a1"));
}

/// CAN-04: a request that is dropped while its tool runs inline stops the tool; once it is a task it goes on.
#[tokio::test]
async fn a_dropped_request_stops_only_an_inline_run() {
    for (patience, dropped, stored) in [(SECOND * 9, 1, 0), (SECOND, 0, 1)] {
        let world = World::new();
        let drops = Drops::default();
        let guard = drops.guard();
        let work = Work::new(|_| async {
            let _guard = guard;
            std::future::pending().await
        });
        let engine = world.engine.clone();
        let call =
            tokio::spawn(
                async move { engine.run(Call::new(new_task(), work), Promotion::After(patience), None).await },
            );
        settle_down().await;
        world.advance(SECOND).await;
        call.abort();
        settle_down().await;
        assert_eq!((drops.count(), world.store.len()), (dropped, stored));
    }
}

/// NEW-03: a call whose task cannot be stored fails, and its tool stops.
#[tokio::test]
async fn a_failed_promotion_stops_the_tool() {
    let clock = ManualClock::default();
    let store = faulty(&clock);
    let engine = engine_on(store.clone(), &clock, |builder| builder);
    store.break_down(true);
    let running = engine.clone();
    let work = Work::new(|_| std::future::pending());
    let call =
        tokio::spawn(async move { running.run(Call::new(new_task(), work), Promotion::After(SECOND), None).await });
    settle_down().await;
    clock.advance(SECOND);
    assert!(matches!(call.await.expect("no panic"), Err(EngineError::Store(_))));
    settle_down().await;
    assert_eq!(engine.running(), 0);
}

/// Case 9: a shutdown ends inline calls with an error.
#[tokio::test]
async fn a_shutdown_ends_inline_calls() {
    let world = World::new();
    let engine = world.engine.clone();
    let work = Work::new(|_| std::future::pending());
    let call = tokio::spawn(async move { engine.run(Call::new(new_task(), work), Promotion::Never, None).await });
    settle_down().await;
    assert_eq!(world.engine.shutdown(Duration::ZERO).await, 0);
    assert!(matches!(call.await.expect("no panic"), Err(EngineError::ShuttingDown)));
}

/// What a helper gets that has outlived its tool, once it has heard that it has.
async fn outlive(task: TaskContext) {
    task.cancelled().await;
    assert!(task.is_cancelled() && !task.is_task());
    let writes = [
        task.status("late").await,
        task.progress(1, 2).await,
        task.extend_ttl(SECOND).await,
        task.set_poll_interval(SECOND).await,
        task.step("s", async {}).await,
        task.ask(InputKind::Roots, "a", Bytes::new()).await.map(drop),
    ];
    for written in writes {
        assert!(matches!(written, Err(TaskContextError::Stopped)), "{written:?}");
    }
}

/// Case 45, CAN-04: what a tool has spawned does not wait for a task that never comes: not if the tool ends inline, not if
/// its request is dropped.
#[tokio::test]
async fn what_outlives_an_inline_run_is_stopped() {
    for dropped in [false, true] {
        let world = World::new();
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let work = Work::new(move |task: TaskContext| async move {
            tell.send(tokio::spawn(outlive(task.clone()))).expect("the test listens");
            task.sleep(SECOND).await;
            completed("1")
        });
        let engine = world.engine.clone();
        let call =
            tokio::spawn(async move { engine.run(Call::new(new_task(), work), Promotion::WhenAsking, None).await });
        let helper = told.recv().await.expect("the tool starts");
        settle_down().await;
        assert!(!helper.is_finished(), "the tool still runs");
        if dropped {
            call.abort()
        } else {
            world.advance(SECOND).await
        }
        settle_down().await;
        assert!(helper.is_finished(), "the helper waits for ever");
        helper.await.expect("what it got is right");
        assert!(world.store.is_empty());
    }
}

/// A question of an inline call that is never answered does not outlive the tool.
#[tokio::test]
async fn an_inline_question_ends_with_its_tool() {
    struct Mute;
    impl InlineInput for Mute {
        fn ask(&self, _: InputKind, _: Question) -> BoxFuture<'static, Result<Bytes, TaskContextError>> {
            Box::pin(std::future::pending())
        }
    }
    let world = World::new();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let work = Work::new(move |task: TaskContext| async move {
        let asking = tokio::spawn(async move { task.ask(InputKind::Roots, "a", Bytes::new()).await });
        tell.send(asking).expect("the test listens");
        completed("1")
    });
    let ran = world.engine.run(Call::new(new_task(), work), Promotion::Never, Some(Arc::new(Mute))).await;
    assert!(matches!(ran, Ok(Ran::Finished(_))));
    settle_down().await;
    let asking = told.recv().await.expect("the tool started");
    assert!(asking.is_finished(), "the question waits for ever");
    assert!(matches!(asking.await.expect("no panic"), Err(TaskContextError::Stopped)));
}

/// NEW-03: a promotion that fails leaves nothing behind that waits for its task, though the tool has asked.
#[tokio::test]
async fn a_failed_promotion_leaves_nothing_waiting() {
    let clock = ManualClock::default();
    let store = faulty(&clock);
    let engine = engine_on(store.clone(), &clock, |builder| builder);
    settle_down().await;
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    store.break_down(true);
    for _ in 0..3 {
        let work = Work::new(|task: TaskContext| async move {
            task.ask(InputKind::Roots, "a", Bytes::new()).await.expect("the tool is dropped before");
            completed("1")
        });
        let ran = engine.run(Call::new(new_task(), work), Promotion::After(SECOND), None).await;
        assert!(matches!(ran, Err(EngineError::Store(_))));
    }
    settle_down().await;
    assert_eq!(engine.running(), 0);
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), before, "something waits for ever");
}
