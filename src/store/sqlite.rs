//! `SqliteStore`: tasks in a file, which outlive the process and the power.
//!
//! One thread writes: it takes all calls that wait, does them in one transaction, and answers when that is on the disk
//! (write-ahead log, `synchronous = FULL`). Others read beside it. No call blocks a thread of the runtime, and none scans
//! the tasks, save those of an operator ([`AdminStore`](crate::store::AdminStore)).
//!
//! Several processes may share one file on one machine: the file holds quotas, leases and keys for all of them. What another
//! process writes is noticed within about 100 ms, as [`Heard::Missed`]. The file must not be on a network share.
//!
//! The file and the folders that are made for it are readable by their user alone. What came from clients and tools is
//! encrypted if the store is given keys (feature `encryption`).

mod admin;
mod group;
mod ledger;
mod reader;
mod rows;
mod schema;
mod space;
mod tables;

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::{broadcast, watch};

pub use self::schema::OpenError;
use self::{
    group::Queue,
    ledger::{Call, Fault, Writer},
    reader::{At, Read},
    schema::Synchronous,
    tables::Tables,
};
use crate::{
    clock::{Clock, SystemClock},
    error::StoreError,
    input::{InputKey, InputState},
    limits::Quota,
    store::{Heard, Hints, Lease, Reaped, Renewed, StoreFuture, TaskStore, Written, seal::Seal},
    task::{Epoch, Event, Mutation, NewTask, Rev, Target, TaskRecord},
    task_id::TaskId,
};

/// How many hints a reader may lag behind before it is told that it missed some.
const HINTS: usize = 1024;
/// How many calls wait for the writer, or for a reader, before their callers wait for room.
const ROOM: usize = 1024;
/// How often to look whether another process has written.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// Keeps tasks in a SQLite file. See [`TaskStore`] for the contract; what an acknowledged call did survives a crash of the
/// process, of the machine, and a loss of power, if the disk keeps what it says it has written (NEW-01).
///
/// ```no_run
/// use mcp_tasks::store::sqlite::SqliteStore;
///
/// # fn open() -> Result<(), mcp_tasks::store::sqlite::OpenError> {
/// let store = SqliteStore::open("tasks.db")?;
/// # Ok(())
/// # }
/// ```
///
/// Dropping it lets its threads end what they do and close the file; [`close`](Self::close) also waits for that.
pub struct SqliteStore {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    writer: Arc<Queue<Call>>,
    readers: Arc<Queue<Read>>,
    hints: broadcast::Sender<Heard>,
    /// Closes when the last thread has ended.
    ended: watch::Receiver<()>,
    /// Dropped to end the thread that looks around.
    _looks_around: mpsc::Sender<()>,
}

/// How a [`SqliteStore`] is opened. Made by [`SqliteStore::builder`].
#[derive(Clone)]
#[must_use = "nothing is opened before `open`"]
pub struct SqliteBuilder {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    readers: usize,
    patience: Duration,
    synchronous: Synchronous,
    seal: Seal,
    existing: bool,
}

impl SqliteBuilder {
    /// Sets the clock. Default: [`SystemClock`]. All processes on one file should have the same time.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets how many threads read, at least 1. Default: 2.
    pub fn readers(mut self, count: usize) -> Self {
        self.readers = count.max(1);
        self
    }

