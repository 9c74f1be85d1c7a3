//! SEC-04: each limit has an error that names it.

use bytes::Bytes;
use mcp_tasks::{
    engine::{Call, TaskEngine, Work},
    error::{EngineError, LimitExceeded, QuotaExceeded, TaskContextError},
    input::InputKind,
    limits::Limits,
    principal::Principal,
    task::{Failure, NewTask, OnRestart, Settlement},
};

use crate::support::*;

fn world(set: impl FnOnce(&mut Limits)) -> World {
    let mut limits = Limits::default();
    set(&mut limits);
    World::with(|builder| builder.limits(limits))
}

async fn refused(world: &World, task: NewTask) -> EngineError {
    let call = Call::new(task, Work::new(|_| async { unreachable!("refused before it starts") }));
    let error = world.engine.create(call).await.expect_err("there are too many");
    assert!(error.to_string().contains(char::is_numeric), "{error} names its limit");
    error
}

/// SEC-04: unsettled tasks, of one principal and in all; an ended one makes room.
#[tokio::test]
async fn live_tasks_are_bounded() {
    let world = world(|limits| (limits.quota.live, limits.quota.live_per_principal) = (3, 2));
    let bobs = || NewTask { principal: Principal::new("bob"), ..new_task() };
    let first = world.create(|_| std::future::pending()).await;
    world.create(|_| std::future::pending()).await;
    let error = refused(&world, new_task()).await;
    assert!(matches!(error, EngineError::QuotaExceeded(QuotaExceeded::LivePerPrincipal(2))));
    world.create_with(bobs(), |_| std::future::pending()).await;
    let error = refused(&world, bobs()).await;
    assert!(matches!(error, EngineError::QuotaExceeded(QuotaExceeded::Live(3))));
    world.cancel(first).await.expect("cancellation is taken");
    world.create(|_| std::future::pending()).await;
}

/// SEC-04: tasks that are held at all, until they expire.
#[tokio::test]
async fn held_tasks_are_bounded() {
    let world = world(|limits| limits.quota.held = 1);
    let id = world.create(|_| async { completed("1") }).await;
    world.until(id, "completed 1").await;
    let error = refused(&world, new_task()).await;
    assert!(matches!(error, EngineError::QuotaExceeded(QuotaExceeded::Held(1))));
    world.advance(std::time::Duration::from_secs(3600)).await;
    world.create(|_| async { completed("1") }).await;
}

/// SEC-04, case 26: arguments, results and answers as large as the limit pass, larger ones are refused.
#[tokio::test]
async fn sizes_are_bounded() {
    let world = world(|limits| {
        (limits.argument_bytes, limits.result_bytes, limits.response_bytes) = (8, 8, 8);
    });
    let arguments = |size| NewTask { arguments: "x".repeat(size).into(), ..new_task() };
    let error = refused(&world, arguments(9)).await;
    assert!(matches!(error, EngineError::LimitExceeded(LimitExceeded::Arguments { size: 9, limit: 8 })));
    let id = world.create_with(arguments(8), |_| async { completed("12345678") }).await;
    world.until(id, "completed 12345678").await;
    let id = world.create(|_| async { completed("123456789") }).await;
    let record = world.until(id, "failed ResultTooLarge { limit: 8 }").await;
    assert_eq!(record.status_message.as_deref(), Some("the result is larger than 8 bytes"));

    let id = world
        .create(|task| async move {
            completed(task.ask(InputKind::Roots, "a", Bytes::new()).await.expect("the test answers"))
        })
        .await;
    world.until(id, "input_required a").await;
    let error = world.respond(id, &[("a", "123456789")]).await.expect_err("too large");
    assert!(matches!(error, EngineError::LimitExceeded(LimitExceeded::InputResponse { size: 9, limit: 8 })));
    world.respond(id, &[("a", "12345678")]).await.expect("taken");
    world.until(id, "completed 12345678").await;
}

/// SEC-04: status messages and outstanding questions of a tool, and ids of a subscription.
#[tokio::test]
async fn what_a_tool_shows_is_bounded() {
    let world = world(|limits| {
        (limits.status_message_bytes, limits.outstanding_inputs, limits.listen_task_ids) = (3, 1, 1);
    });
    let id = world
        .create(|task| async move {
            let long = task.status("long").await;
            let limit = LimitExceeded::StatusMessage { size: 4, limit: 3 };
            assert!(matches!(long, Err(TaskContextError::LimitExceeded(found)) if found == limit));
            let ask = |name: &'static str| task.ask(InputKind::Roots, name, Bytes::new());
            let (first, second) = tokio::join!(ask("a"), ask("b"));
            let limit = LimitExceeded::OutstandingInputs { limit: 1 };
            assert!(matches!(second, Err(TaskContextError::LimitExceeded(found)) if found == limit));
            assert!(ask("c").await.is_ok(), "an answer makes room");
            completed(first.expect("the test answers"))
        })
        .await;
    world.until(id, "input_required a").await;
    world.respond(id, &[("a", "1")]).await.expect("taken");
    world.until(id, "input_required c").await;
    world.respond(id, &[("c", "1")]).await.expect("taken");
    world.until(id, "completed 1").await;
    let error = world.engine.watch(&alice(), vec![id, id]).await.err().expect("too many");
    assert!(matches!(error, EngineError::LimitExceeded(LimitExceeded::ListenTaskIds { count: 2, limit: 1 })));
}

/// SEC-04: what a tool records is bounded: steps, questions and answers together, whatever an earlier run has left.
#[tokio::test]
async fn what_a_tool_records_is_bounded() {
    let world = world(|limits| limits.journal_bytes = 10);
    let rerun = OnRestart::Rerun { max_attempts: 3 };
    let id = world
        .create_with(NewTask { on_restart: rerun, ..new_task() }, |task| async move {
            task.step("a", async { 123 }).await.expect("3 bytes");
            let long = task.step("b", async { 12_345_678 }).await;
            let limit = LimitExceeded::Journal { size: 11, limit: 10 };
            assert!(matches!(long, Err(TaskContextError::LimitExceeded(found)) if found == limit));
            task.ask(InputKind::Roots, "a", Bytes::from_static(b"{}")).await.expect("2 bytes");
            let more = task.ask(InputKind::Roots, "b", Bytes::from_static(b"{}")).await;
            let limit = LimitExceeded::Journal { size: 11, limit: 10 };
            assert!(matches!(more, Err(TaskContextError::LimitExceeded(found)) if found == limit));
            task.step("c", async { 1 }).await.expect("it fits");
            completed("1")
        })
        .await;
    world.until(id, "input_required a").await;
    world.respond(id, &[("a", "1234")]).await.expect("taken");
    let record = world.until(id, "completed 1").await;
    assert!(record.inputs().entries().is_empty());
}

/// SEC-04, ERR-05: a protocol error is kept whole; the status message that its text makes is cut, between two characters.
#[tokio::test]
async fn the_message_of_an_error_is_cut() {
    let world = world(|limits| limits.status_message_bytes = 4);
    let error = Bytes::from_static("{\"code\":-32001,\"message\":\"aéèê\"}".as_bytes());
    let reported = Failure::Reported { error: error.clone(), message: "aéèê".into() };
    let id = world.create(|_| async { Settlement::failed(reported) }).await;
    let record = world.until(id, &format!("failed {:?}", Failure::Reported { error, message: "aé".into() })).await;
    assert_eq!(record.status_message.as_deref(), Some("aé"));
}
