//! `commit`: fenced, refused once the task has settled, safe to repeat.

use super::*;
use crate::task::{Epoch, Event, Failure, Progress, Step, Transition};

clauses![
    tsk_08_a_write_of_an_old_or_a_future_epoch_is_refused,
    tsk_08_a_settled_task_never_changes,
    tsk_08_the_first_settlement_stays,
    a_write_to_a_task_that_never_was_is_refused,
    each_write_does_what_the_transitions_say,
    each_write_may_be_repeated,
    tsk_03_a_visible_change_is_dated_later_and_an_invisible_one_is_not,
];

/// One write of each kind.
fn writes(now: crate::clock::UnixMillis) -> Vec<Mutation> {
    let error = Bytes::from_static(b"{\"code\":-32000,\"message\":\"no\"}");
    vec![
        report("half"),
        Mutation::Report { status_message: None, progress: Some(Progress { done: 1, total: 2 }) },
        ask("a"),
        Mutation::Withdraw { name: "a".into(), ordinal: 1 },
        ask("a"),
        Mutation::KeepUntil(now.plus(TTL * 2)),
        Mutation::PollInterval(Duration::from_millis(1)),
        Mutation::Record(Step { key: "s".into(), value: Bytes::from_static(b"1") }),
        Mutation::Settle(Settlement::failed(Failure::Reported { error, message: "no".into() })),
    ]
}

async fn tsk_08_a_write_of_an_old_or_a_future_epoch_is_refused(world: World) {
    let record = world.running(1).await;
    for write in writes(record.created_at).iter().chain([&Mutation::Release]) {
        for epoch in [0, 2, u64::MAX >> 1] {
            refused(works(world.there.commit(record.id, Epoch(epoch), write)).await, Refusal::Fenced);
        }
    }
    assert_eq!(world.get(&record).await, Some(record));
}

async fn tsk_08_a_settled_task_never_changes(world: World) {
    for (settlement, bits) in [
        (Settlement::Completed(Bytes::from_static(b"{}")), 1),
        (Settlement::failed(Failure::Panicked), 2),
        (Settlement::Cancelled, 3),
    ] {
        let record = world.running(bits).await;
        let settled = world.changed(&record, &Mutation::Settle(settlement)).await;
        world.advance(STEP).await;
        for write in writes(record.created_at).iter().chain([&Mutation::Release]) {
            refused(world.commit(&record, write).await, Refusal::Settled);
        }
        assert_eq!(stands(works(world.there.request_cancel(record.id)).await), settled);
        assert_eq!(stands(world.respond(&record, &[("a", "1")]).await), settled);
        assert!(works(world.there.claim(OTHER, &[Arc::clone(&record.target)], 10)).await.is_empty());
        world.advance(PERIOD).await;
        assert_eq!(world.reap().await, []);
        assert_eq!(world.get(&record).await, Some(settled));
    }
}

async fn tsk_08_the_first_settlement_stays(world: World) {
    let record = world.running(1).await;
    let settled = world.changed(&record, &complete("{\"first\":1}")).await;
    for late in [complete("{\"second\":1}"), complete("{\"first\":1}"), Mutation::Settle(Settlement::Cancelled)] {
        refused(works(world.there.commit(record.id, record.epoch, &late)).await, Refusal::Settled);
    }
    assert_eq!(world.get(&record).await, Some(settled));
}

async fn a_write_to_a_task_that_never_was_is_refused(world: World) {
    let never = TaskId::from_bits(1);
    for write in writes(crate::clock::UnixMillis::new(0)) {
        refused(works(world.here.commit(never, Epoch(0), &write)).await, Refusal::Gone);
    }
    refused(works(world.here.respond(never, &[])).await, Refusal::Gone);
    refused(works(world.here.request_cancel(never)).await, Refusal::Gone);
    assert_eq!(works(world.here.input(never, &InputKey::new("a"))).await, None);
    assert_eq!(works(world.here.revs(&[never])).await, []);
    let renewed = works(world.here.renew(LEASE, &[(never, Epoch(1))])).await;
    assert_eq!(renewed.lost, [(never, Epoch(1))]);
}

async fn each_write_does_what_the_transitions_say(world: World) {
    for (bits, new) in [(1, task()), (2, once()), (3, signalled())] {
        let mut record = world.create(bits, new, Some(LEASE)).await;
        for write in writes(record.created_at) {
            let event = Event::Commit { epoch: record.epoch, mutation: &write };
            let real = stands(world.commit(&record, &write).await);
            let expected = match record.after(&event, real.last_updated_at) {
                Transition::Changed(next) => next,
                Transition::Unchanged => Arc::clone(&record),
                Transition::Refused(refusal) => panic!("{write:?}: {refusal}"),
            };
            assert_eq!(real, expected, "{write:?}");
            assert_eq!(world.get(&record).await, Some(Arc::clone(&real)), "{write:?}");
            record = real;
        }
    }
}

async fn each_write_may_be_repeated(world: World) {
    let record = world.running(1).await;
    for write in writes(record.created_at) {
        let once = world.commit(&record, &write).await;
        let again = works(world.there.commit(record.id, record.epoch, &write)).await;
        match &write {
            Mutation::Settle(_) => refused(again, Refusal::Settled),
            _ => assert_eq!(again, once, "{write:?}"),
        }
    }
}

async fn tsk_03_a_visible_change_is_dated_later_and_an_invisible_one_is_not(world: World) {
    let mut record = world.running(1).await;
    let invisible = Mutation::Record(Step { key: "s".into(), value: Bytes::from_static(b"1") });
    // In one moment, where the store's time stands.
    for message in ["1", "2", "3"] {
        let next = world.changed(&record, &report(message)).await;
        assert!(next.last_updated_at > record.last_updated_at);
        record = next;
    }
    world.advance(STEP).await;
    let next = world.changed(&record, &invisible).await;
    assert_eq!((next.last_updated_at, next.rev.0), (record.last_updated_at, record.rev.0 + 1));
    let next = world.changed(&next, &report("4")).await;
    assert!(next.last_updated_at >= record.created_at.plus(STEP));
    assert_eq!(world.get(&record).await, Some(next), "reading changes nothing");
}
