//! The database itself dies as by kill -9, and is started again. A test program of its own, for all others that use the
//! cluster notice.

#[expect(dead_code, reason = "the other program uses the rest")]
mod support;

use std::{
    env,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_tasks::store::{Heard, TaskStore, postgres::PostgresStore};

use crate::support::{Load, Schema, commit, completed, create, heard};

/// Tells who keeps the cluster to do something with it.
fn control(word: &str) {
    let address = env::var("MCP_TASKS_TEST_POSTGRES_CONTROL").expect("whoever brings a cluster says how to kill it");
    let mut connection = TcpStream::connect(address).expect("it listens");
    writeln!(connection, "{word}").expect("it reads");
    let mut answer = String::new();
    BufReader::new(connection).read_line(&mut answer).expect("it answers");
    assert_eq!(answer.trim(), "ok", "{word}");
}

/// NEW-01, NEW-03: what was acknowledged is there after a kill -9 of PostgreSQL; meanwhile calls fail in time; then service
/// resumes by itself, and nodes hear of each other again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_killed_loses_nothing() {
    let Some(schema) = Schema::new() else { return };
    let timeout = Duration::from_secs(2);
    let open = || PostgresStore::connect(schema.config().timeout(timeout));
    let (store, other) = (Arc::new(open().await.expect("it opens")), open().await.expect("it opens"));
    let known = create(&*store).await;
    let load = Load::on(&store);
    for _ in 0..3 {
        load.goes_on(30).await;
        let mut hears = other.watch();
        tokio::task::spawn_blocking(|| control("kill")).await.expect("it is killed");
        let start = Instant::now();
        assert!(store.get(known.id).await.is_err());
        assert!(start.elapsed() < 2 * timeout, "{:?}", start.elapsed());
        tokio::task::spawn_blocking(|| control("start")).await.expect("it is started");
        load.goes_on(30).await;
        heard(&mut hears, |heard| heard == Heard::Missed).await;
    }
    assert!(load.nothing_is_lost(&other).await >= 180);
    let mut hears = other.watch();
    let done = commit(&*store, &known, completed("1")).await;
    heard(&mut hears, |heard| match heard {
        Heard::Hint(hint) => hint.id == done.id,
        Heard::Missed => true,
        Heard::Claimable => false,
    })
    .await;
}
