//! What only a store in a file has. The contract of all stores is tested by the suite.

use std::{fs, time::Instant};

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::{
    clock::{ManualClock, UnixMillis},
    input::{InputKinds, Question},
    principal::Principal,
    store::{WorkerId, conformance},
    task::{Failure, OnRestart, Settlement, TaskStatus},
};

const LEASE: Lease = Lease { worker: WorkerId(1), period: Duration::from_secs(10) };

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The suite's stores: each a file of its own, and each connection a handle of its own, as another process has it.
struct Files;

struct OneFile {
    folder: TempDir,
    clock: ManualClock,
}

impl conformance::Harness for Files {
    fn fresh(&self) -> crate::clock::BoxFuture<'_, Box<dyn conformance::Subject>> {
        let subject = OneFile { folder: folder(), clock: ManualClock::default() };
        Box::pin(async { Box::new(subject) as Box<dyn conformance::Subject> })
    }
}

impl conformance::Subject for OneFile {
    fn open(&self) -> crate::clock::BoxFuture<'_, Arc<dyn TaskStore>> {
        let store =
            SqliteStore::builder(self.folder.path().join("tasks.db")).clock(Arc::new(self.clock.clone())).open();
        let store: Arc<dyn TaskStore> = Arc::new(store.expect("it opens"));
        Box::pin(async { store })
    }

    fn advance(&self, step: Duration) -> crate::clock::BoxFuture<'_, ()> {
        self.clock.advance(step);
        Box::pin(async {})
    }

    fn set_back(&self, step: Duration) -> crate::clock::BoxFuture<'_, ()> {
        let before = self.clock.now().since(UnixMillis::new(0)).saturating_sub(step);
        self.clock.set(UnixMillis::new(0).plus(before));
        Box::pin(async {})
    }

    fn drift(&self) -> Duration {
        Duration::ZERO
    }
}

/// The whole contract, clause by clause.
#[test]
fn a_file_keeps_every_clause() {
    conformance::examples(&Files);
}

#[test]
fn a_file_is_as_the_model() {
    conformance::sequential(&Files, &conformance::Sizes { cases: 24, ..conformance::Sizes::default() });
}

#[test]
fn calls_of_several_handles_on_one_file_have_an_order() {
    conformance::concurrent(&Files, &conformance::Sizes { rounds: 12, ..conformance::Sizes::default() });
}

struct Kit {
    folder: TempDir,
    clock: ManualClock,
}

impl Kit {
    fn new() -> Self {
        Self { folder: folder(), clock: ManualClock::default() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("tasks.db")
    }

    fn builder(&self) -> SqliteBuilder {
        SqliteStore::builder(self.path()).clock(Arc::new(self.clock.clone()))
    }

    fn open(&self) -> SqliteStore {
        self.builder().open().expect("it opens")
    }

    /// All bytes of all files of the store.
    fn bytes(&self) -> Vec<u8> {
        self.files().flat_map(|file| fs::read(file).expect("a file")).collect()
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        fs::read_dir(self.folder.path()).expect("a folder").map(|file| file.expect("an entry").path())
    }
}

fn task() -> NewTask {
    let target = Arc::new(Target::new("tools/call", "tool", "1"));
    let on_restart = OnRestart::Rerun { max_attempts: 2 };
    NewTask { on_restart, declared: InputKinds::ALL, ..NewTask::new(Principal::local(), target, "{}".into()) }
}

async fn create(store: &SqliteStore, bits: u128, task: NewTask) -> Arc<TaskRecord> {
    store.create(TaskId::from_bits(bits), task, Some(LEASE), &Quota::UNLIMITED).await.expect("created")
}

async fn settle(store: &SqliteStore, record: &TaskRecord, settlement: Settlement) -> Arc<TaskRecord> {
    match store.commit(record.id, record.epoch, &Mutation::Settle(settlement)).await.expect("it works") {
        Written::Stands(record) => record,
        Written::Refused(refusal) => panic!("{refusal}"),
    }
}

/// NEW-01: what was acknowledged is there after the store was closed, and after it was not closed at all.
#[tokio::test]
async fn tasks_outlive_the_store() {
    let kit = Kit::new();
    let store = kit.open();
    let record = create(&store, 1, task()).await;
    store.close().await;
    assert!(matches!(store.get(record.id).await, Err(StoreError::Unavailable { .. })));
    let again = kit.open();
    assert_eq!(again.get(record.id).await.expect("it works"), Some(Arc::clone(&record)));
    // As after a crash: its log is not yet in the file.
    let settled = settle(&again, &record, Settlement::Completed("{}".into())).await;
    assert_eq!(kit.open().get(record.id).await.expect("it works"), Some(settled));
}

/// The log is in the file once the store is closed, and there is one file.
#[tokio::test]
async fn a_closed_store_is_one_file() {
    let kit = Kit::new();
    let store = kit.open();
    create(&store, 1, task()).await;
    store.close().await;
    let files: Vec<_> =
        fs::read_dir(kit.folder.path()).expect("a folder").map(|file| file.expect("one").file_name()).collect();
    assert_eq!(files, ["tasks.db"]);
}

/// SEC: file and folder are their user's alone, and so is the log.
#[cfg(unix)]
#[tokio::test]
async fn files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let inner = folder.path().join("a/b");
    let store = SqliteStore::open(inner.join("tasks.db")).expect("it opens");
    create(&store, 1, task()).await;
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&inner), 0o700);
    for name in ["tasks.db", "tasks.db-wal", "tasks.db-shm"] {
        assert_eq!(mode(&inner.join(name)), 0o600, "{name}");
    }
}

