//! Creation: when the store does not say whether it was done, and when the call has a key.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_tasks::{
    clock::ManualClock,
    engine::{Call, Engine, Promotion, Ran, TaskEngine, Work},
    error::EngineError,
    input::RequestHash,
    store::{Lease, Operation, TaskStore, WorkerId, faulty::Fault},
    task::{IdempotencyKey, NewTask, OnRestart},
};

use crate::support::*;

const LEASE: Duration = Duration::from_secs(6);

/// An engine on a store that can be made to fail, and a tool that counts its runs.
struct Doubt {
    clock: ManualClock,
    store: Arc<Faulty>,
    engine: Engine,
    runs: Arc<AtomicUsize>,
}

impl Doubt {
    fn new() -> Self {
        let clock = ManualClock::default();
        let store = faulty(&clock);
        let engine = engine_on(store.clone(), &clock, |builder| builder.lease(LEASE));
        store.script(Operation::Create, [Some(Fault::After)]);
        Self { clock, store, engine, runs: Arc::default() }
    }

    fn call(&self, task: NewTask) -> Call {
        let runs = Arc::clone(&self.runs);
        let work = Work::new(move |task| async move {
            runs.fetch_add(1, Ordering::SeqCst);
            task.sleep(Duration::from_secs(60)).await;
            completed("1")
        });
        Call::new(task, work)
    }

