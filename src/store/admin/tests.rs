//! The same on each store that needs no service.

use std::time::Duration;

use super::*;
use crate::{
    clock::{Clock, ManualClock},
    limits::Quota,
    store::{Lease, WorkerId, memory::MemoryStore, sqlite::SqliteStore},
    task::{Epoch, Mutation, NewTask, OnRestart, Refusal, Settlement, Target},
};

const LEASE: Lease = Lease { worker: WorkerId(1), period: Duration::from_secs(10) };

/// Runs `test` on an empty store of each kind.
async fn each<F: Future<Output = ()>>(test: impl Fn(ManualClock, Arc<dyn AdminStore>) -> F) {
    let clock = ManualClock::default();
    test(clock.clone(), Arc::new(MemoryStore::new(Arc::new(clock)))).await;
    let (clock, folder) = (ManualClock::default(), tempfile::tempdir().expect("a folder"));
    let file = SqliteStore::builder(folder.path().join("tasks.db")).clock(Arc::new(clock.clone())).open();
    test(clock, Arc::new(file.expect("it opens"))).await;
}

async fn create(
    store: &dyn AdminStore,
    bits: u128,
    tool: &str,
    principal: &str,
    lease: Option<Lease>,
) -> Arc<TaskRecord> {
    let target = Arc::new(Target::new("tools/call", tool, "1"));
    let on_restart = OnRestart::Rerun { max_attempts: 5 };
    let task = NewTask { on_restart, ..NewTask::new(Principal::new(principal), target, "{}".into()) };
    store.create(TaskId::from_bits(bits), task, lease, &Quota::UNLIMITED).await.expect("created")
}

async fn complete(store: &dyn AdminStore, record: &TaskRecord) {
    let settled = Mutation::Settle(Settlement::Completed("1".into()));
    let written = store.commit(record.id, record.epoch, &settled).await.expect("it works");
    assert!(matches!(written, Written::Stands(_)));
}

async fn listed(store: &dyn AdminStore, filter: Filter, after: Option<Position>, limit: usize) -> Vec<u128> {
    let records = store.list(&filter, after, limit).await.expect("it works");
    records.iter().map(|record| record.id.to_bits()).collect()
}

/// A list is ordered, in pages, and filtered by how tasks stand at the time.
#[tokio::test]
async fn lists_are_filtered_and_paged() {
    each(|clock, store| async move {
        let store = &*store;
        let start = clock.now();
        for (bits, tool, principal) in [(9, "a", "alice"), (2, "b", "alice"), (5, "a", "bob\0")] {
            let record = create(store, bits, tool, principal, Some(LEASE)).await;
            if bits == 2 {
                complete(store, &record).await;
            }
            clock.advance(Duration::from_secs(1));
        }
        create(store, 7, "a", "alice", None).await;
        create(store, 1, "a", "alice", None).await;
        assert_eq!(listed(store, Filter::default(), None, 10).await, [7, 1, 5, 2, 9]);
        let first = store.list(&Filter::default(), None, 2).await.expect("it works");
        let after = Position { created_at: first[1].created_at, id: first[1].id };
        assert_eq!(listed(store, Filter::default(), Some(after), 2).await, [5, 2]);
        let by = |status| Filter { status: Some(status), ..Filter::default() };
        assert_eq!(listed(store, by(TaskStatus::Completed), None, 10).await, [2]);
        let tool = Filter { tool: Some("b".into()), ..Filter::default() };
        assert_eq!(listed(store, tool, None, 10).await, [2]);
        let principal = Filter { principal: Some(Principal::new("bob\0")), ..Filter::default() };
        assert_eq!(listed(store, principal, None, 10).await, [5]);
        let (from, before) = (start.plus(Duration::from_secs(1)), start.plus(Duration::from_secs(3)));
        let age = Filter { created_from: Some(from), created_before: Some(before), ..Filter::default() };
        assert_eq!(listed(store, age, None, 10).await, [5, 2]);
        // Their time is over, and nothing was swept.
        clock.advance(Duration::from_secs(3600));
        assert_eq!(listed(store, by(TaskStatus::Failed), None, 10).await, [7, 1, 5, 9]);
        assert_eq!(listed(store, by(TaskStatus::Working), None, 10).await, []);
        clock.set(start);
        assert_eq!(listed(store, by(TaskStatus::Failed), None, 10).await, [7, 1, 5, 9], "it was seen (GET-05)");
    })
    .await;
}

