//! `create`: once an id and once a key, within the quota, durable before it is answered.

use super::*;
use crate::{
    error::QuotaExceeded,
    input::{InputKinds, InputLog, RequestHash},
    task::{IdempotencyKey, Progress, Step},
};

clauses![
    new_01_a_task_is_there_for_everybody_once_create_has_answered,
    create_with_an_id_that_is_there_returns_that_task,
    create_with_a_key_that_is_there_returns_that_task,
    a_key_is_one_principals_own,
    a_key_is_free_again_once_its_task_is_gone,
    sec_04_the_quota_of_live_tasks_holds,
    sec_04_the_quota_of_a_principal_holds,
    sec_04_the_quota_of_held_tasks_holds,
    a_full_quota_does_not_hide_what_is_there,
    create_with_a_lease_claims_in_the_same_step,
    everything_of_a_record_is_kept,
    new_01_what_was_answered_survives_a_restart,
    case_26_large_and_odd_payloads_are_kept_to_the_byte,
    case_26_odd_texts_are_kept,
];

fn keyed(principal: &str, text: &str) -> NewTask {
    let key = IdempotencyKey { text: text.into(), call: RequestHash(7) };
    NewTask { key: Some(key), principal: Principal::new(principal), ..task() }
}

async fn new_01_a_task_is_there_for_everybody_once_create_has_answered(world: World) {
    let created = world.create(1, task(), None).await;
    assert_eq!((created.id, created.status()), (TaskId::from_bits(1), TaskStatus::Working));
    assert_eq!((created.attempt, created.epoch.0, created.rev.0), (0, 0, 1));
    assert_eq!(created.created_at, created.last_updated_at);
    assert_eq!(world.get(&created).await, Some(Arc::clone(&created)));
    assert_eq!(works(world.here.get(created.id)).await, Some(created));
    assert_eq!(works(world.there.get(TaskId::from_bits(2))).await, None);
}

async fn create_with_an_id_that_is_there_returns_that_task(world: World) {
    let first = world.create(1, task(), Some(LEASE)).await;
    world.advance(STEP).await;
    for lease in [None, Some(OTHER)] {
        let other = NewTask { principal: Principal::new("bob"), ..once() };
        let again = works(world.there.create(first.id, other, lease, &Quota::UNLIMITED)).await;
        assert_eq!(again, first);
    }
    let settled = world.changed(&first, &complete("{}")).await;
    assert_eq!(world.create(1, task(), Some(LEASE)).await, settled, "a settled one, too");
}

async fn create_with_a_key_that_is_there_returns_that_task(world: World) {
    let first = world.create(1, keyed("alice", "k"), Some(LEASE)).await;
    world.advance(STEP).await;
    let again = works(world.there.create(TaskId::from_bits(2), keyed("alice", "k"), None, &Quota::UNLIMITED)).await;
    assert_eq!(again, first);
    assert_eq!(works(world.here.get(TaskId::from_bits(2))).await, None, "no second task was made");
    let settled = world.changed(&first, &complete("{}")).await;
    assert_eq!(world.create(3, keyed("alice", "k"), None).await, settled);
    assert_eq!(world.create(4, keyed("alice", "other"), None).await.id.to_bits(), 4);
}

async fn a_key_is_one_principals_own(world: World) {
    assert_eq!(world.create(1, keyed("alice", "k"), None).await.id.to_bits(), 1);
    assert_eq!(world.create(2, keyed("bob", "k"), None).await.id.to_bits(), 2);
    assert_eq!(world.create(3, keyed("", "k"), None).await.id.to_bits(), 3);
    // Not by putting name and key together.
    assert_eq!(world.create(4, keyed("alic", "ek"), None).await.id.to_bits(), 4);
    assert_eq!(world.create(5, task(), None).await.id.to_bits(), 5);
    assert_eq!(world.create(6, task(), None).await.id.to_bits(), 6);
}

async fn a_key_is_free_again_once_its_task_is_gone(world: World) {
    world.create(1, keyed("alice", "k"), None).await;
    world.advance(TTL).await;
    assert_eq!(world.create(2, keyed("alice", "k"), None).await.status(), TaskStatus::Failed, "readable for the grace");
    world.advance(GRACE).await;
    // Before any sweep.
    let new = world.create(3, keyed("alice", "k"), None).await;
    assert_eq!((new.id.to_bits(), new.status()), (3, TaskStatus::Working));
    world.reap().await;
    assert_eq!(world.create(4, keyed("alice", "k"), None).await, new, "the sweep of the old one leaves the new one");
}