    /// Sets how long a call waits while another process writes, before it is
    /// [`Unavailable`](StoreError::Unavailable). Default: 5 s.
    pub fn busy_timeout(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Encrypts what came from clients and tools: arguments, questions, answers, steps, results, errors, status messages.
    /// Default: nothing is encrypted.
    ///
    /// Not encrypted, for queries need them: task ids, principals, tool names, idempotency keys, times, statuses, progress.
    #[cfg(feature = "encryption")]
    pub fn keyring(mut self, keys: crate::store::Keyring) -> Self {
        self.seal = Seal::with(keys);
        self
    }

    /// Opens only a file that is there and has the format of this version: for an operator, who looks into a store and
    /// neither makes nor upgrades one.
    pub fn existing(mut self) -> Self {
        self.existing = true;
        self
    }

    /// Gives up durability at a loss of power: the control of the test that proves it.
    #[cfg(feature = "test-support")]
    #[doc(hidden)]
    pub fn unsafe_at_power_loss(mut self) -> Self {
        self.synchronous = Synchronous::Normal;
        self
    }

    /// Opens the file, makes it if it is not there, and brings it to the format of this version if it is older.
    ///
    /// Blocks for as long as the disk takes, and longer where another process writes just now.
    ///
    /// # Errors
    /// See [`OpenError`]. A file of a newer version, or of something else, is left as it is.
    pub fn open(self) -> Result<SqliteStore, OpenError> {
        let path = self.path;
        if self.existing {
            schema::require(&path, self.patience)?
        } else {
            schema::make(&path)?
        }
        let open = schema::open_writer(&path, self.patience, self.synchronous);
        let connection = open.map_err(|fault| fault.at(&path))?;
        let hints = broadcast::Sender::new(HINTS);
        let writer = Writer::new(connection, Arc::clone(&self.clock), self.seal.clone(), hints.clone());
        let writer = writer.map_err(|error| schema::Fault::from(error).at(&path))?;
        let (alive, ended) = watch::channel(());
        let alive = Arc::new(alive);
        let (looks_around, stopped) = mpsc::channel();
        let store = SqliteStore {
            path,
            clock: self.clock,
            writer: Arc::new(Queue::new(ROOM)),
            readers: Arc::new(Queue::new(ROOM)),
            hints,
            ended,
            _looks_around: looks_around,
        };
        for _ in 0..self.readers {
            store.start_reader(self.patience, self.seal.clone(), Arc::clone(&alive))?;
        }
        store.start_writer(writer, alive)?;
        store.start_looking_around(stopped)?;
        Ok(store)
    }
}

impl fmt::Debug for SqliteBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteBuilder").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens this file with the defaults of [`SqliteBuilder`].
    ///
    /// # Errors
    /// See [`SqliteBuilder::open`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, OpenError> {
        Self::builder(path).open()
    }

    /// How to open this file. Relative paths are below the working directory.
    pub fn builder(path: impl Into<PathBuf>) -> SqliteBuilder {
        SqliteBuilder {
            path: path.into(),
            clock: Arc::new(SystemClock),
            readers: 2,
            patience: Duration::from_secs(5),
            synchronous: Synchronous::Full,
            seal: Seal::default(),
            existing: false,
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes no more calls, does those it has, and closes the file. Calls after that are
    /// [`Unavailable`](StoreError::Unavailable). May be called again, and dropping the future does not stop it.
    pub async fn close(&self) {
        self.writer.close();
        self.readers.close();
        // Nothing is ever sent: this resolves when the last thread has dropped its sender.
        let _ = self.ended.clone().changed().await;
    }

    fn start_writer(&self, writer: Writer, alive: Arc<watch::Sender<()>>) -> Result<(), OpenError> {
        let queue = Arc::clone(&self.writer);
        spawn("mcp-tasks-write", move || {
            group::serve(&queue, writer).close();
            drop(alive);
        })
    }

    fn start_reader(&self, patience: Duration, seal: Seal, alive: Arc<watch::Sender<()>>) -> Result<(), OpenError> {
        let connection = schema::open_reader(&self.path, patience).map_err(|fault| fault.at(&self.path))?;
        let (queue, clock) = (Arc::clone(&self.readers), Arc::clone(&self.clock));
        spawn("mcp-tasks-read", move || {
            reader::serve(&queue, &connection, &seal, &clock);
            drop(connection);
            drop(alive);
        })
    }

    fn start_looking_around(&self, stopped: mpsc::Receiver<()>) -> Result<(), OpenError> {
        let (queue, hints) = (Arc::clone(&self.writer), self.hints.clone());
        spawn("mcp-tasks-look", move || {
            while stopped.recv_timeout(LOOK_AROUND) == Err(mpsc::RecvTimeoutError::Timeout) {
                if hints.receiver_count() > 0 {
                    queue.nudge();
                }
            }
        })
    }

    /// Has the writer do `work`, and waits until that is durable.
    async fn write<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&mut Tables<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (call, answer) = Call::new(work);
        self.writer.submit(call).await.map_err(|_| unavailable("the store is closed"))?;
        let lost = || StoreError::Ambiguous { cause: "the thread that writes has stopped".into() };
        answer.await.unwrap_or_else(|_| Err(lost()))
    }

    async fn read<T, R>(&self, read: R) -> Result<T, StoreError>
    where
        T: Send + 'static,
        R: FnOnce(&At<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (read, answer) = reader::read(read);
        self.readers.submit(read).await.map_err(|_| unavailable("the store is closed"))?;
        answer.await.unwrap_or_else(|_| Err(unavailable("a thread that reads has stopped")))
    }

    async fn current(&self, id: TaskId) -> Result<Option<Arc<TaskRecord>>, StoreError> {
        let found = self
            .read(move |at| {
                let Some(raw) = rows::by_id(at.connection, id)? else { return Ok(None) };
                Ok(Some(raw.decode(at.seal)?.record))
            })
            .await?;
        match found {
            Some(record) => self.settle_by_time(record).await,
            None => Ok(None),
        }
    }

    /// The task that was just read, as it stands: if time has changed it, that is written down first, so that it stays so
    /// (GET-05).
    async fn settle_by_time(&self, record: Arc<TaskRecord>) -> Result<Option<Arc<TaskRecord>>, StoreError> {
        if self.clock.now() < record.changes_at() {
            return Ok(Some(record));
        }
        let id = record.id;
        self.write(move |tables| Ok(tables.current(id)?.map(|stored| stored.record))).await
    }
}

