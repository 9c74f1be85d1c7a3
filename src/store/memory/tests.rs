use std::time::Duration;

use super::*;
use crate::{
    clock::{ManualClock, UnixMillis},
    input::{Question, RequestHash},
    principal::Principal,
    store::{Heard, Hint, WorkerId},
    task::{IdempotencyKey, OnRestart, Refusal, Settlement, TaskStatus},
};

const PERIOD: Duration = Duration::from_secs(10);
const LEASE: Lease = Lease { worker: WorkerId(1), period: PERIOD };

fn store() -> (ManualClock, MemoryStore) {
    let clock = ManualClock::default();
    (clock.clone(), MemoryStore::new(Arc::new(clock)))
}

fn task() -> NewTask {
    let target = Arc::new(Target::new("tools/call", "tool", "1"));
    let on_restart = OnRestart::Rerun { max_attempts: 2 };
    NewTask { on_restart, ..NewTask::new(Principal::local(), target, Bytes::from_static(b"{}")) }
}

fn ask(name: &str) -> Mutation {
    Mutation::Ask(Question { name: name.into(), ordinal: 1, request: Bytes::from_static(b"{}") })
}

async fn create(store: &MemoryStore, bits: u128, lease: Option<Lease>) -> Arc<TaskRecord> {
    store.create(TaskId::from_bits(bits), task(), lease, &Quota::UNLIMITED).await.expect("created")
}

async fn commit(store: &MemoryStore, record: &TaskRecord, mutation: &Mutation) -> Written {
    store.commit(record.id, record.epoch, mutation).await.expect("a memory store works")
}

fn status(written: Written) -> Result<TaskStatus, Refusal> {
    match written {
        Written::Stands(record) => Ok(record.status()),
        Written::Refused(refusal) => Err(refusal),
    }
}

/// NEW-01: creation is idempotent, and the task is there at once.
#[tokio::test]
async fn a_task_is_created_once() {
    let (clock, store) = store();
    let first = create(&store, 1, Some(LEASE)).await;
    clock.advance(Duration::from_secs(1));
    assert_eq!(create(&store, 1, Some(LEASE)).await, first);
    assert_eq!(store.get(first.id).await.expect("it works"), Some(first));
    assert_eq!(store.len(), 1);
}

/// A call made again with its key gets the task that it has made, for as long as that is there, and nobody else does.
#[tokio::test]
async fn a_key_names_one_task_of_a_principal() {
    let (clock, store) = store();
    let keyed = |principal: &str| {
        let key = IdempotencyKey { text: "k".into(), call: RequestHash(7) };
        NewTask { key: Some(key), principal: Principal::new(principal), ..task() }
    };
    let create = |bits, principal: &str| {
        let created = store.create(TaskId::from_bits(bits), keyed(principal), None, &Quota::UNLIMITED);
        async move { created.await.expect("created").id.to_bits() }
    };
    assert_eq!(create(1, "alice").await, 1);
    assert_eq!(create(2, "alice").await, 1);
    assert_eq!(create(3, "bob").await, 3);
    clock.advance(Duration::from_secs(3600 + 60));
    assert_eq!(create(4, "alice").await, 4);
}

/// UPD-06: of two answers to one key the first is kept, and the worker reads that.
#[tokio::test]
async fn the_first_answer_wins() {
    let (_, store) = store();
    let record = create(&store, 1, Some(LEASE)).await;
    assert_eq!(status(commit(&store, &record, &ask("a")).await), Ok(TaskStatus::InputRequired));
    let key = InputKey::new("a");
    assert_eq!(store.input(record.id, &key).await.expect("it works"), None);
    for answer in ["1", "2"] {
        let answered = store.respond(record.id, &[(key.clone(), answer.into())]).await.expect("it works");
        assert_eq!(status(answered), Ok(TaskStatus::Working));
    }
    assert_eq!(store.input(record.id, &key).await.expect("it works").as_deref(), Some(&b"1"[..]));
}