async fn within(world: &World, bits: u128, task: NewTask, quota: Quota) -> Result<u128, QuotaExceeded> {
    match world.there.create(TaskId::from_bits(bits), task, None, &quota).await {
        Ok(record) => Ok(record.id.to_bits()),
        Err(StoreError::QuotaExceeded(which)) => Err(which),
        Err(error) => panic!("create failed: {error:?}"),
    }
}

async fn sec_04_the_quota_of_live_tasks_holds(world: World) {
    let quota = Quota { live: 2, ..Quota::UNLIMITED };
    let first = world.running(1).await;
    assert_eq!(within(&world, 2, keyed("bob", "k"), quota).await, Ok(2));
    assert_eq!(within(&world, 3, task(), quota).await, Err(QuotaExceeded::Live(2)));
    assert_eq!(works(world.here.get(TaskId::from_bits(3))).await, None);
    world.changed(&first, &complete("{}")).await;
    assert_eq!(within(&world, 3, task(), quota).await, Ok(3), "a settled task is not live");
    assert_eq!(within(&world, 4, task(), Quota { live: 0, ..quota }).await, Err(QuotaExceeded::Live(0)));
}

async fn sec_04_the_quota_of_a_principal_holds(world: World) {
    let quota = Quota { live_per_principal: 1, ..Quota::UNLIMITED };
    let first = world.running(1).await;
    assert_eq!(within(&world, 2, task(), quota).await, Err(QuotaExceeded::LivePerPrincipal(1)));
    assert_eq!(within(&world, 3, keyed("bob", "k"), quota).await, Ok(3), "others have their own");
    stands(works(world.there.request_cancel(first.id)).await);
    assert_eq!(within(&world, 4, task(), quota).await, Ok(4));
    world.advance(TTL).await;
    world.reap().await;
    assert_eq!(within(&world, 5, task(), quota).await, Ok(5), "an expired task is not live");
}

async fn sec_04_the_quota_of_held_tasks_holds(world: World) {
    let quota = Quota { held: 1, ..Quota::UNLIMITED };
    let first = world.running(1).await;
    world.changed(&first, &complete("{}")).await;
    assert_eq!(within(&world, 2, task(), quota).await, Err(QuotaExceeded::Held(1)));
    world.advance(TTL).await;
    world.reap().await;
    assert_eq!(within(&world, 2, task(), quota).await, Ok(2));
}

async fn a_full_quota_does_not_hide_what_is_there(world: World) {
    let none = Quota { live: 0, live_per_principal: 0, held: 0 };
    world.create(1, keyed("alice", "k"), None).await;
    assert_eq!(within(&world, 1, task(), none).await, Ok(1));
    assert_eq!(within(&world, 2, keyed("alice", "k"), none).await, Ok(1));
}

async fn create_with_a_lease_claims_in_the_same_step(world: World) {
    let created = world.running(1).await;
    assert_eq!((created.attempt, created.epoch.0), (1, 1));
    let target = task().target;
    assert!(works(world.there.claim(OTHER, &[target], 10)).await.is_empty());
    world.changed(&created, &report("mine")).await;
}

/// With nothing left at its default.
fn rich() -> NewTask {
    let question = |name: &str| Question { name: name.into(), ordinal: 1, request: Bytes::from_static(b"{}") };
    let mut inputs = InputLog::new();
    inputs.answered_before(&question("before"), Bytes::from_static(b"[1]"));
    NewTask {
        ttl: None,
        poll_interval: None,
        grace: Duration::from_millis(1),
        declared: InputKinds::from_bits(5),
        status_message: Some("".into()),
        progress: Some(Progress { done: 0, total: u64::MAX }),
        steps: vec![Step { key: "s".into(), value: Bytes::from_static(b"null") }],
        inputs,
        ..keyed("alice", "k")
    }
}

async fn everything_of_a_record_is_kept(world: World) {
    for (bits, new) in [(1, rich()), (2, NewTask { on_restart: OnRestart::Fail, key: None, ..rich() }), (3, task())] {
        let created = world.create(bits, new.clone(), None).await;
        let expected = TaskRecord::new(created.id, new, created.created_at);
        assert_eq!(*created, expected);
        assert_eq!(world.get(&created).await.as_deref(), Some(&expected));
    }
}

