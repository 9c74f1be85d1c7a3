//! The time to live: it takes effect on reading, before any sweep, and for good.

use super::*;
use crate::task::{Failure, TaskState};

clauses![
    get_05_an_open_task_expires_on_reading_and_is_readable_for_its_grace,
    case_22_a_settled_task_is_gone_on_reading,
    get_05_a_sweep_finds_what_has_expired_and_removes_what_is_gone,
    get_05_an_expired_task_stays_expired_when_the_clock_steps_back,
    tsk_03_dates_grow_when_the_clock_steps_back,
    a_longer_life_is_kept,
    tasks_without_a_time_to_live_stay,
    a_sweep_takes_bites,
    an_id_is_free_again_once_its_task_is_gone,
];

fn expired() -> TaskState {
    TaskState::Settled(Settlement::failed(Failure::Expired))
}

async fn get_05_an_open_task_expires_on_reading_and_is_readable_for_its_grace(world: World) {
    let record = world.running(1).await;
    world.changed(&record, &ask("a")).await;
    world.advance(TTL - STEP).await;
    assert_eq!(world.status(&record).await, Some(TaskStatus::InputRequired));
    world.advance(STEP).await;
    let failed = world.get(&record).await.expect("readable for the grace");
    assert_eq!((&failed.state, failed.last_updated_at), (&expired(), record.created_at.plus(TTL)));
    assert_eq!(works(world.here.get(record.id)).await, Some(Arc::clone(&failed)), "from everywhere the same");
    assert_eq!(stands(works(world.here.request_cancel(record.id)).await), failed);
    assert_eq!(stands(world.respond(&record, &[("a", "1")]).await), failed);
    refused(world.commit(&record, &complete("{}")).await, Refusal::Settled);
    assert_eq!(works(world.here.revs(&[record.id])).await, [(record.id, failed.rev)]);
    assert_eq!(works(world.here.renew(LEASE, &[(record.id, record.epoch)])).await.lost.len(), 1);
    world.advance(GRACE - STEP).await;
    assert_eq!(world.get(&record).await, Some(failed));
    world.advance(STEP).await;
    gone(&world, &record).await;
}

async fn gone(world: &World, record: &TaskRecord) {
    assert_eq!(world.get(record).await, None);
    refused(works(world.there.request_cancel(record.id)).await, Refusal::Gone);
    refused(world.respond(record, &[("a", "1")]).await, Refusal::Gone);
    refused(world.commit(record, &complete("{}")).await, Refusal::Gone);
    assert_eq!(works(world.here.revs(&[record.id])).await, []);
    assert_eq!(works(world.here.renew(LEASE, &[(record.id, record.epoch)])).await.lost.len(), 1);
    assert_eq!(world.input(record, "a").await, None);
}

async fn case_22_a_settled_task_is_gone_on_reading(world: World) {
    let record = world.running(1).await;
    let ended = world.changed(&record, &complete("{}")).await;
    world.advance(TTL - STEP).await;
    assert_eq!(world.get(&record).await, Some(ended));
    world.advance(STEP).await;
    gone(&world, &record).await;
    world.reap().await;
    gone(&world, &record).await;
}

async fn get_05_a_sweep_finds_what_has_expired_and_removes_what_is_gone(world: World) {
    let open = world.running(1).await;
    let ended = world.running(2).await;
    world.changed(&ended, &complete("{}")).await;
    let held: Vec<_> = [(&open, 20)].map(|(record, _)| (record.id, record.epoch)).to_vec();
    let short = Lease { period: TTL * 2, ..LEASE };
    assert_eq!(works(world.here.renew(short, &held)).await.lost, []);
    world.advance(TTL).await;
    let reaped = works(world.there.reap(100)).await;
    assert_eq!((reaped.expired, reaped.abandoned, reaped.removed), (vec![open.id], vec![], 1));
    assert_eq!(world.get(&open).await.map(|record| record.state.clone()), Some(expired()));
    let again = works(world.there.reap(100)).await;
    assert_eq!((again.expired, again.abandoned, again.removed, again.more), (vec![], vec![], 0, false));
    world.advance(GRACE).await;
    assert_eq!(works(world.there.reap(100)).await.removed, 1);
    gone(&world, &open).await;
}

