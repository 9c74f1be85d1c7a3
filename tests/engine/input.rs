//! Input requests.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use mcp_tasks::{
    context::TaskContext,
    engine::TaskEngine,
    error::{EngineError, TaskContextError},
    input::{InputKey, InputKind, InputKinds},
    task::{NewTask, Settlement},
};

use crate::support::*;

async fn ask(task: &TaskContext, name: &str) -> String {
    let answer = task.ask(InputKind::FormElicitation, name, Bytes::from_static(br#"{"m":1}"#)).await;
    String::from_utf8_lossy(&answer.expect("the test answers")).into_owned()
}

async fn two_questions(task: TaskContext) -> Settlement {
    let (first, second) = tokio::join!(ask(&task, "a"), ask(&task, "b"));
    completed(format!("{first}{second}"))
}

/// GET-02, UPD-03: a partial answer is taken, the rest stays outstanding, and the tool goes on with the last.
#[tokio::test]
async fn answers_may_come_one_by_one() {
    let world = World::new();
    let id = world.create(two_questions).await;
    world.until(id, "input_required a b").await;
    world.respond(id, &[("b", "2")]).await.expect("an answer is taken");
    assert_eq!(world.shown(id).await, "input_required a");
    world.respond(id, &[("a", "1")]).await.expect("an answer is taken");
    assert_ne!(world.shown(id).await, "input_required a", "GET-02: not shown from the acknowledgement on");
    world.until(id, "completed 12").await;
}

/// UPD-02, case 13: keys that were never issued or are answered already are ignored, the rest of the message counts;
/// without a rest nothing changes and nobody is woken.
#[tokio::test]
async fn unknown_keys_are_ignored() {
    let world = World::new();
    let id = world.create(two_questions).await;
    let before = world.until(id, "input_required a b").await;
    world.clock.advance(Duration::from_secs(1));
    world.respond(id, &[]).await.expect("an empty message is acknowledged");
    world.respond(id, &[("c", "3"), ("a#2", "4")]).await.expect("unknown keys are acknowledged");
    assert_eq!(world.get(id).await.expect("the task is there"), before);
    world.respond(id, &[("c", "3"), ("a", "1")]).await.expect("the rest is taken");
    world.respond(id, &[("a", "9"), ("b", "2")]).await.expect("the rest is taken");
    world.until(id, "completed 12").await;
}

/// UPD-06, UPD-03, case 14: two answers at the same instant, from two threads, a thousand times: both arrive, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_at_the_same_instant_both_arrive() {
    let world = Arc::new(World::new());
    for _ in 0..1_000 {
        let id = world.create(two_questions).await;
        world.until(id, "input_required a b").await;
        let answer = |key: &'static str, text: &'static str| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.respond(id, &[(key, text)]).await })
        };
        let (a, b) = (answer("a", "1"), answer("b", "2"));
        a.await.expect("no panic").expect("taken");
        b.await.expect("no panic").expect("taken");
        world.until(id, "completed 12").await;
    }
}

/// UPD-06: of two answers to one key at the same instant one is delivered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_answer_a_key_is_delivered() {
    let world = Arc::new(World::new());
    for _ in 0..200 {
        let id = world.create(|task| async move { completed(ask(&task, "a").await) }).await;
        world.until(id, "input_required a").await;
        let answer = |text: &'static str| {
            let world = Arc::clone(&world);
            tokio::spawn(async move { world.respond(id, &[("a", text)]).await })
        };
        let (one, two) = (answer("1"), answer("2"));
        one.await.expect("no panic").expect("acknowledged");
        two.await.expect("no panic").expect("acknowledged");
        world.engine.watch(&alice(), vec![id]).await.expect("one id is not too many").next().await;
        let mut watch = world.engine.watch(&alice(), vec![id]).await.expect("one id is not too many");
        let mut last = String::new();
        while let Some(record) = watch.next().await {
            last = show(&record);
        }
        assert!(last == "completed 1" || last == "completed 2", "{last}");
    }
}

