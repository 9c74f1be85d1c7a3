//! The writer: turns calls into jobs, and a batch of jobs into one transaction.

use std::{error::Error, sync::Arc};

use rusqlite::Connection;
use tokio::sync::{broadcast, oneshot};

use super::{
    group::{Failed, Job, Ledger},
    tables::Tables,
};
use crate::{
    clock::Clock,
    error::{QuotaExceeded, StoreError},
    store::{
        Heard,
        row::Corrupt,
        seal::{Seal, SealError},
    },
};

/// Why a call did not do what it should.
pub(super) enum Fault {
    /// Its transaction cannot go on.
    Undo(Arc<dyn Error + Send + Sync>),
    /// It was decided before anything was written.
    Quota(QuotaExceeded),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Undo(Arc::new(error))
    }
}

impl From<Corrupt> for Fault {
    fn from(error: Corrupt) -> Self {
        Self::Undo(Arc::new(error))
    }
}

impl From<SealError> for Fault {
    fn from(error: SealError) -> Self {
        Self::Undo(Arc::new(error))
    }
}

/// Why a transaction did not commit.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// Nothing was done.
    Undone(Arc<dyn Error + Send + Sync>),
    /// The commit itself failed: it may have reached the file.
    Unknown(Arc<dyn Error + Send + Sync>),
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Undone(cause) => Self::Unavailable { cause: cause.into() },
            Failure::Unknown(cause) => Self::Ambiguous { cause: cause.into() },
        }
    }
}

/// A call of the store, in the form in which it waits for the writer.
pub(super) struct Call(Box<dyn Perform>);

trait Perform: Send {
    fn perform(&mut self, tables: &mut Tables<'_>) -> Result<(), Fault>;

    fn answer(self: Box<Self>, ended: Result<(), Failure>);
}

/// What a call does, its outcome, and who waits for that.
struct Performance<T, W> {
    work: W,
    outcome: Option<Result<T, QuotaExceeded>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl Call {
    /// A call that does `work`, which may be done again if its transaction was undone.
    pub fn new<T, W>(work: W) -> (Self, oneshot::Receiver<Result<T, StoreError>>)
    where
        T: Send + 'static,
        W: FnMut(&mut Tables<'_>) -> Result<T, Fault> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        (Self(Box::new(Performance { work, outcome: None, reply })), answer)
    }
}

impl<T, W> Perform for Performance<T, W>
where
    T: Send,
    W: FnMut(&mut Tables<'_>) -> Result<T, Fault> + Send,
{
    fn perform(&mut self, tables: &mut Tables<'_>) -> Result<(), Fault> {
        self.outcome = match (self.work)(tables) {
            Ok(done) => Some(Ok(done)),
            Err(Fault::Quota(which)) => Some(Err(which)),
            Err(undo) => return Err(undo),
        };
        Ok(())
    }

    fn answer(self: Box<Self>, ended: Result<(), Failure>) {
        let answer = match (ended, self.outcome) {
            (Ok(()), Some(outcome)) => outcome.map_err(StoreError::QuotaExceeded),
            (Ok(()), None) => return,
            (Err(failure), _) => Err(failure.into()),
        };
        // An error means that nobody waits any more.
        let _ = self.reply.send(answer);
    }
}

impl Job<Failure> for Call {
    fn answer(self, ended: Result<(), Failure>) {
        self.0.answer(ended);
    }
}

/// The connection that writes.
pub(super) struct Writer {
    connection: Connection,
    clock: Arc<dyn Clock>,
    seal: Seal,
    hints: broadcast::Sender<Heard>,
    /// Where the file was when this connection looked last: it moves when another one writes.
    data_version: i64,
}

impl Writer {
    pub fn new(
        connection: Connection,
        clock: Arc<dyn Clock>,
        seal: Seal,
        hints: broadcast::Sender<Heard>,
    ) -> rusqlite::Result<Self> {
        let data_version = data_version(&connection)?;
        Ok(Self { connection, clock, seal, hints, data_version })
    }

    /// Puts all that was written into the file itself, and closes it.
    pub fn close(self) {
        if let Err(error) = super::space::checkpoint(&self.connection) {
            tracing::debug!(error = &error as &dyn Error, "the log of the task store was left as it is");
        }
    }

    /// Tells whoever watches if another process has written.
    fn look_around(&mut self) {
        match data_version(&self.connection) {
            Ok(version) if version == self.data_version => {}
            Ok(version) => {
                self.data_version = version;
                // An error means that nobody watches.
                let _ = self.hints.send(Heard::Missed);
            }
            Err(error) => tracing::warn!(error = &error as &dyn Error, "the task store could not be looked at"),
        }
    }

    fn undo(&self) {
        if self.connection.is_autocommit() {
            return;
        }
        if let Err(error) = self.connection.execute_batch("ROLLBACK") {
            tracing::error!(error = &error as &dyn Error, "a transaction of the task store was not rolled back");
        }
    }

    /// Does the jobs, and returns what whoever watches is to hear.
    fn perform(&self, jobs: &mut [Call]) -> Result<Vec<Heard>, Arc<dyn Error + Send + Sync>> {
        let mut tables = Tables::new(&self.connection, &self.seal, &*self.clock);
        for job in jobs {
            match job.0.perform(&mut tables) {
                Ok(()) | Err(Fault::Quota(_)) => {}
                Err(Fault::Undo(cause)) => return Err(cause),
            }
        }
        Ok(tables.heard)
    }
}

fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

impl Ledger for Writer {
    type Job = Call;
    type Failure = Failure;

    fn commit(&mut self, jobs: &mut [Call]) -> Result<(), Failed<Failure>> {
        if jobs.is_empty() {
            self.look_around();
            return Ok(());
        }
        self.undo();
        // Takes the file's write lock first, so that nothing that is read here changes before the commit.
        run(&self.connection, "BEGIN IMMEDIATE").map_err(|error| Failed::All(Failure::Undone(Arc::new(error))))?;
        let heard = self.perform(jobs).map_err(|cause| {
            tracing::warn!(error = &*cause as &dyn Error, "a call of the task store failed");
            self.undo();
            Failed::Job(Failure::Undone(cause))
        })?;
        run(&self.connection, "COMMIT").map_err(|error| {
            tracing::error!(error = &error as &dyn Error, "the task store could not commit");
            self.undo();
            Failed::All(Failure::Unknown(Arc::new(error)))
        })?;
        for heard in heard {
            let _ = self.hints.send(heard);
        }
        Ok(())
    }
}

fn run(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}