async fn get_05_an_expired_task_stays_expired_when_the_clock_steps_back(world: World) {
    let (open, swept, ended) = (world.running(1).await, world.running(2).await, world.running(3).await);
    world.changed(&ended, &complete("{}")).await;
    world.advance(TTL).await;
    let failed = world.get(&open).await.expect("readable for the grace");
    assert_eq!(failed.state, expired());
    assert_eq!(world.get(&ended).await, None);
    world.reap().await;
    world.subject.set_back(TTL).await;
    assert_eq!(world.get(&open).await, Some(failed));
    refused(world.commit(&open, &complete("{}")).await, Refusal::Settled);
    refused(world.commit(&swept, &complete("{}")).await, Refusal::Settled);
    assert_eq!(world.get(&ended).await, None);
    assert!(works(world.here.claim(OTHER, &[task().target], 10)).await.is_empty());
}

async fn tsk_03_dates_grow_when_the_clock_steps_back(world: World) {
    let mut record = world.running(1).await;
    for message in ["1", "2", "3"] {
        world.subject.set_back(STEP).await;
        let next = world.changed(&record, &report(message)).await;
        assert!(next.last_updated_at > record.last_updated_at);
        assert!(next.last_updated_at >= next.created_at);
        record = next;
    }
}

async fn a_longer_life_is_kept(world: World) {
    let record = world.running(1).await;
    let kept = world.changed(&record, &Mutation::KeepUntil(record.created_at.plus(TTL * 2))).await;
    assert_eq!(kept.ttl, Some(TTL * 2));
    let same = world.changed(&record, &Mutation::KeepUntil(record.created_at.plus(STEP))).await;
    assert_eq!(same, kept, "never a shorter one");
    let lease = Lease { period: TTL * 3, ..LEASE };
    assert_eq!(works(world.here.renew(lease, &[(record.id, record.epoch)])).await.lost, []);
    world.advance(TTL).await;
    assert_eq!(world.reap().await, []);
    assert_eq!(world.status(&record).await, Some(TaskStatus::Working));
    world.advance(TTL).await;
    assert_eq!(world.status(&record).await, Some(TaskStatus::Failed));
}

async fn tasks_without_a_time_to_live_stay(world: World) {
    let record = world.create(1, NewTask { ttl: None, ..task() }, None).await;
    assert_eq!(record.ttl, None);
    for _ in 0..20 {
        world.advance(Duration::from_secs(86_400)).await;
    }
    world.reap().await;
    assert_eq!(world.get(&record).await, Some(record));
}

async fn a_sweep_takes_bites(world: World) {
    for bits in 0..25 {
        let record = world.create(bits, once(), Some(LEASE)).await;
        if bits % 2 == 0 {
            world.changed(&record, &complete("{}")).await;
        }
    }
    world.advance(TTL + GRACE).await;
    let mut removed = 0;
    for bite in 0.. {
        let reaped = works(world.here.reap(10)).await;
        let dealt_with = reaped.expired.len() + reaped.abandoned.len() + reaped.removed;
        assert!(dealt_with <= 10 && bite < 100, "{reaped:?}");
        removed += reaped.removed;
        if !reaped.more {
            break;
        }
    }
    assert_eq!(removed, 25);
    assert_eq!(works(world.here.reap(10)).await, Default::default());
}

async fn an_id_is_free_again_once_its_task_is_gone(world: World) {
    let record = world.running(1).await;
    world.changed(&record, &complete("{}")).await;
    world.advance(TTL).await;
    let new = world.create(1, once(), None).await;
    assert_eq!((new.status(), new.epoch.0), (TaskStatus::Working, 0));
    world.reap().await;
    assert_eq!(world.get(&new).await, Some(new));
}