    /// Moves the clock on, step by step.
    async fn pass(&self, time: Duration) {
        settle_down().await;
        for _ in 0..time.as_millis() / 50 {
            self.clock.advance(Duration::from_millis(50));
            settle_down().await;
        }
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

/// NEW-03: a creation that was made and not known to be is found out before the client is answered; the tool starts once.
#[tokio::test]
async fn a_doubtful_creation_is_found_out() {
    let doubt = Doubt::new();
    let (engine, call) = (doubt.engine.clone(), doubt.call(new_task()));
    let created = tokio::spawn(async move { engine.create(call).await });
    doubt.pass(Duration::from_millis(50)).await;
    let record = created.await.expect("no panic").expect("created");
    doubt.pass(LEASE * 2).await;
    assert_eq!(show(&doubt.engine.get(&alice(), record.id).await.expect("it is there")), "working");
    assert_eq!((doubt.runs(), doubt.store.inner().len()), (1, 1));
}

/// NEW-03, case 45: so is a promotion.
#[tokio::test]
async fn a_doubtful_promotion_is_found_out() {
    let doubt = Doubt::new();
    let (engine, call) = (doubt.engine.clone(), doubt.call(new_task()));
    let promotion = Promotion::After(Duration::from_secs(1));
    let ran = tokio::spawn(async move { engine.run(call, promotion, None).await });
    doubt.pass(Duration::from_millis(1_100)).await;
    assert!(matches!(ran.await.expect("no panic"), Ok(Ran::Promoted(_))));
    assert_eq!((doubt.runs(), doubt.engine.running(), doubt.store.inner().len()), (1, 1, 1));
}

/// NEW-03: a store that never says what it did makes the call fail in the end; what it did is called off as soon as it can
/// be, so that nobody runs it, whatever the tool does after a restart.
#[tokio::test]
async fn a_creation_that_stays_in_doubt_is_called_off() {
    for on_restart in [OnRestart::Fail, OnRestart::Rerun { max_attempts: 3 }] {
        let doubt = Doubt::new();
        let (engine, call) = (doubt.engine.clone(), doubt.call(NewTask { on_restart, ..new_task() }));
        let created = tokio::spawn(async move { engine.create(call).await });
        settle_down().await;
        doubt.store.break_down(true);
        doubt.pass(LEASE - Duration::from_millis(100)).await;
        assert!(!created.is_finished());
        doubt.pass(Duration::from_secs(2)).await;
        assert!(matches!(created.await.expect("no panic"), Err(EngineError::Store(_))));
        doubt.store.break_down(false);
        doubt.pass(Duration::from_secs(3)).await;
        assert_eq!((doubt.store.inner().len(), doubt.runs(), doubt.engine.running()), (1, 0, 0));
        let (other, targets) = (Lease { worker: WorkerId(9), period: LEASE }, [new_task().target]);
        let left = doubt.store.claim(other, &targets, 9).await.expect("the store works");
        assert!(left.is_empty(), "nothing is left to run");
    }
}

/// NEW-01, TSK-08: a creation with a key that stays in doubt is not called off: a client that asks again is given the task, and
/// nobody cancels what it was given.
#[tokio::test]
async fn a_creation_with_a_key_is_not_called_off() {
    let doubt = Doubt::new();
    let task = || NewTask { on_restart: OnRestart::Rerun { max_attempts: 3 }, ..keyed(b"a") };
    let (engine, call) = (doubt.engine.clone(), doubt.call(task()));
    let created = tokio::spawn(async move { engine.create(call).await });
    settle_down().await;
    doubt.store.break_down(true);
    doubt.pass(LEASE + Duration::from_secs(2)).await;
    assert!(matches!(created.await.expect("no panic"), Err(EngineError::Store(_))));
    doubt.store.break_down(false);
    let found = doubt.engine.create(doubt.call(task())).await.expect("found");
    doubt.pass(Duration::from_secs(3)).await;
    assert_eq!(show(&doubt.engine.get(&alice(), found.id).await.expect("it is there")), "working");
    assert_eq!((doubt.store.inner().len(), doubt.runs()), (1, 0));
    let (other, targets) = (Lease { worker: WorkerId(9), period: LEASE }, [new_task().target]);
    let left = doubt.store.claim(other, &targets, 9).await.expect("the store works");
    assert_eq!(left.len(), 1, "another worker runs it");
}

/// A store that says that it did nothing is believed at once.
#[tokio::test]
async fn a_store_that_is_not_there_is_not_waited_for() {
    let doubt = Doubt::new();
    doubt.store.break_down(true);
    assert!(matches!(doubt.engine.create(doubt.call(new_task())).await, Err(EngineError::Store(_))));
    assert_eq!(doubt.runs(), 0);
}

fn keyed(call: &[u8]) -> NewTask {
    let key = IdempotencyKey { text: "k".into(), call: RequestHash::of(call) };
    NewTask { key: Some(key), ..new_task() }
}

/// NEW-01: a call that is made again, on another node, gets its task, and starts nothing; with the key of another call it is
/// refused.
#[tokio::test]
async fn a_key_holds_on_every_node() {
    let clock = ManualClock::default();
    let store = faulty(&clock);
    let nodes = [0, 1].map(|_| engine_on(store.clone(), &clock, |builder| builder));
    let pending = || Work::new(|_| std::future::pending());
    let first = nodes[0].create(Call::new(keyed(b"a"), pending())).await.expect("created");
    let again = Work::new(|_| async { unreachable!("started already") });
    let second = nodes[1].create(Call::new(keyed(b"a"), again)).await.expect("found");
    assert_eq!(first, second);
    assert_eq!(nodes[1].running(), 0);
    let other = Work::new(|_| async { unreachable!("refused") });
    let error = nodes[1].create(Call::new(keyed(b"b"), other)).await.expect_err("another call");
    assert!(matches!(&error, EngineError::KeyTaken { key } if &**key == "k"), "{error}");
    assert_eq!(store.inner().len(), 1);
}

/// Case 45: a keyed call that may stay inside its request, and asks something, is a task at once.
#[tokio::test]
async fn a_keyed_call_that_asks_is_a_task_at_once() {
    let world = World::new();
    let work = Work::new(|task| async move {
        let asked = task.ask(mcp_tasks::input::InputKind::Roots, "a", bytes::Bytes::from_static(b"{}")).await;
        completed(asked.expect("the test answers"))
    });
    let ran = world.engine.run(Call::new(keyed(b"a"), work), Promotion::After(Duration::from_secs(9)), None).await;
    let Ok(Ran::Promoted(record)) = ran else { panic!("{ran:?}") };
    assert_eq!(show(&record), "input_required a");
}

/// Case 9: a task that is stored while its server shuts down is not started there: it has failed, and says so, or is left to
/// another worker at once. It is not cancelled, for nobody called it off.
#[tokio::test]
async fn a_creation_amid_a_shutdown_is_let_go() {
    let promotion = Promotion::After(Duration::from_millis(50));
    for (on_restart, shown) in
        [(OnRestart::Fail, "failed Interrupted"), (OnRestart::Rerun { max_attempts: 3 }, "working")]
    {
        for promoted in [false, true] {
            let doubt = Doubt::new();
            let (engine, call) = (doubt.engine.clone(), doubt.call(NewTask { on_restart, ..new_task() }));
            let created = tokio::spawn(async move {
                match promoted {
                    false => engine.create(call).await,
                    true => engine.run(call, promotion, None).await.map(|ran| match ran {
                        Ran::Promoted(record) => record,
                        Ran::Finished(other) => panic!("{other:?}"),
                    }),
                }
            });
            settle_down().await;
            if promoted {
                doubt.pass(Duration::from_millis(50)).await;
            }
            let engine = doubt.engine.clone();
            let shutdown = tokio::spawn(async move { engine.shutdown(Duration::ZERO).await });
            settle_down().await;
            assert!(!created.is_finished());
            doubt.pass(Duration::from_millis(50)).await;
            let id = created.await.expect("no panic").expect("it is stored").id;
            assert_eq!(shutdown.await.expect("no panic"), 0);
            assert_eq!(show(&doubt.engine.get(&alice(), id).await.expect("it is there")), shown);
            let (other, targets) = (Lease { worker: WorkerId(9), period: LEASE }, [new_task().target]);
            let left = doubt.store.claim(other, &targets, 9).await.expect("the store works");
            assert_eq!(left.len(), usize::from(shown == "working"));
            assert_eq!(doubt.runs(), usize::from(promoted));
        }
    }
}

/// NEW-01: a keyed call whose request is dropped while its task is being created is carried out: made again, it gets the task,
/// which runs. Without a key, what was stored ends with its lease.
#[tokio::test]
async fn a_keyed_creation_survives_its_request() {
    let doubt = Doubt::new();
    let (engine, call) = (doubt.engine.clone(), doubt.call(keyed(b"a")));
    let created = tokio::spawn(async move { engine.create(call).await });
    settle_down().await;
    created.abort();
    doubt.pass(Duration::from_millis(50)).await;
    assert_eq!((doubt.runs(), doubt.engine.running()), (1, 1));
    let again = doubt.engine.create(doubt.call(keyed(b"a"))).await.expect("found");
    assert_eq!((show(&again).as_str(), doubt.runs()), ("working", 1));

    let doubt = Doubt::new();
    let (engine, call) = (doubt.engine.clone(), doubt.call(new_task()));
    let created = tokio::spawn(async move { engine.create(call).await });
    settle_down().await;
    created.abort();
    doubt.pass(LEASE + Duration::from_secs(1)).await;
    assert_eq!((doubt.runs(), doubt.engine.running(), doubt.store.inner().len()), (0, 0, 1));
}