/// Case 12, UPD-04: the same question twice has two keys; the first answer, repeated, is not the second's.
#[tokio::test]
async fn the_same_question_twice_has_two_keys() {
    let world = World::new();
    let id = world
        .create(|task| async move {
            let first = ask(&task, "a").await;
            completed(format!("{first}{}", ask(&task, "a").await))
        })
        .await;
    world.until(id, "input_required a").await;
    world.respond(id, &[("a", "1")]).await.expect("taken");
    world.until(id, "input_required a#2").await;
    world.respond(id, &[("a", "1")]).await.expect("acknowledged");
    assert_eq!(world.shown(id).await, "input_required a#2");
    world.respond(id, &[("a#2", "2")]).await.expect("taken");
    world.until(id, "completed 12").await;
}

/// Case 10: a question that the tool gives up is withdrawn, and a late answer is acknowledged and ignored.
#[tokio::test]
async fn a_dropped_question_is_withdrawn() {
    let world = World::new();
    let id = world
        .create(|task| async move {
            tokio::select! {
                _ = ask(&task, "a") => unreachable!("nobody answers"),
                () = task.sleep(Duration::from_secs(1)) => {}
            }
            task.status("went on").await.expect("the task is open");
            std::future::pending().await
        })
        .await;
    world.until(id, "input_required a").await;
    world.clock.advance(Duration::from_secs(1));
    let record = world.until(id, "working").await;
    assert_eq!(record.inputs().outstanding().count(), 0);
    world.respond(id, &[("a", "1")]).await.expect("a late answer is acknowledged");
    assert_eq!(world.shown(id).await, "working");
}

/// Case 19: what the client did not declare is an error to the tool, and never shown.
#[tokio::test]
async fn an_undeclared_question_is_never_shown() {
    let world = World::new();
    let declared = InputKinds::NONE.with(InputKind::FormElicitation);
    let task = NewTask { declared, ..new_task() };
    let id = world
        .create_with(task, |task| async move {
            let asked = task.ask(InputKind::Sampling, "s", Bytes::from_static(b"{}")).await;
            assert!(matches!(asked, Err(TaskContextError::NotDeclared(InputKind::Sampling))));
            completed(ask(&task, "a").await)
        })
        .await;
    let record = world.until(id, "input_required a").await;
    assert_eq!(record.inputs().entries().len(), 1);
    world.respond(id, &[("a", "1")]).await.expect("taken");
    world.until(id, "completed 1").await;
}

/// UPD-07: an answer that does not fit is refused by its key, and nothing of the message is taken.
#[tokio::test]
async fn an_unfit_answer_takes_nothing() {
    let world = World::with(|builder| {
        builder.validate_input(Arc::new(
            |_: &Bytes, response: &Bytes| {
                if &**response == b"bad" { Err("not a number".into()) } else { Ok(()) }
            },
        ))
    });
    let id = world.create(two_questions).await;
    let before = world.until(id, "input_required a b").await;
    let error = world.respond(id, &[("a", "1"), ("b", "bad"), ("c", "bad")]).await.expect_err("b does not fit");
    let EngineError::InvalidInputResponse { keys } = error else { panic!("{error:?}") };
    assert_eq!(keys.into_iter().collect::<Vec<_>>(), [(InputKey::new("b"), "not a number".into())]);
    assert_eq!(world.get(id).await.expect("the task is there"), before);
    world.respond(id, &[("a", "1"), ("b", "2")]).await.expect("taken");
    world.until(id, "completed 12").await;
}

/// A lost hint delays an answer by the safety poll, no more: here the answer reaches the store behind the engine's back.
#[tokio::test]
async fn an_answer_without_a_hint_is_found() {
    use mcp_tasks::store::TaskStore;
    let world = World::new();
    let id = world.create(|task| async move { completed(ask(&task, "a").await) }).await;
    world.until(id, "input_required a").await;
    let answer = [(InputKey::new("a"), Bytes::from_static(b"1"))];
    world.store.respond(id, &answer).await.expect("a memory store works");
    world.clock.advance(Duration::from_secs(2));
    world.until(id, "completed 1").await;
}
