//! `watch` and `revs`: hints arrive everywhere in the end, and whoever asks for revisions needs none.

use std::collections::HashSet;

use super::*;
use crate::store::{Heard, Hints};

clauses![
    a_change_is_heard_on_another_connection,
    the_end_of_a_task_is_heard_whoever_ends_it,
    revs_tell_where_tasks_are,
    each_change_raises_the_revision,
];

/// How long to wait for hints: they may be late, and some of them lost, but a store whose hints never come is of no use.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until every one of these tasks was heard of, or may have been.
async fn hear(hints: &mut Hints, ids: &[TaskId]) {
    let mut missing: HashSet<TaskId> = ids.iter().copied().collect();
    let heard = tokio::time::timeout(PATIENCE, async {
        while !missing.is_empty() {
            match hints.next().await {
                Some(Heard::Hint(hint)) => _ = missing.remove(&hint.id),
                Some(Heard::Claimable) => {}
                Some(Heard::Missed) => missing.clear(),
                None => panic!("the hints ended while the store is open"),
            }
        }
    });
    if heard.await.is_err() {
        panic!("no hint of {missing:?} came within {PATIENCE:?}");
    }
}

async fn a_change_is_heard_on_another_connection(world: World) {
    let (mut here, mut there) = (world.here.watch(), world.there.watch());
    let (one, two) = (world.running(1).await, world.running(2).await);
    world.changed(&one, &report("1")).await;
    world.changed(&two, &ask("a")).await;
    hear(&mut here, &[one.id, two.id]).await;
    hear(&mut there, &[one.id, two.id]).await;
    // A worker waits for answers, on a connection that others answer on.
    let mut here = world.here.watch();
    world.respond(&two, &[("a", "1")]).await;
    hear(&mut here, &[two.id]).await;
}

async fn the_end_of_a_task_is_heard_whoever_ends_it(world: World) {
    let records = [world.running(1).await, world.running(2).await, world.create(3, once(), Some(LEASE)).await];
    let lasting = Lease { period: TTL * 2, ..LEASE };
    let expiring = world.create(4, task(), Some(lasting)).await;
    for watched in [true, false] {
        let store = if watched { &world.here } else { &world.there };
        drop(store.watch());
    }
    let (mut here, mut there) = (world.here.watch(), world.there.watch());
    world.changed(&records[0], &complete("{}")).await;
    stands(works(world.here.request_cancel(records[1].id)).await);
    world.advance(PERIOD).await;
    assert!(world.reap().await.contains(&records[2].id));
    world.advance(TTL - PERIOD).await;
    world.reap().await;
    let all = [records[0].id, records[1].id, records[2].id, expiring.id];
    hear(&mut here, &all).await;
    hear(&mut there, &all).await;
}

async fn revs_tell_where_tasks_are(world: World) {
    let (one, two) = (world.running(1).await, world.create(2, task(), None).await);
    let one = world.changed(&one, &report("1")).await;
    let mut revs = works(world.there.revs(&[one.id, TaskId::from_bits(9), two.id])).await;
    revs.sort_unstable();
    assert_eq!(revs, [(one.id, one.rev), (two.id, two.rev)]);
    assert_eq!(works(world.there.revs(&[])).await, []);
}

async fn each_change_raises_the_revision(world: World) {
    let mut record = world.running(1).await;
    for step in 0..5 {
        let next = world.changed(&record, &report(&step.to_string())).await;
        assert!(next.rev > record.rev);
        assert_eq!(works(world.there.revs(&[record.id])).await, [(record.id, next.rev)]);
        record = next;
    }
}