/// Case 26: large payloads and odd JSON are read back as they were, also from a store that was opened anew.
#[tokio::test]
async fn what_is_stored_is_what_is_read() {
    let kit = Kit::new();
    let store = kit.open();
    let nested = format!(
        r#"{{"deep":{}1{},"n":[9007199254740993,18446744073709551616,1e400],"s":"\u0000\ud800"}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let arguments = format!(r#"{{"blob":"{}","odd":{nested}}}"#, "a".repeat(8 << 20));
    let first = create(&store, 1, NewTask { arguments: arguments.clone().into(), ..task() }).await;
    assert_eq!(first.journal.arguments(), arguments.as_bytes());
    let image = format!(r#"{{"content":[{{"type":"image","data":"{}"}}],"odd":{nested}}}"#, "A".repeat(5 << 20));
    let second = create(&store, 2, task()).await;
    let second = settle(&store, &second, Settlement::Completed(image.into())).await;
    let error = Failure::Reported { error: nested.clone().into(), message: "a\0b".into() };
    let third = create(&store, 3, NewTask { principal: Principal::new("nul\0\\"), ..task() }).await;
    let third = settle(&store, &third, Settlement::failed(error)).await;
    let again = kit.open();
    for record in [first, second, third] {
        assert_eq!(again.get(record.id).await.expect("it works"), Some(record));
    }
}

/// Two processes on one file: quotas are of both, and each hears of the other's writes.
#[tokio::test]
async fn two_handles_share_one_file() {
    let kit = Kit::new();
    let (one, two) = (kit.open(), kit.open());
    let mut hints = two.watch();
    let record = create(&one, 1, task()).await;
    assert_eq!(hints.next().await, Some(Heard::Missed));
    assert_eq!(two.get(record.id).await.expect("it works"), Some(Arc::clone(&record)));
    let quota = Quota { live: 1, ..Quota::UNLIMITED };
    let refused = two.create(TaskId::from_bits(2), task(), None, &quota).await;
    assert!(matches!(refused, Err(StoreError::QuotaExceeded(_))));
    assert_eq!(settle(&two, &record, Settlement::Cancelled).await.status(), TaskStatus::Cancelled);
    assert_eq!(one.get(record.id).await.expect("it works").map(|record| record.status()), Some(TaskStatus::Cancelled));
    two.create(TaskId::from_bits(2), task(), None, &quota).await.expect("there is room again");
}

/// Calls that wait together are committed together: the clients of one store share the disk's syncs.
#[tokio::test]
async fn calls_that_wait_share_a_commit() {
    let kit = Kit::new();
    let store = Arc::new(kit.open());
    // Another process holds the file, so that the calls wait together.
    let other = Connection::open(kit.path()).expect("it opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("it is free");
    let calls: Vec<_> = (0..64)
        .map(|bits| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { create(&store, bits, task()).await })
        })
        .collect();
    tokio::task::yield_now().await;
    let before: i64 = other.query_row("PRAGMA data_version", [], |row| row.get(0)).expect("it works");
    other.execute_batch("COMMIT").expect("it works");
    let mut versions = vec![before];
    for call in calls {
        call.await.expect("it ends");
        versions.push(other.query_row("PRAGMA data_version", [], |row| row.get(0)).expect("it works"));
    }
    versions.dedup();
    assert!(versions.len() <= 4, "{} commits", versions.len() - 1);
}

/// A call that cannot be done undoes no other that shares its transaction.
#[tokio::test]
async fn a_call_that_fails_undoes_no_other() {
    let kit = Kit::new();
    let store = Arc::new(kit.open());
    let bad = create(&store, 1, task()).await;
    let other = Connection::open(kit.path()).expect("it opens");
    other.execute("UPDATE task SET head = x'00'", []).expect("it works");
    other.execute_batch("BEGIN IMMEDIATE").expect("it is free");
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let (store, id) = (Arc::clone(&store), bad.id);
            tokio::spawn(async move {
                match n % 2 {
                    0 => store.request_cancel(id).await.map(drop),
                    _ => store.create(TaskId::from_bits(100 + n), task(), None, &Quota::UNLIMITED).await.map(drop),
                }
            })
        })
        .collect();
    tokio::task::yield_now().await;
    other.execute_batch("COMMIT").expect("it works");
    for (n, call) in calls.into_iter().enumerate() {
        let ended = call.await.expect("it ends");
        assert_eq!(matches!(ended, Err(StoreError::Unavailable { .. })), n % 2 == 0, "{ended:?}");
        assert_eq!(ended.is_ok(), n % 2 == 1, "{ended:?}");
    }
}

