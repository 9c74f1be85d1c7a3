//! A node that is cut off from its database: calls fail in time, nothing acknowledged is lost, and service resumes by
//! itself. That the database itself dies is in `killed.rs`.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_tasks::store::{StoreError, TaskStore, postgres::PostgresStore};

use crate::{
    proxy::{Mode, Proxy},
    support::{Load, Schema, create, random_id},
};

const TIMEOUT: Duration = Duration::from_secs(2);

/// A store behind a proxy, under load: `cut` is what happens, `mend` how it ends.
async fn cut_off(cut: Mode) {
    let Some(schema) = Schema::new() else { return };
    let (proxy, url) = Proxy::before(&schema.url).await;
    let config = schema.config_at(&url).timeout(TIMEOUT);
    let store = Arc::new(PostgresStore::connect(config).await.expect("it opens"));
    let known = create(&*store).await.id;
    let load = Load::on(&store);
    load.goes_on(20).await;

    proxy.set(cut);
    // Until none is under way that came through.
    while store.get(known).await.is_ok() {}
    let start = Instant::now();
    let (read, write) = tokio::join!(store.get(known), store.request_cancel(known));
    let made = store.create(random_id(), crate::support::new_task("a", b"{}"), None, &Default::default()).await;
    let took = start.elapsed();
    assert!(matches!(read, Err(StoreError::Unavailable { .. })), "{read:?}");
    assert!(write.is_err() && made.is_err(), "{write:?} {made:?}");
    assert!(took < 3 * TIMEOUT, "two calls took {took:?}");

    proxy.set(Mode::Pass);
    load.goes_on(20).await;
    assert!(load.nothing_is_lost(&schema.store().await).await >= 40);
}

/// NEW-03, ERR-02: nothing comes through, and nothing says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_half_open_fails_calls_in_time() {
    cut_off(Mode::HalfOpen).await;
}

/// NEW-03, ERR-02: connections are refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_refuses_connections_fails_calls_in_time() {
    cut_off(Mode::Closed).await;
}

/// NEW-01: connections that are reset in the middle of calls lose nothing that was acknowledged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_reset_lose_nothing() {
    let Some(schema) = Schema::new() else { return };
    let (proxy, url) = Proxy::before(&schema.url).await;
    let store = Arc::new(PostgresStore::connect(schema.config_at(&url).timeout(TIMEOUT)).await.expect("it opens"));
    let load = Load::on(&store);
    for _ in 0..20 {
        load.goes_on(5).await;
        proxy.reset();
    }
    load.goes_on(5).await;
    assert!(load.nothing_is_lost(&schema.store().await).await >= 100);
}

/// A caller that gives up, at whatever moment, leaves no transaction open and takes no connection away.
#[tokio::test]
async fn a_dropped_call_leaves_nothing_behind() {
    let Some(schema) = Schema::new() else { return };
    let store = schema.store().await;
    for micros in (0..4000).step_by(50) {
        let call = async {
            let task = create(&store).await;
            let _ = store.claim(crate::support::LEASE, &[Arc::clone(&task.target)], 1).await;
            let _ = store.reap(10).await;
        };
        let _ = tokio::time::timeout(Duration::from_micros(micros), call).await;
    }
    let task = create(&store).await;
    assert!(store.request_cancel(task.id).await.is_ok());
}