fn unavailable(cause: &'static str) -> StoreError {
    StoreError::Unavailable { cause: cause.into() }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), OpenError> {
    let started = thread::Builder::new().name(name.into()).spawn(work);
    started.map(drop).map_err(|cause| OpenError::Thread { cause })
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.readers.close();
        self.writer.close();
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl TaskStore for SqliteStore {
    fn create<'a>(
        &'a self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &'a Quota,
    ) -> StoreFuture<'a, Arc<TaskRecord>> {
        let quota = *quota;
        Box::pin(self.write(move |tables| tables.create(id, task.clone(), lease, &quota)))
    }

    fn get(&self, id: TaskId) -> StoreFuture<'_, Option<Arc<TaskRecord>>> {
        Box::pin(self.current(id))
    }

    fn respond<'a>(&'a self, id: TaskId, responses: &'a [(InputKey, Bytes)]) -> StoreFuture<'a, Written> {
        let responses = responses.to_vec();
        Box::pin(self.write(move |tables| tables.happen(id, &Event::Respond(&responses))))
    }

    fn request_cancel(&self, id: TaskId) -> StoreFuture<'_, Written> {
        Box::pin(self.write(move |tables| tables.happen(id, &Event::RequestCancel)))
    }

    fn claim<'a>(
        &'a self,
        lease: Lease,
        targets: &'a [Arc<Target>],
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        let targets = targets.to_vec();
        Box::pin(self.write(move |tables| tables.claim(lease, &targets, limit)))
    }

    fn renew<'a>(&'a self, lease: Lease, held: &'a [(TaskId, Epoch)]) -> StoreFuture<'a, Renewed> {
        let held = held.to_vec();
        Box::pin(self.write(move |tables| tables.renew(lease, &held)))
    }

    fn commit<'a>(&'a self, id: TaskId, epoch: Epoch, mutation: &'a Mutation) -> StoreFuture<'a, Written> {
        let mutation = mutation.clone();
        Box::pin(self.write(move |tables| tables.happen(id, &Event::Commit { epoch, mutation: &mutation })))
    }

    fn input<'a>(&'a self, id: TaskId, key: &'a InputKey) -> StoreFuture<'a, Option<Bytes>> {
        Box::pin(async move {
            let record = self.current(id).await?;
            Ok(record.and_then(|record| match &record.inputs().get(key.as_str())?.state {
                InputState::Answered { response } => Some(response.clone()),
                _ => None,
            }))
        })
    }

    fn reap(&self, limit: usize) -> StoreFuture<'_, Reaped> {
        Box::pin(self.write(move |tables| tables.reap(limit)))
    }

    fn watch(&self) -> Hints {
        Hints::new(self.hints.subscribe())
    }

    fn revs<'a>(&'a self, ids: &'a [TaskId]) -> StoreFuture<'a, Vec<(TaskId, Rev)>> {
        let ids = ids.to_vec();
        Box::pin(async move {
            let found = self.read(move |at| rows::revs(at.connection, &ids, at.now)).await?;
            let mut revs = found.current;
            for id in found.due {
                let rev = self.write(move |tables| Ok(tables.current(id)?.map(|stored| stored.record.rev))).await?;
                revs.extend(rev.map(|rev| (id, rev)));
            }
            Ok(revs)
        })
    }
}

#[cfg(test)]
mod tests;
