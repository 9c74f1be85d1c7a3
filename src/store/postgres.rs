//! `PostgresStore` (feature `postgres`): tasks in a PostgreSQL database, for several nodes that serve the same ones.
//!
//! A task is one row, and each change of it one statement that takes effect only if the row still is what was read. What
//! a task becomes is decided in [`task`](crate::task); the time is the database's, so that nodes need not agree on
//! theirs, but for [`extend_ttl`](crate::TaskContext::extend_ttl), which counts from the node's. A call that the database
//! does not answer fails within [`PostgresConfig::timeout`], and the next one is tried on a new connection: service
//! resumes by itself.
//!
//! | file | what |
//! |---|---|
//! | `config`, `tls`, `open`, `schema` | how a store is set up: connection, TLS, tables and their versions |
//! | `pool` | connections, time limits, and what a failure says of a write |
//! | `sql`, `rows` | the statements, and their columns |
//! | `creates` | new tasks, many in a transaction, and quotas |
//! | `writes` | a change of one task |
//! | `claims` | leases: claiming, renewing, reaping |
//! | `signals` | hints between nodes |
//! | `admin` | what an operator sees |

mod admin;
mod claims;
mod config;
mod creates;
mod open;
mod pool;
mod rows;
mod schema;
mod signals;
mod sql;
mod tls;
mod writes;

use std::{fmt, sync::Arc};

use bytes::Bytes;

pub use self::{config::PostgresConfig, open::OpenError};
use self::{
    creates::{Creates, Granted, Wish},
    pool::{Failure, Pool},
    rows::{bytes_of, id_of},
    signals::{Line, Listening, Signals},
    sql::Sql,
    tls::Tls,
};
use crate::{
    input::{InputKey, InputState},
    limits::Quota,
    store::{Hints, Lease, Reaped, Renewed, StoreError, StoreFuture, TaskStore, Written, seal::Seal},
    task::{Epoch, Event, Mutation, NewTask, Rev, Target, TaskRecord},
    task_id::TaskId,
};

/// How often a call that others get in the way of is tried again.
const TRIES: usize = 64;

/// Keeps tasks in PostgreSQL (14 or later). See [`TaskStore`] for the contract. Made by [`connect`](Self::connect) on the
/// tokio runtime that it lives on.
///
/// # Time limits
/// No call takes longer than [`PostgresConfig::timeout`]. One that fails before it has sent what makes the change is
/// [`StoreError::Unavailable`], one that is not answered after that [`StoreError::Ambiguous`].
///
/// # Least privilege
/// A role needs `CREATE` on the database once, for the schema; or the schema's owner opens the store once, and the
/// servers do so with [`PostgresConfig::migrate`]`(false)` as a role that has no more than this:
///
/// ```sql
/// GRANT USAGE ON SCHEMA mcp_tasks TO server;
/// GRANT SELECT ON mcp_tasks.version TO server;
/// GRANT SELECT, INSERT, UPDATE, DELETE ON mcp_tasks.tasks, mcp_tasks.payloads, mcp_tasks.counts, mcp_tasks.ledger TO server;
/// ```
///
/// # Connections
/// A pool of [`PostgresConfig::pool_size`], and one more for hints. A proxy in between has to keep a session's connection
/// (PgBouncer: session pooling), for statements are prepared and hints are listened to.
pub struct PostgresStore {
    core: Arc<Core>,
    creates: Creates,
    _listening: Option<Listening>,
}

/// What calls and loops share.
struct Core {
    pool: Pool,
    sql: Sql,
    /// The name of the schema, quoted.
    schema: String,
    seal: Seal,
    signals: Arc<Signals>,
    #[cfg(any(test, feature = "test-support"))]
    clock: Option<Arc<dyn crate::clock::Clock>>,
}

impl Core {
    /// What takes the place of the database's clock: in tests alone there is one.
    fn test_time(&self) -> Option<i64> {
        #[cfg(any(test, feature = "test-support"))]
        if let Some(clock) = &self.clock {
            return Some(super::row::millis(clock.now()));
        }
        None
    }

    fn tries(&self) -> usize {
        TRIES
    }
}