/// Settled tasks are purged, open ones never; there is room again after that.
#[tokio::test]
async fn only_settled_tasks_are_purged() {
    each(|_, store| async move {
        let store = &*store;
        for bits in 0..6 {
            let record = create(store, bits, "a", "alice", Some(LEASE)).await;
            if bits % 2 == 0 {
                complete(store, &record).await;
            }
        }
        let other = Filter { tool: Some("b".into()), ..Filter::default() };
        assert_eq!(store.purge(&other, 10).await.expect("it works"), 0);
        assert_eq!(store.purge(&Filter::default(), 2).await.expect("it works"), 2);
        assert_eq!(store.purge(&Filter::default(), 10).await.expect("it works"), 1);
        assert_eq!(listed(store, Filter::default(), None, 10).await, [5, 3, 1]);
        let quota = Quota { held: 4, ..Quota::UNLIMITED };
        let new = || NewTask::new(Principal::local(), Arc::new(Target::new("tools/call", "a", "1")), "".into());
        store.create(TaskId::from_bits(7), new(), None, &quota).await.expect("there is room");
        store.create(TaskId::from_bits(8), new(), None, &quota).await.expect_err("there is no more");
    })
    .await;
}

/// TSK-08: a task that was taken from its worker can be claimed, and the worker is fenced.
#[tokio::test]
async fn an_abandoned_task_is_claimed_again() {
    each(|_, store| async move {
        let store = &*store;
        let record = create(store, 1, "a", "alice", Some(LEASE)).await;
        assert!(matches!(store.abandon(record.id).await, Ok(Written::Stands(_))));
        let late = store.commit(record.id, Epoch(1), &Mutation::Settle(Settlement::Cancelled)).await;
        assert!(matches!(late, Ok(Written::Refused(Refusal::Fenced))));
        let claimed = store.claim(LEASE, std::slice::from_ref(&record.target), 10).await.expect("it works");
        assert_eq!(claimed.len(), 1);
        assert!(matches!(store.abandon(TaskId::from_bits(9)).await, Ok(Written::Refused(Refusal::Gone))));
    })
    .await;
}

/// Counts are of tasks as they stand.
#[tokio::test]
async fn stats_count_what_there_is() {
    each(|clock, store| async move {
        let store = &*store;
        let start = clock.now();
        create(store, 1, "a", "alice", None).await;
        clock.advance(Duration::from_secs(1));
        create(store, 2, "a", "alice", None).await;
        create(store, 3, "a", "alice", Some(LEASE)).await;
        let done = create(store, 4, "b", "alice", Some(LEASE)).await;
        complete(store, &done).await;
        clock.advance(Duration::from_secs(10));
        create(store, 5, "b", "alice", Some(LEASE)).await;
        let stats = store.stats().await.expect("it works");
        let tasks =
            [(("a", TaskStatus::Working), 3), (("b", TaskStatus::Working), 1), (("b", TaskStatus::Completed), 1)];
        assert_eq!(stats.tasks, tasks.map(|((tool, status), count)| ((tool.into(), status), count)).into());
        let leases = (stats.unclaimed, stats.oldest_unclaimed, stats.leased, stats.overdue);
        assert_eq!(leases, (2, Some(start), 1, 1));
        clock.advance(Duration::from_secs(7200));
        assert!(store.stats().await.expect("it works").tasks.is_empty());
    })
    .await;
}