/// A lease ends a period after it was given or renewed last; then its task can be claimed, and its holder is fenced.
#[tokio::test]
async fn leases_end_unless_renewed() {
    let (clock, store) = store();
    let (kept, lost) = (create(&store, 1, Some(LEASE)).await, create(&store, 2, Some(LEASE)).await);
    for _ in 0..3 {
        clock.advance(PERIOD / 2);
        let renewed = store.renew(LEASE, &[(kept.id, kept.epoch)]).await.expect("it works");
        assert_eq!(renewed, Renewed::default());
        store.reap(100).await.expect("it works");
    }
    let renewed = store.renew(LEASE, &[(lost.id, lost.epoch), (kept.id, kept.epoch)]).await.expect("it works");
    assert_eq!(renewed.lost, [(lost.id, lost.epoch)]);
    assert_eq!(status(commit(&store, &lost, &ask("a")).await), Err(Refusal::Fenced));
    let other = Lease { worker: WorkerId(2), period: PERIOD };
    let claimed = store.claim(other, &[task().target], 10).await.expect("it works");
    assert_eq!(claimed.iter().map(|record| (record.id, record.attempt)).collect::<Vec<_>>(), [(lost.id, 2)]);
    assert!(store.claim(other, &[task().target], 10).await.expect("it works").is_empty());
    assert_eq!(status(commit(&store, &claimed[0], &ask("a")).await), Ok(TaskStatus::InputRequired));
    clock.advance(PERIOD);
    let reaped = store.reap(100).await.expect("it works");
    assert_eq!(reaped.abandoned.len(), 2);
}

/// Claims go by target and by age, and take each task once.
#[tokio::test]
async fn the_oldest_of_a_target_is_claimed_first() {
    let (clock, store) = store();
    for bits in [9, 5, 7] {
        create(&store, bits, None).await;
        clock.advance(Duration::from_millis(1));
    }
    let other = Arc::new(Target::new("tools/call", "other", "1"));
    assert!(store.claim(LEASE, &[other], 10).await.expect("it works").is_empty());
    let mut order = Vec::new();
    for _ in 0..2 {
        let claimed = store.claim(LEASE, &[task().target], 2).await.expect("it works");
        order.push(claimed.iter().map(|record| record.id.to_bits()).collect::<Vec<_>>());
    }
    assert_eq!(order, [vec![9, 5], vec![7]]);
}

/// Cancellation reaches the worker with its next renewal, for hints may be lost.
#[tokio::test]
async fn a_renewal_brings_cancellations() {
    let (_, store) = store();
    let signalled = NewTask { on_cancel: crate::task::OnCancel::Signal, ..task() };
    let told = store.create(TaskId::from_bits(1), signalled, Some(LEASE), &Quota::UNLIMITED).await.expect("created");
    let dropped = create(&store, 2, Some(LEASE)).await;
    for record in [&told, &dropped] {
        store.request_cancel(record.id).await.expect("it works");
    }
    let held = [(told.id, told.epoch), (dropped.id, dropped.epoch)];
    let renewed = store.renew(LEASE, &held).await.expect("it works");
    assert_eq!((renewed.cancel_requested, renewed.lost), (vec![held[0]], vec![held[1]]));
}

/// Each change that a client can see gives a hint, also the one that time makes; reading gives none.
#[tokio::test]
async fn changes_give_hints() {
    let (clock, store) = store();
    let mut hints = store.watch();
    let record = create(&store, 1, Some(LEASE)).await;
    commit(&store, &record, &ask("a")).await;
    store.get(record.id).await.expect("it works");
    store.respond(record.id, &[(InputKey::new("b"), Bytes::new())]).await.expect("it works");
    clock.advance(Duration::from_secs(3600));
    store.get(record.id).await.expect("it works");
    for rev in [record.rev.0 + 1, record.rev.0 + 2] {
        assert_eq!(hints.next().await, Some(Heard::Hint(Hint { id: record.id, rev: Rev(rev) })));
    }
    let revs = store.revs(&[record.id, TaskId::from_bits(2)]).await.expect("it works");
    assert_eq!(revs, [(record.id, Rev(record.rev.0 + 2))]);
    drop(store);
    assert_eq!(hints.next().await, None);
}

/// Case 23, GET-05: a sweep takes what has expired, in bounded bites, and leaves nothing of it behind.
#[tokio::test]
async fn a_sweep_takes_bites() {
    let (clock, store) = store();
    for bits in 0..25_u128 {
        let record = create(&store, bits, Some(LEASE)).await;
        if bits % 2 == 0 {
            commit(&store, &record, &Mutation::Settle(Settlement::Cancelled)).await;
        }
    }
    clock.advance(Duration::from_secs(3600));
    let mut bites = Vec::new();
    loop {
        let Reaped { expired, abandoned, removed, more } = store.reap(10).await.expect("it works");
        bites.push((expired.len() + abandoned.len() + removed, more));
        if !more {
            break;
        }
    }
    assert_eq!(bites.iter().map(|(count, _)| count).sum::<usize>(), 25, "{bites:?}");
    assert_eq!(store.len(), 12);
    clock.advance(Duration::from_secs(60));
    assert_eq!(store.reap(100).await.expect("it works").removed, 12);
    assert!(store.is_empty());
    clock.set(UnixMillis::NEVER);
    assert_eq!(store.reap(100).await.expect("it works"), Reaped::default());
}
