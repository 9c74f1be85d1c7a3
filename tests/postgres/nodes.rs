//! Several nodes on one schema.

use std::sync::Arc;

use bytes::Bytes;
use mcp_tasks::{
    input::{InputKey, InputState, Question},
    limits::Quota,
    store::{Heard, QuotaExceeded, StoreError, TaskStore, postgres::PostgresStore},
    task::{Mutation, Rev},
};

use crate::support::{self, LEASE, PATIENCE, Schema, commit, completed, create, heard, new_task, random_id};

/// NOT-05: what one node writes, another hears of; and who writes hears it once.
#[tokio::test]
async fn a_change_on_one_node_is_heard_on_the_other() {
    let Some(schema) = Schema::new() else { return };
    let (here, there) = (schema.store().await, schema.store().await);
    let (mut hears_here, mut hears_there) = (here.watch(), there.watch());
    let task = create(&here).await;
    let done = commit(&here, &task, completed("1")).await;
    let said = |heard| matches!(heard, Heard::Hint(hint) if hint.id == task.id && hint.rev == done.rev);
    heard(&mut hears_there, said).await;
    heard(&mut hears_here, said).await;
    // The next that is heard here is of the next change.
    let next = create(&there).await;
    commit(&there, &next, completed("1")).await;
    let first = tokio::time::timeout(PATIENCE, hears_here.next()).await.expect("in time");
    assert!(matches!(first, Some(Heard::Hint(hint)) if hint.id == next.id), "{first:?}");
}

/// NOT-05: a listener that loses its connection comes back, and says that it may have missed something.
#[tokio::test]
async fn a_listener_survives_the_end_of_its_connection() {
    let Some(schema) = Schema::new() else { return };
    let name = format!("listens-{}", std::process::id());
    let config = || schema.config_at(&schema.url).application_name(&name);
    let here = PostgresStore::connect(config()).await.expect("it opens");
    let there = PostgresStore::connect(config()).await.expect("it opens");
    let mut hears = there.watch();
    for _ in 0..3 {
        let listens = &format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}' \
             AND (query LIKE '%LISTEN%' OR query LIKE '%pg_notify%')"
        );
        schema.run(listens).await;
        heard(&mut hears, |heard| heard == Heard::Missed).await;
        let task = create(&here).await;
        // The other node's connection was ended as well: what it could not tell, it sums up.
        commit(&here, &task, completed("1")).await;
        heard(&mut hears, |heard| match heard {
            Heard::Hint(hint) => hint.id == task.id,
            Heard::Missed => true,
            Heard::Claimable => false,
        })
        .await;
    }
}