impl PostgresStore {
    /// Opens the store: connects, and makes or checks the tables.
    ///
    /// Nodes may do so at the same moment: one makes the tables, the others wait for it.
    ///
    /// # Errors
    /// [`OpenError`], which says what to do.
    pub async fn connect(config: PostgresConfig) -> Result<Self, OpenError> {
        let schema = config::quoted(&config.schema)?;
        let tls = Tls::of(&config)?;
        let pool = Pool::new(&config, &tls)?;
        open::open(&pool, &open::Place { name: &config.schema, quoted: &schema }, config.migrate).await?;
        let core = Arc::new(Core {
            pool,
            sql: Sql::new(&schema),
            schema,
            signals: Arc::new(Signals::new(config.notify)),
            #[cfg(any(test, feature = "test-support"))]
            clock: config.clock.clone(),
            seal: config.seal.clone(),
        });
        let listening = if config.notify {
            let line = Line { database: config.connection(), tls, schema: config.schema, timeout: config.timeout };
            Some(Listening::start(&core.signals, line).await)
        } else {
            None
        };
        Ok(Self { creates: Creates::start(&core), core, _listening: listening })
    }

    async fn create_once(&self, wish: Wish) -> Result<Arc<TaskRecord>, StoreError> {
        for _ in 0..self.core.tries() {
            match self.creates.ask(&self.core, wish.clone()).await? {
                Granted::New(record) => {
                    if wish.lease.is_none() {
                        self.core.signals.offer();
                    }
                    return Ok(record);
                }
                // It may be gone by now: then there is room for this one.
                Granted::Known(id) => {
                    if let Some(record) = self.core.current(id).await? {
                        return Ok(record);
                    }
                }
            }
        }
        Err(StoreError::Unavailable { cause: "other tasks of the key come and go".into() })
    }

    async fn revs_now(&self, ids: &[TaskId]) -> Result<Vec<(TaskId, Rev)>, StoreError> {
        let mut session = self.core.pool.session().await?;
        let asked: Vec<_> = ids.iter().copied().map(bytes_of).collect();
        let lines = session.query(&self.core.sql.revs, &[&self.core.test_time(), &asked]).await;
        drop(session);
        let mut revs = Vec::new();
        for line in lines.map_err(Failure::of_read)? {
            let id = id_of(line.get(0))?;
            if !line.get::<_, bool>(2) {
                revs.push((id, Rev(u64::try_from(line.get::<_, i64>(1)).unwrap_or_default())));
            } else if let Some(record) = self.core.current(id).await? {
                revs.push((id, record.rev));
            }
        }
        Ok(revs)
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("schema", &self.core.schema).finish_non_exhaustive()
    }
}

impl TaskStore for PostgresStore {
    fn create<'a>(
        &'a self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &'a Quota,
    ) -> StoreFuture<'a, Arc<TaskRecord>> {
        Box::pin(self.create_once(Wish { id, task, lease, quota: *quota }))
    }

    fn get(&self, id: TaskId) -> StoreFuture<'_, Option<Arc<TaskRecord>>> {
        Box::pin(self.core.current(id))
    }

    fn respond<'a>(&'a self, id: TaskId, responses: &'a [(InputKey, Bytes)]) -> StoreFuture<'a, Written> {
        Box::pin(self.core.happen(id, Event::Respond(responses)))
    }

    fn request_cancel(&self, id: TaskId) -> StoreFuture<'_, Written> {
        Box::pin(self.core.happen(id, Event::RequestCancel))
    }

    fn claim<'a>(
        &'a self,
        lease: Lease,
        targets: &'a [Arc<Target>],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        Box::pin(self.core.claim(lease, targets, limit))
    }

    fn renew<'a>(&'a self, lease: Lease, held: &'a [(TaskId, Epoch)]) -> StoreFuture<'a, Renewed> {
        Box::pin(self.core.renew(lease, held))
    }

    fn commit<'a>(&'a self, id: TaskId, epoch: Epoch, mutation: &'a Mutation) -> StoreFuture<'a, Written> {
        Box::pin(self.core.happen(id, Event::Commit { epoch, mutation }))
    }

    fn input<'a>(&'a self, id: TaskId, key: &'a InputKey) -> StoreFuture<'a, Option<Bytes>> {
        Box::pin(async move {
            let record = self.core.current(id).await?;
            Ok(record.and_then(|record| match &record.inputs().get(key.as_str())?.state {
                InputState::Answered { response } => Some(response.clone()),
                _ => None,
            }))
        })
    }

    fn reap(&self, limit: usize) -> StoreFuture<'_, Reaped> {
        Box::pin(self.core.reap(limit))
    }

    fn watch(&self) -> Hints {
        self.core.signals.watch()
    }

    fn revs<'a>(&'a self, ids: &'a [TaskId]) -> StoreFuture<'a, Vec<(TaskId, Rev)>> {
        Box::pin(self.revs_now(ids))
    }
}
