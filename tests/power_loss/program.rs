//! What `tests/power_loss/run` runs: a process that creates tasks in a file and says which were acknowledged, and one that
//! looks which of them a file holds.

use std::{error::Error, io::stdin, sync::Arc, time::Duration};

use bytes::Bytes;
use mcp_tasks::{
    limits::Quota,
    principal::Principal,
    store::{Lease, TaskStore, WorkerId, sqlite::SqliteStore},
    task::{Mutation, NewTask, OnRestart, Settlement, Target, TaskRecord},
    task_id::TaskId,
};

const CLIENTS: usize = 8;
const EACH: usize = 60;
/// Large enough that the log is moved into the file in between.
const ARGUMENTS: usize = 40 << 10;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", file, "full"] => write(SqliteStore::open(file)?).await,
        ["write", file, "normal"] => write(SqliteStore::builder(file).unsafe_at_power_loss().open()?).await,
        ["read", file] => read(SqliteStore::open(file)?).await,
        _ => Err("power_loss write FILE full|normal, power_loss read FILE".into()),
    }
}

async fn write(store: SqliteStore) -> Result<(), Box<dyn Error>> {
    let store = Arc::new(store);
    let clients: Vec<_> = (0..CLIENTS).map(|_| tokio::spawn(client(Arc::clone(&store)))).collect();
    for client in clients {
        client.await?;
    }
    Ok(())
}

async fn client(store: Arc<SqliteStore>) {
    for n in 0..EACH {
        let record = create(&store).await;
        println!("open {}", record.id);
        if n % 2 == 0 {
            let settled = Mutation::Settle(Settlement::Completed(Bytes::from_static(b"1")));
            store.commit(record.id, record.epoch, &settled).await.expect("settled");
            println!("ended {}", record.id);
        }
    }
}

async fn create(store: &SqliteStore) -> Arc<TaskRecord> {
    let target = Arc::new(Target::new("tools/call", "tool", "1"));
    let on_restart = OnRestart::Rerun { max_attempts: 2 };
    let task = NewTask { on_restart, ..NewTask::new(Principal::local(), target, vec![b'1'; ARGUMENTS].into()) };
    let lease = Lease { worker: WorkerId(1), period: Duration::from_secs(60) };
    let id = TaskId::random().expect("random bytes");
    store.create(id, task, Some(lease), &Quota::UNLIMITED).await.expect("created")
}

/// Prints each line of the input that the file does not keep.
async fn read(store: SqliteStore) -> Result<(), Box<dyn Error>> {
    for line in stdin().lines() {
        let line = line?;
        let (promise, id) = line.split_once(' ').ok_or("a line is a promise and an id")?;
        let found = store.get(id.parse()?).await?;
        if !found.is_some_and(|record| promise == "open" || record.is_settled()) {
            println!("{line}");
        }
    }
    store.close().await;
    Ok(())
}
