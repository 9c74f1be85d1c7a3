//! `request_cancel`: at once where the tool is dropped, a request where it is told.

use super::*;

clauses![
    can_01_cancellation_ends_a_dropped_task_at_once,
    can_02_cancellation_tells_a_signalled_task,
    can_05_a_task_that_waits_for_input_can_be_cancelled,
    case_11_nothing_is_asked_after_a_cancellation,
    can_03_cancelling_a_settled_task_changes_nothing,
    a_repeated_cancellation_changes_nothing,
    a_cancelled_task_is_not_run_again,
    a_task_is_cancelled_before_anybody_claimed_it,
];

async fn cancel(world: &World, record: &TaskRecord) -> Arc<TaskRecord> {
    stands(works(world.there.request_cancel(record.id)).await)
}

async fn can_01_cancellation_ends_a_dropped_task_at_once(world: World) {
    let record = world.running(1).await;
    let cancelled = cancel(&world, &record).await;
    assert_eq!(cancelled.status(), TaskStatus::Cancelled);
    refused(world.commit(&record, &complete("{}")).await, Refusal::Settled);
    assert_eq!(world.get(&record).await, Some(cancelled));
}

async fn can_02_cancellation_tells_a_signalled_task(world: World) {
    let record = world.create(1, signalled(), Some(LEASE)).await;
    let told = cancel(&world, &record).await;
    assert_eq!((told.status(), told.cancel_requested), (TaskStatus::Working, true));
    let renewed = works(world.here.renew(LEASE, &[(record.id, record.epoch)])).await;
    assert_eq!((renewed.lost, renewed.cancel_requested), (vec![], vec![(record.id, record.epoch)]));
    let ended = world.changed(&record, &complete("{\"after\":1}")).await;
    assert_eq!(ended.status(), TaskStatus::Completed, "it may still end in another way");
}

async fn can_05_a_task_that_waits_for_input_can_be_cancelled(world: World) {
    for (bits, new, expected) in [(1, task(), TaskStatus::Cancelled), (2, signalled(), TaskStatus::Working)] {
        let record = world.create(bits, new, Some(LEASE)).await;
        world.changed(&record, &ask("a")).await;
        assert_eq!(cancel(&world, &record).await.status(), expected);
        world.respond(&record, &[("a", "late")]).await;
        assert_eq!(world.input(&record, "a").await, None, "what was asked was withdrawn");
    }
}

async fn case_11_nothing_is_asked_after_a_cancellation(world: World) {
    let record = world.create(1, signalled(), Some(LEASE)).await;
    let told = cancel(&world, &record).await;
    refused(world.commit(&record, &ask("a")).await, Refusal::CancelRequested);
    assert_eq!(world.get(&record).await, Some(told));
}

async fn can_03_cancelling_a_settled_task_changes_nothing(world: World) {
    let record = world.running(1).await;
    let ended = world.changed(&record, &complete("{}")).await;
    world.advance(STEP).await;
    assert_eq!(cancel(&world, &record).await, ended);
}

async fn a_repeated_cancellation_changes_nothing(world: World) {
    for (bits, new) in [(1, task()), (2, signalled())] {
        let record = world.create(bits, new, Some(LEASE)).await;
        let once = cancel(&world, &record).await;
        world.advance(STEP).await;
        assert_eq!(cancel(&world, &record).await, once);
        assert_eq!(world.get(&record).await, Some(once));
    }
}

async fn a_cancelled_task_is_not_run_again(world: World) {
    for (bits, release) in [(1, true), (2, false)] {
        let record = world.create(bits, signalled(), Some(LEASE)).await;
        cancel(&world, &record).await;
        if release {
            world.changed(&record, &Mutation::Release).await;
        } else {
            world.advance(PERIOD).await;
            assert_eq!(world.reap().await, [record.id]);
        }
        assert_eq!(world.status(&record).await, Some(TaskStatus::Cancelled));
        assert!(works(world.here.claim(OTHER, &[Arc::clone(&record.target)], 10)).await.is_empty());
    }
}

async fn a_task_is_cancelled_before_anybody_claimed_it(world: World) {
    let record = world.create(1, task(), None).await;
    assert_eq!(cancel(&world, &record).await.status(), TaskStatus::Cancelled);
    assert!(works(world.here.claim(LEASE, &[Arc::clone(&record.target)], 10)).await.is_empty());
}
