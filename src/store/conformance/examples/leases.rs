//! `renew`, and `reap` of leases that ran out.

use super::*;
use crate::task::{Failure, TaskState};

clauses![
    a_lease_ends_a_period_after_it_was_given_or_renewed_last,
    tsk_08_a_worker_that_lost_its_lease_writes_nothing,
    a_task_that_must_not_run_twice_fails_with_its_worker,
    attempts_are_limited,
    a_released_task_can_be_claimed_at_once,
    renew_tells_which_are_lost,
    renew_is_safe_to_repeat,
    an_answer_and_a_cancellation_do_not_end_a_lease,
    a_lease_outlives_a_restart,
];

async fn a_lease_ends_a_period_after_it_was_given_or_renewed_last(world: World) {
    let (kept, lost) = (world.running(1).await, world.running(2).await);
    for _ in 0..3 {
        world.advance(PERIOD / 2).await;
        assert_eq!(works(world.there.renew(LEASE, &[(kept.id, kept.epoch)])).await, Default::default());
    }
    assert_eq!(world.reap().await, [lost.id]);
    world.advance(PERIOD - STEP).await;
    assert_eq!(world.reap().await, []);
    world.advance(STEP).await;
    assert_eq!(world.reap().await, [kept.id]);
    assert_eq!(world.reap().await, []);
}

async fn tsk_08_a_worker_that_lost_its_lease_writes_nothing(world: World) {
    let record = world.running(1).await;
    world.advance(PERIOD).await;
    assert_eq!(world.reap().await, [record.id]);
    refused(world.commit(&record, &complete("{\"late\":1}")).await, Refusal::Fenced);
    let again = works(world.there.claim(OTHER, &[task().target], 1)).await.remove(0);
    assert!(again.epoch.0 > record.epoch.0 + 1, "a lease that ran out and a claim each take an epoch");
    refused(world.commit(&record, &complete("{\"late\":1}")).await, Refusal::Fenced);
    assert_eq!(world.changed(&again, &complete("{}")).await.status(), TaskStatus::Completed);
}

async fn a_task_that_must_not_run_twice_fails_with_its_worker(world: World) {
    let crashed = world.create(1, once(), Some(LEASE)).await;
    let released = world.create(2, once(), Some(LEASE)).await;
    world.changed(&released, &Mutation::Release).await;
    world.advance(PERIOD).await;
    assert_eq!(world.reap().await, [crashed.id]);
    for record in [crashed, released] {
        let failed = world.get(&record).await.expect("the task is there");
        assert_eq!(failed.state, TaskState::Settled(Settlement::failed(Failure::Interrupted)));
        assert_eq!(failed.status_message, Some(Failure::Interrupted.message()));
    }
    assert!(works(world.here.claim(OTHER, &[task().target], 10)).await.is_empty());
}

async fn attempts_are_limited(world: World) {
    let mut record = world.running(1).await;
    assert_eq!(record.attempt, 1);
    world.advance(PERIOD).await;
    world.reap().await;
    record = works(world.there.claim(OTHER, &[Arc::clone(&record.target)], 1)).await.remove(0);
    assert_eq!(record.attempt, 2);
    world.advance(PERIOD).await;
    assert_eq!(world.reap().await, [record.id]);
    let failed = world.get(&record).await.expect("the task is there");
    assert_eq!(failed.state, TaskState::Settled(Settlement::failed(Failure::Interrupted)));
}

async fn a_released_task_can_be_claimed_at_once(world: World) {
    let record = world.running(1).await;
    world.changed(&record, &Mutation::Release).await;
    let renewed = works(world.here.renew(LEASE, &[(record.id, record.epoch)])).await;
    assert_eq!(renewed.lost, [(record.id, record.epoch)]);
    refused(world.commit(&record, &report("late")).await, Refusal::Fenced);
    let claimed = works(world.there.claim(OTHER, &[Arc::clone(&record.target)], 10)).await;
    assert_eq!((claimed.len(), claimed[0].attempt), (1, 2));
    world.advance(PERIOD).await;
    assert_eq!(world.reap().await, [record.id], "the new lease counts, and the old one does not");
}

async fn renew_tells_which_are_lost(world: World) {
    let mut held = Vec::new();
    for bits in 1..=5 {
        let record = world.create(bits, signalled(), Some(LEASE)).await;
        held.push((record.id, record.epoch));
    }
    let record = |at: usize| world.here.get(held[at].0);
    let [settled, cancelled, kept] = [record(0), record(1), record(2)];
    let (settled, cancelled, kept) = (works(settled).await, works(cancelled).await, works(kept).await);
    world.changed(&settled.expect("there"), &complete("{}")).await;
    stands(works(world.there.request_cancel(cancelled.expect("there").id)).await);
    let never_claimed = world.create(6, task(), None).await;
    held.push((never_claimed.id, never_claimed.epoch));
    held[3].1 = crate::task::Epoch(7);
    let mut renewed = works(world.here.renew(LEASE, &held)).await;
    renewed.lost.sort_unstable();
    let mut expected = vec![held[0], held[3], held[5]];
    expected.sort_unstable();
    assert_eq!((renewed.lost, renewed.cancel_requested), (expected, vec![held[1]]));
    assert_eq!(world.status(&kept.expect("there")).await, Some(TaskStatus::Working));
}

async fn renew_is_safe_to_repeat(world: World) {
    let record = world.running(1).await;
    world.advance(PERIOD / 2).await;
    for _ in 0..2 {
        assert_eq!(works(world.here.renew(LEASE, &[(record.id, record.epoch)])).await, Default::default());
    }
    assert_eq!(world.get(&record).await, Some(record), "no client can see a renewal");
    assert_eq!(works(world.here.renew(LEASE, &[])).await, Default::default());
}

async fn an_answer_and_a_cancellation_do_not_end_a_lease(world: World) {
    let record = world.create(1, signalled(), Some(LEASE)).await;
    world.changed(&record, &ask("a")).await;
    world.respond(&record, &[("a", "1")]).await;
    stands(works(world.there.request_cancel(record.id)).await);
    world.advance(PERIOD - STEP).await;
    assert_eq!(world.reap().await, []);
    world.advance(STEP).await;
    assert_eq!(world.reap().await, [record.id]);
}

async fn a_lease_outlives_a_restart(world: World) {
    let record = world.running(1).await;
    world.advance(PERIOD - STEP).await;
    let world = world.reopened().await;
    assert!(works(world.here.claim(OTHER, &[Arc::clone(&record.target)], 10)).await.is_empty());
    assert_eq!(world.reap().await, []);
    world.advance(STEP).await;
    assert_eq!(world.reap().await, [record.id]);
}
