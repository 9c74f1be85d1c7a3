//! The PostgreSQL store: what telling other nodes costs, and how soon they hear.
//!
//!     tests/services/postgres.py -- cargo run --release --manifest-path benches/Cargo.toml --bin postgres -- [--strict]
//!
//! Everything is measured in one run, in turns; the time of an fsync is printed beside it, for much of a commit is that.

use std::{
    env,
    error::Error,
    fs::{self, File},
    future::poll_fn,
    io::Write,
    path::Path,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use mcp_tasks::{
    limits::Quota,
    principal::Principal,
    store::{
        Heard, Lease, TaskStore, WorkerId,
        postgres::{PostgresConfig, PostgresStore},
    },
    task::{Mutation, NewTask, Settlement, Target, TaskRecord},
    task_id::TaskId,
};
use mcp_tasks_benches::Goals;
use tokio_postgres::{AsyncMessage, NoTls};

type Any<T> = Result<T, Box<dyn Error + Send + Sync>>;

const CLIENTS: usize = 64;
const TURNS: usize = 5;
const TURN: Duration = Duration::from_secs(3);
const LEASE: Lease = Lease { worker: WorkerId(1), period: Duration::from_secs(600) };

#[tokio::main]
async fn main() -> Any<ExitCode> {
    let url = env::var("MCP_TASKS_TEST_POSTGRES").map_err(|_| "run it with tests/services/postgres.py --")?;
    let url = format!("{url}?sslmode=disable");
    println!("fsync of 8 KiB         {:8.2} ms (median)", 1e3 * fsync()?);
    let mut goals = Goals::default();
    let on = open(&url, "bench_on", true).await?;
    let off = open(&url, "bench_off", false).await?;
    let [with, without] = in_turns(&on, &off, Work::Create).await;
    println!("creates, {CLIENTS} clients   {with:8.0} a second, {without:8.0} without notifications");
    goals.at_least("creates with notifications, of those without", with / without, 0.9);
    let [with, without] = in_turns(&on, &off, Work::Settle).await;
    println!("short tasks, the same  {with:8.0} a second, {without:8.0} without notifications");
    println!("                       {:8.2} of those without (for each task: create and settle)", with / without);
    let (hears, bare) = hears(&url, &on).await?;
    println!("change to other node   {:8.2} ms (median, from the call on)", 1e3 * hears);
    println!("bare NOTIFY            {:8.2} ms (median, from the call on)", 1e3 * bare);
    goals.at_most("change to listener, in bare NOTIFYs", hears / bare, 20.0);
    Ok(goals.exit_code(env::args().any(|argument| argument == "--strict")))
}

async fn open(url: &str, schema: &str, notify: bool) -> Any<Arc<PostgresStore>> {
    let config = PostgresConfig::from_url(url)?.schema(schema).notifications(notify).timeout(Duration::from_secs(10));
    Ok(Arc::new(PostgresStore::connect(config).await?))
}

/// What a client does over and over.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Create,
    Settle,
}

/// The medians of both, a second.
async fn in_turns(on: &Arc<PostgresStore>, off: &Arc<PostgresStore>, work: Work) -> [f64; 2] {
    let mut rates = [Vec::new(), Vec::new()];
    for turn in 0..2 * TURNS {
        // Each goes first in every other pair.
        let which = (turn + turn / 2) % 2;
        rates[which].push(rate([on, off][which], work).await);
    }
    rates.map(median)
}

async fn rate(store: &Arc<PostgresStore>, work: Work) -> f64 {
    let (done, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let start = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (store, done, over) = (Arc::clone(store), Arc::clone(&done), Arc::clone(&over));
            tokio::spawn(async move {
                while !over.load(Ordering::Relaxed) {
                    // A task that nobody holds is told of; one that is leased would not be.
                    let task = create(&store, (work == Work::Settle).then_some(LEASE)).await;
                    if work == Work::Settle {
                        settle(&store, &task).await;
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    tokio::time::sleep(TURN).await;
    over.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.expect("no panic");
    }
    done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}

async fn create(store: &PostgresStore, lease: Option<Lease>) -> Arc<TaskRecord> {
    let target = Arc::new(Target::new("tools/call", "tool", "1"));
    let task = NewTask::new(Principal::new("bench"), target, Bytes::from_static(b"{\"a\":1}"));
    let id = TaskId::random().expect("random bytes");
    store.create(id, task, lease, &Quota::UNLIMITED).await.expect("it is created")
}

async fn settle(store: &PostgresStore, task: &TaskRecord) {
    let end = Mutation::Settle(Settlement::Completed(Bytes::from_static(b"{}")));
    store.commit(task.id, task.epoch, &end).await.expect("it is settled");
}

/// From the call that changes a task until another node hears of it, and from a bare `NOTIFY` until another connection
/// does: medians in seconds, taken in turns.
async fn hears(url: &str, here: &PostgresStore) -> Any<(f64, f64)> {
    let there = open(url, "bench_on", true).await?;
    let mut hints = there.watch();
    let (says, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    let (listens, mut connection) = tokio_postgres::connect(url, NoTls).await?;
    let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if matches!(message, AsyncMessage::Notification(_)) && heard.send(()).is_err() {
                return;
            }
        }
    });
    listens.batch_execute("LISTEN bench_bare").await?;
    let (mut changes, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..500 {
        let task = create(here, Some(LEASE)).await;
        let start = Instant::now();
        settle(here, &task).await;
        while !matches!(hints.next().await, Some(Heard::Hint(hint)) if hint.id == task.id) {}
        changes.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        says.batch_execute("NOTIFY bench_bare").await?;
        hears.recv().await.ok_or("it ended")?;
        bare.push(start.elapsed().as_secs_f64());
    }
    Ok((median(changes), median(bare)))
}

/// The median time of a write of 8 KiB that is on disk, in seconds.
fn fsync() -> Any<f64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fsync-{}", std::process::id()));
    let mut file = File::create(&path)?;
    let mut times = Vec::new();
    for _ in 0..200 {
        file.write_all(&[1; 8192])?;
        let start = Instant::now();
        file.sync_data()?;
        times.push(start.elapsed().as_secs_f64());
    }
    fs::remove_file(path)?;
    Ok(median(times))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
