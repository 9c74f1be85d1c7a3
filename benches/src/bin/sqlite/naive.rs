//! What a store would do that has a connection for each client and commits each creation by itself: the same table, the
//! same statements, the same durability.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use mcp_tasks::task_id::TaskId;
use rusqlite::{Connection, OptionalExtension};

pub struct Naive(PathBuf);

impl Naive {
    /// A new file.
    pub fn new(path: &Path) -> Self {
        connect(path)
            .execute_batch(include_str!("../../../../src/store/sqlite/schema/1.sql"))
            .expect("the tables are made");
        Self(path.into())
    }

    /// Creations a second that so many clients get done.
    pub fn rate(&self, clients: usize, slice: Duration) -> f64 {
        let start = Instant::now();
        let count: u32 = thread::scope(|scope| {
            let clients: Vec<_> = (0..clients).map(|_| scope.spawn(|| self.client(start, slice))).collect();
            clients.into_iter().map(|client| client.join().expect("no panic")).sum()
        });
        f64::from(count) / start.elapsed().as_secs_f64()
    }

    fn client(&self, start: Instant, slice: Duration) -> u32 {
        let mut connection = connect(&self.0);
        let mut count = 0;
        while start.elapsed() < slice {
            create(&mut connection).expect("created");
            count += 1;
        }
        count
    }
}

fn connect(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("it opens");
    connection.busy_timeout(Duration::from_secs(60)).expect("it works");
    connection.pragma_update(None, "journal_mode", "WAL").expect("it works");
    connection.pragma_update(None, "synchronous", "FULL").expect("it works");
    connection.pragma_update(None, "wal_autocheckpoint", 4_000).expect("it works");
    connection
}

fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    const HEAD: &[u8] = br#"{"v":1,"updated":1790000000000,"ttl":[3600,0],"grace":[60,0],"poll":[1,0],"state":"open","declared":0,"attempt":1,"payload":false}"#;
    let id = TaskId::random().expect("random bytes").to_bits().to_be_bytes();
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    transaction
        .prepare_cached("SELECT t.head, p.value FROM task t LEFT JOIN payload p ON p.task = t.seq WHERE t.id = ?1")?
        .query_row([id], |row| row.get::<_, Vec<u8>>(0))
        .optional()?;
    transaction.prepare_cached("SELECT held, live FROM total")?.query_row([], |row| row.get::<_, i64>(0))?;
    transaction
        .prepare_cached(
            "INSERT INTO task (id, principal, method, name, version, created_at, changes_at, status, settled, \
             cancel_requested, rev, epoch, head, gone_at, leased_until, look_at) VALUES (?1, 'local', 'tools/call', 'tool', \
             '1', 1790000000000, 1790003600000, 'working', 0, 0, 2, 1, ?2, 1790003660000, 1790000030000, 1790000030000)",
        )?
        .execute((id, HEAD))?;
    transaction.prepare_cached("UPDATE total SET held = held + 1, live = live + 1")?.execute([])?;
    transaction
        .prepare_cached("INSERT INTO live VALUES ('local', 1) ON CONFLICT (principal) DO UPDATE SET tasks = tasks + 1")?
        .execute([])?;
    transaction.commit()
}