/// NEW-03: a file that another process does not let go makes a call unavailable, and nothing of it is done.
#[tokio::test]
async fn a_busy_file_is_unavailable() {
    let kit = Kit::new();
    let store = kit.builder().busy_timeout(Duration::from_millis(20)).open().expect("it opens");
    let other = Connection::open(kit.path()).expect("it opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("it is free");
    let refused = store.create(TaskId::from_bits(1), task(), None, &Quota::UNLIMITED).await;
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
    other.execute_batch("ROLLBACK").expect("it works");
    assert_eq!(store.get(TaskId::from_bits(1)).await.expect("it works"), None);
    create(&store, 1, task()).await;
}

/// Case 23: after many tasks are gone, so is the space they took.
#[tokio::test]
async fn space_is_given_back() {
    let kit = Kit::new();
    let store = Arc::new(kit.open());
    let arguments = Bytes::from(vec![b'1'; 4000]);
    let calls: Vec<_> = (0..1500)
        .map(|bits| {
            let (store, task) = (Arc::clone(&store), NewTask { arguments: arguments.clone(), ..task() });
            tokio::spawn(async move { create(&store, bits, task).await })
        })
        .collect();
    for call in calls {
        call.await.expect("created");
    }
    let _watched = store.watch();
    let size = || -> u64 { kit.files().map(|file| fs::metadata(file).map_or(0, |file| file.len())).sum() };
    assert!(size() > 6 << 20, "{} bytes", size());
    kit.clock.advance(Duration::from_secs(3600 + 60));
    let mut removed = 0;
    loop {
        let reaped = store.reap(250).await.expect("it works");
        removed += reaped.removed;
        if !reaped.more {
            break;
        }
    }
    assert_eq!(removed, 1500);
    for _ in 0..4 {
        store.reap(250).await.expect("it works");
    }
    // No call any more: the store sees to it by itself.
    while size() >= 2 << 20 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// No call looks at all tasks: each statement uses an index.
#[tokio::test]
async fn statements_use_indexes() {
    let kit = Kit::new();
    drop(kit.open());
    let file = Connection::open(kit.path()).expect("it opens");
    for (sql, index) in [
        (format!("{} WHERE t.id = ?1", rows::SELECT), "sqlite_autoindex_task_1"),
        (format!("{} WHERE t.principal = ?1 AND t.key = ?2", rows::SELECT), "task_by_key"),
        ("SELECT id FROM task WHERE look_at <= ?1 ORDER BY look_at LIMIT ?2".into(), "task_by_look"),
        (tables::UNCLAIMED.into(), "task_unclaimed"),
        (tables::RENEW.into(), "sqlite_autoindex_task_1"),
    ] {
        let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("it is SQL");
        let count = plan.parameter_count();
        let nulls = vec![rusqlite::types::Null; count];
        let steps: Vec<String> = plan
            .query_map(rusqlite::params_from_iter(nulls), |row| row.get(3))
            .expect("it has a plan")
            .collect::<Result<_, _>>()
            .expect("it has steps");
        assert!(steps[0].contains(index), "{steps:?}");
        assert!(!steps.iter().any(|step| step.contains("SCAN") || step.contains("TEMP")), "{steps:?}");
    }
}

/// SEC, case 29: with keys the files hold nothing that came from the client or the tool, in any column, at any time.
#[cfg(feature = "encryption")]
#[tokio::test]
async fn a_sealed_file_shows_no_text() {
    let kit = Kit::new();
    let ring = |id| crate::store::Keyring::new(id, [7; 32]).expect("an id");
    let store = kit.builder().keyring(ring("one")).open().expect("it opens");
    let large = format!("[\"SECRET-args\",\"{}\"]", "x".repeat(10_000));
    let new = NewTask { arguments: large.into(), status_message: Some("SECRET-message".into()), ..task() };
    let record = create(&store, 1, new).await;
    let question = Question { name: "SECRET-name".into(), ordinal: 1, request: "\"SECRET-question\"".into() };
    let step = crate::task::Step { key: "SECRET-step".into(), value: "\"SECRET-value\"".into() };
    for mutation in [Mutation::Ask(question), Mutation::Record(step)] {
        store.commit(record.id, record.epoch, &mutation).await.expect("it works");
    }
    let answer = [(InputKey::new("SECRET-name"), Bytes::from("\"SECRET-answer\""))];
    store.respond(record.id, &answer).await.expect("it works");
    let stands = store.get(record.id).await.expect("it works").expect("it is there");
    assert_eq!(stands.inputs().entries().len(), 1);
    assert_eq!(stands.status_message.as_deref(), Some("SECRET-message"));
    let failure = Failure::Reported { error: "{\"SECRET-error\":1}".into(), message: "SECRET-reason".into() };
    settle(&store, &record, Settlement::failed(failure)).await;
    let done = create(&store, 2, task()).await;
    let done = settle(&store, &done, Settlement::Completed("\"SECRET-result\"".into())).await;
    let shows = |bytes: &[u8]| bytes.windows(6).any(|window| window == b"SECRET");
    assert!(!shows(&kit.bytes()));
    store.close().await;
    assert!(!shows(&kit.bytes()));

    let unkeyed = kit.open().get(done.id).await.expect_err("it has no key");
    assert!(matches!(&unkeyed, StoreError::Unavailable { cause } if cause.to_string().contains("key `one`")));
    let rotated = ring("two").with_older("one", [7; 32]).expect("an id");
    let rotated = kit.builder().keyring(rotated).open().expect("it opens");
    assert_eq!(rotated.get(done.id).await.expect("it works"), Some(done));
}

/// Without keys the same texts are there: the test above can fail.
#[tokio::test]
async fn a_plain_file_shows_texts() {
    let kit = Kit::new();
    let store = kit.open();
    create(&store, 1, NewTask { arguments: "\"SECRET\"".into(), ..task() }).await;
    assert!(kit.bytes().windows(6).any(|window| window == b"SECRET"));
}

/// The async side does not wait on its thread: with one runtime thread, calls that wait for the file let others go on.
#[tokio::test]
async fn no_call_blocks_the_runtime() {
    let kit = Kit::new();
    let store = Arc::new(kit.open());
    let other = Connection::open(kit.path()).expect("it opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("it is free");
    let waiting = tokio::spawn({
        let store = Arc::clone(&store);
        async move { create(&store, 1, task()).await }
    });
    let started = Instant::now();
    assert_eq!(store.get(TaskId::from_bits(2)).await.expect("readers read on"), None);
    assert!(!waiting.is_finished());
    assert!(started.elapsed() < Duration::from_secs(4));
    other.execute_batch("COMMIT").expect("it works");
    waiting.await.expect("created");
}

/// A task that cannot be read stands in no other's way: those that wait behind it are claimed, even where only one is asked
/// for, and the claim does not fail.
#[tokio::test]
async fn a_claim_passes_over_what_cannot_be_read() {
    let kit = Kit::new();
    let store = kit.open();
    for bits in 1..=5 {
        store.create(TaskId::from_bits(bits), task(), None, &Quota::UNLIMITED).await.expect("created");
        kit.clock.advance(Duration::from_millis(1));
    }
    let other = Connection::open(kit.path()).expect("it opens");
    let damaged = other.execute(
        "UPDATE task SET head = x'00' WHERE created_at IN \
        (SELECT created_at FROM task ORDER BY created_at LIMIT 3)",
        [],
    );
    assert_eq!(damaged.expect("it works"), 3);
    for expected in [vec![4], vec![5], vec![]] {
        let claimed = store.claim(LEASE, &[task().target], 1).await.expect("it works");
        let claimed: Vec<u128> = claimed.iter().map(|record| record.id.to_bits()).collect();
        assert_eq!(claimed, expected);
    }
}