/// SEC-04: no number of nodes makes more tasks than the quota says, and what is settled makes room at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quotas_hold_across_nodes() {
    let Some(schema) = Schema::new() else { return };
    let nodes: Vec<_> = [schema.store().await, schema.store().await, schema.store().await].map(Arc::new).into();
    let mut quota = Quota::UNLIMITED;
    quota.live = 30;
    quota.live_per_principal = 20;
    let calls: Vec<_> = (0..90)
        .map(|number| {
            let node = Arc::clone(&nodes[number % 3]);
            let principal = if number % 2 == 0 { "alice" } else { "bob" };
            tokio::spawn(async move { node.create(random_id(), new_task(principal, b"{}"), Some(LEASE), &quota).await })
        })
        .collect();
    let (mut made, mut refused) = (Vec::new(), 0);
    for call in calls {
        match call.await.expect("no panic") {
            Ok(task) => made.push(task),
            Err(StoreError::QuotaExceeded(_)) => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!((made.len(), refused), (30, 60));
    let of_alice = made.iter().filter(|task| task.principal.as_str() == "alice").count();
    assert!((10..=20).contains(&of_alice), "{of_alice}");
    let again = |node: usize| nodes[node].create(random_id(), new_task("carol", b"{}"), None, &quota);
    assert!(matches!(again(0).await, Err(StoreError::QuotaExceeded(QuotaExceeded::Live(30)))));
    commit(&*nodes[1], &made[0], completed("1")).await;
    again(2).await.expect("there is room for one");
    assert!(again(0).await.is_err());
}

/// Case 14, UPD-06: two answers at the same moment, on two nodes, are both kept; 1,000 rounds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_answers_at_once_are_both_kept() {
    let Some(schema) = Schema::new() else { return };
    let (here, there) = (Arc::new(schema.store().await), Arc::new(schema.store().await));
    let task = create(&*here).await;
    let mut calls = tokio::task::JoinSet::new();
    for round in 0..1000 {
        let (here, there) = (Arc::clone(&here), Arc::clone(&there));
        // Each round is a task of its own; some at a time, so that it takes seconds.
        while calls.len() >= 8 {
            calls.join_next().await.expect("there is one").expect("no panic");
        }
        let task = if round == 0 { Arc::clone(&task) } else { create(&*here).await };
        calls.spawn(async move {
            for name in ["a", "b"] {
                let question = Question { name: name.into(), ordinal: 1, request: Bytes::from_static(b"{}") };
                commit(&*here, &task, Mutation::Ask(question)).await;
            }
            let answer = |text: &'static str| [(InputKey::new(text), Bytes::from_static(text.as_bytes()))];
            let (a, b) = (answer("a"), answer("b"));
            let (one, other) = tokio::join!(here.respond(task.id, &a), there.respond(task.id, &b));
            assert!(one.is_ok() && other.is_ok(), "{one:?} {other:?}");
            let stands = here.get(task.id).await.expect("it works").expect("it is there");
            let answered = |entry: &&mcp_tasks::input::InputEntry| {
                matches!(&entry.state, InputState::Answered { response } if response == entry.key.as_str().as_bytes())
            };
            assert_eq!(stands.inputs().entries().iter().filter(answered).count(), 2);
            assert_eq!(stands.rev, Rev(6), "two questions, two answers, nothing else");
        });
    }
    while let Some(done) = calls.join_next().await {
        done.expect("no panic");
    }
}

/// The same key from the same principal is one task, whichever nodes are asked at whatever moment.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_one_task_on_all_nodes() {
    let Some(schema) = Schema::new() else { return };
    let nodes: Vec<_> = [schema.store().await, schema.store().await].map(Arc::new).into();
    let key =
        mcp_tasks::task::IdempotencyKey { text: "k\0\\ ".repeat(2000).into(), call: mcp_tasks::input::RequestHash(1) };
    let calls: Vec<_> = (0..20)
        .map(|number| {
            let (node, key) = (Arc::clone(&nodes[number % 2]), Some(key.clone()));
            let task = mcp_tasks::task::NewTask { key, ..new_task("alice", b"{}") };
            tokio::spawn(async move { node.create(random_id(), task, None, &Quota::UNLIMITED).await })
        })
        .collect();
    let mut ids = std::collections::BTreeSet::new();
    for call in calls {
        let task = call.await.expect("no panic").expect("it works");
        assert_eq!(task.key.as_ref(), Some(&key));
        ids.insert(task.id);
    }
    assert_eq!(ids.len(), 1);
}

/// The counts that quotas go by are what a count of the rows would give, whatever was done.
#[tokio::test]
async fn the_counts_are_right_in_the_end() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.store().await;
    let mut tasks = Vec::new();
    for _ in 0..10 {
        tasks.push(create(&store).await);
    }
    for task in &tasks[..4] {
        commit(&store, task, completed("1")).await;
        commit_again(&store, task).await;
    }
    store.request_cancel(tasks[4].id).await.expect("it works");
    store.reap(100).await.expect("it works");
    let client = support::client(&schema.url).await;
    let sql = format!("SELECT owner = '', live, held FROM {}.counts ORDER BY owner", schema.quoted());
    let lines = client.query(&sql, &[]).await.expect("it runs");
    let counts: Vec<(bool, i64, i64)> = lines.iter().map(|line| (line.get(0), line.get(1), line.get(2))).collect();
    assert_eq!(counts, [(true, 5, 10), (false, 5, 0)]);
}

async fn commit_again(store: &dyn TaskStore, task: &mcp_tasks::task::TaskRecord) {
    let again = store.commit(task.id, task.epoch, &completed("2")).await.expect("it works");
    assert!(matches!(again, mcp_tasks::store::Written::Refused(_)));
}