async fn new_01_what_was_answered_survives_a_restart(world: World) {
    let first = world.running(1).await;
    world.changed(&first, &ask("a")).await;
    let asked = world.changed(&first, &ask("b")).await;
    let answered = stands(world.respond(&asked, &[("a", "1")]).await);
    let told = works(world.here.create(TaskId::from_bits(2), signalled(), Some(LEASE), &Quota::UNLIMITED)).await;
    let told = stands(works(world.here.request_cancel(told.id)).await);
    let ended = world.running(3).await;
    let ended = world.changed(&ended, &complete("{\"content\":[]}")).await;
    let world = world.reopened().await;
    for record in [answered, told, ended] {
        assert_eq!(world.get(&record).await, Some(record));
    }
}

/// JSON texts that trip whoever parses them, and a large one.
fn payloads() -> Vec<Bytes> {
    let mut texts: Vec<String> = [
        r#"{"a":"\u0000","b":"\ud800","c":"\"'\\%$1?;--"}"#,
        "{\"n\":[9007199254740993,18446744073709551616,1e400,-0,1.0]}",
        "{\"z\":1,\"a\":2,\"z\":3}",
        " { \"spaced\" : [ ] } ",
        "{\"t\":\"\u{0}\u{1}\u{7f}\u{2028}\u{10ffff}é\"}",
        "null",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push(format!("{}{}", "[".repeat(200), "]".repeat(200)));
    texts.push(format!("\"{}\"", "0123456789abcdef".repeat(64 << 10)));
    let mut payloads: Vec<Bytes> = texts.into_iter().map(Bytes::from).collect();
    // Payloads are opaque: not even UTF-8 is promised.
    payloads.push(Bytes::from_static(&[0, 0xff, 0xfe, b'\\', b'x', 0x80]));
    payloads
}

async fn case_26_large_and_odd_payloads_are_kept_to_the_byte(world: World) {
    for (payload, bits) in payloads().into_iter().zip(1_u128..) {
        let new = NewTask { arguments: payload.clone(), ..task() };
        let record = world.create(bits, new, Some(LEASE)).await;
        let question = Question { name: "a".into(), ordinal: 1, request: payload.clone() };
        world.changed(&record, &Mutation::Ask(question)).await;
        world.changed(&record, &Mutation::Record(Step { key: "s".into(), value: payload.clone() })).await;
        works(world.there.respond(record.id, &[(InputKey::new("a"), payload.clone())])).await;
        let open = world.get(&record).await.expect("the task is there");
        assert_eq!(open.journal.arguments(), payload);
        assert_eq!(open.journal.steps()[0].value, payload);
        assert_eq!(world.input(&record, "a").await, Some(payload.clone()));
        let ended = world.changed(&record, &Mutation::Settle(Settlement::Completed(payload.clone()))).await;
        assert_eq!(ended.state, crate::task::TaskState::Settled(Settlement::Completed(payload)));
        assert_eq!(world.get(&record).await, Some(ended));
    }
}

async fn case_26_odd_texts_are_kept(world: World) {
    let odd = ["", "\0", "a\0b", "' OR 1=1 --", "\\", "%_", "\u{10ffff}", "é", "e\u{301}", " ", "\n"];
    for (text, bits) in odd.into_iter().zip(1_u128..) {
        let target = Arc::new(Target::new("tools/call", text, text));
        let new = NewTask {
            principal: Principal::new(text),
            target: Arc::clone(&target),
            status_message: Some(text.into()),
            ..keyed(text, text)
        };
        let created = world.create(bits, new.clone(), None).await;
        assert_eq!(created.id.to_bits(), bits, "{text:?} is a key of its own");
        let again = world.create(100, new, None).await;
        assert_eq!(again, created);
        let claimed = works(world.here.claim(LEASE, &[target], 10)).await;
        assert_eq!(ids(&claimed), [bits], "{text:?} is a target of its own");
        world.changed(&claimed[0], &ask(text)).await;
        let asked = world.changed(&claimed[0], &report(text)).await;
        assert_eq!(world.get(&created).await, Some(asked));
        let answered = stands(world.respond(&created, &[("no such\0key", "1"), (text, "2")]).await);
        assert_eq!(answered.status(), TaskStatus::Working);
        assert_eq!(world.input(&created, text).await, Some(Bytes::from_static(b"2")));
    }
}
