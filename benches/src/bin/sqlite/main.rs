//! Creates and reads tasks in a SQLite store, beside the same statements with a connection for each client, and beside
//! what the disk takes for one sync.
//!
//! `sqlite [--large] [--strict]`: large reads among a million tasks instead of 100,000; strict fails if a goal is short.
//! Files are made in the working directory, for elsewhere may be no disk, and removed at the end.

mod naive;

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use mcp_tasks::{
    limits::Quota,
    principal::Principal,
    store::{Lease, TaskStore, WorkerId, sqlite::SqliteStore},
    task::{NewTask, Target},
    task_id::TaskId,
};
use mcp_tasks_benches::Goals;
use tokio::runtime::Runtime;

const CLIENTS: usize = 64;
const ROUNDS: usize = 5;
const SLICE: Duration = Duration::from_millis(1500);
/// Creations on their way at once, when a store is filled.
const FILLERS: usize = 512;

fn main() -> ExitCode {
    let given = |name: &str| std::env::args().any(|argument| argument == name);
    let many = if given("--large") { 1_000_000 } else { 100_000 };
    let runtime = Runtime::new().expect("a runtime");
    let folder = Folder::new();
    let mut goals = Goals::default();
    creations(&runtime, &folder.0, &mut goals);
    reads(&runtime, &folder.0, many, &mut goals);
    goals.exit_code(given("--strict"))
}

/// A folder that goes with this value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = PathBuf::from(format!("sqlite-bench-{}", std::process::id()));
        std::fs::create_dir(&path).expect("a folder in the working directory");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("{} is left: {error}", self.0.display());
        }
    }
}

/// All take turns, so that a disk that others use is as slow for each.
fn creations(runtime: &Runtime, folder: &Path, goals: &mut Goals) {
    let store = Arc::new(SqliteStore::open(folder.join("ours.db")).expect("it opens"));
    let naive = naive::Naive::new(&folder.join("naive.db"));
    let (mut syncs, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        syncs.push(sync_time(&folder.join("sync")));
        ours.push(runtime.block_on(rate(&store, CLIENTS)));
        theirs.push(naive.rate(CLIENTS, SLICE));
    }
    let alone = runtime.block_on(rate(&store, 1));
    let (sync, ours, theirs) = (median(syncs), median(ours), median(theirs));
    println!("a sync of 4 KiB takes {:.3} ms", sync * 1e3);
    println!("creations a second: {CLIENTS} clients {ours:.0}, one client {alone:.0}, a connection each {theirs:.0}");
    goals.at_least("sqlite_create_vs_connection_each", ours / theirs, 10.0);
    goals.at_least("sqlite_creates_per_sync", ours * sync, 2.4);
    runtime.block_on(store.close());
}

/// Seconds that the disk takes to keep a few kilobytes more, as at the end of a transaction.
fn sync_time(path: &Path) -> f64 {
    let mut file = File::create(path).expect("a file");
    let times = (0..100).map(|_| {
        file.write_all(&[7; 4096]).expect("it is written");
        let start = Instant::now();
        file.sync_data().expect("it is synced");
        start.elapsed().as_secs_f64()
    });
    median(times.collect())
}

fn task() -> NewTask {
    NewTask::new(Principal::local(), Arc::new(Target::new("tools/call", "tool", "1")), Bytes::from_static(b"{}"))
}

async fn create(store: &SqliteStore) -> TaskId {
    let id = TaskId::random().expect("random bytes");
    let lease = Lease { worker: WorkerId(1), period: Duration::from_secs(30) };
    store.create(id, task(), Some(lease), &Quota::UNLIMITED).await.expect("created").id
}

/// Creations a second that so many clients get done, each one after the other.
async fn rate(store: &Arc<SqliteStore>, clients: usize) -> f64 {
    let start = Instant::now();
    let clients = (0..clients).map(|_| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            let mut count = 0;
            while start.elapsed() < SLICE {
                create(&store).await;
                count += 1;
            }
            count
        })
    });
    let mut count = 0;
    for client in clients.collect::<Vec<_>>() {
        count += client.await.expect("no panic");
    }
    f64::from(count) / start.elapsed().as_secs_f64()
}

/// A read costs the same however many tasks there are.
fn reads(runtime: &Runtime, folder: &Path, many: usize, goals: &mut Goals) {
    let few = runtime.block_on(filled(&folder.join("few.db"), 1_000));
    let start = Instant::now();
    let most = runtime.block_on(filled(&folder.join("many.db"), many));
    println!("{many} tasks created in {:.0} s", start.elapsed().as_secs_f64());
    let (mut of_few, mut of_most) = (Vec::new(), Vec::new());
    for round in 0..20 {
        of_few.push(runtime.block_on(read_time(&few, round)));
        of_most.push(runtime.block_on(read_time(&most, round)));
    }
    let (of_few, of_most) = (median(of_few), median(of_most));
    println!("a get takes {:.1} us among 1,000 tasks, {:.1} us among {many}", of_few * 1e6, of_most * 1e6);
    goals.at_most("sqlite_get_flat", of_most / of_few, 2.0);
}

/// A store and the tasks in it.
type Filled = (Arc<SqliteStore>, Vec<TaskId>);

async fn filled(path: &Path, count: usize) -> Filled {
    let store = Arc::new(SqliteStore::open(path).expect("it opens"));
    let fillers = FILLERS.min(count);
    let fillers = (0..fillers).map(|filler| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let mut ids = Vec::new();
            for _ in (filler..count).step_by(fillers) {
                ids.push(create(&store).await);
            }
            ids
        })
    });
    let mut ids = Vec::with_capacity(count);
    for filler in fillers.collect::<Vec<_>>() {
        ids.extend(filler.await.expect("no panic"));
    }
    // Random ids in their order: it has nothing to do with that of their creation.
    ids.sort_unstable();
    (store, ids)
}

/// Seconds that the middle one of many reads takes, of tasks all over the file.
async fn read_time((store, ids): &Filled, round: usize) -> f64 {
    let mut times = Vec::new();
    for n in 0..1_000 {
        let id = ids[(round * 7_919 + n * 104_729) % ids.len()];
        let start = Instant::now();
        store.get(id).await.expect("it works").expect("it is there");
        times.push(start.elapsed().as_secs_f64());
    }
    median(times)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
