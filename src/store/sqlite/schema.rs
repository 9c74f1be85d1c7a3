//! The file: what is in it, which version of that, and how it is opened.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

/// Says that a file is a task store: "MCPT".
const APPLICATION: i64 = 0x4d43_5054;

/// What makes each version of the file out of the one before. A file says how many of these it has had.
const MIGRATIONS: &[&str] = &[include_str!("schema/1.sql")];

/// Why a file was not opened as a task store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder or the file could not be made.
    #[error("`{}` could not be made", path.display())]
    Create {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The file belongs to something else. It was not touched.
    #[error("`{}` is not a task store", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this crate wrote the file. It was not touched.
    #[error("`{}` has format {found}, and this program knows formats up to {known}: use a newer one", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// There is no such file, and none was to be made.
    #[error("`{}` is not there", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// An older version of this crate wrote the file, and it was not to be upgraded. It was not touched.
    #[error("`{}` has format {found}, older than {known}: a server of this version upgrades it", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The one that is known here.
        known: i64,
    },
    /// SQLite could not open or upgrade it.
    #[error("`{}` could not be opened", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The threads that read and write it could not be started.
    #[error("a thread could not be started")]
    Thread {
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The platform says of no folder for data.
    #[error("there is no folder for data on this platform: give a path")]
    NoFolder,
}

/// What is wrong with a file, before its path is added.
#[derive(Debug)]
pub(super) enum Fault {
    Foreign,
    Newer { found: i64, known: i64 },
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Foreign,
            _ => Self::Sqlite(error),
        }
    }
}

impl Fault {
    pub fn at(self, path: &Path) -> OpenError {
        let path = path.to_owned();
        match self {
            Self::Foreign => OpenError::Foreign { path },
            Self::Newer { found, known } => OpenError::Newer { path, found, known },
            Self::Sqlite(cause) => OpenError::Sqlite { path, cause: cause.into() },
        }
    }
}

/// Makes the file, and the folders above it, if they are not there: readable by their user alone.
pub(super) fn make(path: &Path) -> Result<(), OpenError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private_folder(folder).map_err(|cause| OpenError::Create { path: folder.into(), cause })?;
    }
    // SQLite gives its other files the mode of this one.
    private_file(path).map_err(|cause| OpenError::Create { path: path.into(), cause })
}

/// Makes sure that the file is there and needs no migration. Changes nothing.
pub(super) fn require(path: &Path, patience: Duration) -> Result<(), OpenError> {
    if !path.is_file() {
        return Err(OpenError::Missing { path: path.into() });
    }
    let found =
        open_reader(path, patience).and_then(|connection| check(&connection)).map_err(|fault| fault.at(path))?;
    match (found, MIGRATIONS.len() as i64) {
        // Empty: nothing says that it is to be a task store.
        (0, _) => Err(OpenError::Foreign { path: path.into() }),
        (found, known) if found < known => Err(OpenError::Older { path: path.into(), found, known }),
        _ => Ok(()),
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

fn private_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.create(true).append(true).open(path).map(drop)
}

/// How sure a commit is of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Synchronous {
    /// When it returns, it is there.
    Full,
    /// It survives the process and not the machine.
    #[cfg_attr(not(feature = "test-support"), expect(dead_code, reason = "only tests want it"))]
    Normal,
}

/// The connection that writes: brings the file to the newest version.
pub(super) fn open_writer(path: &Path, patience: Duration, synchronous: Synchronous) -> Result<Connection, Fault> {
    let mut connection = connect(path, patience)?;
    check(&connection)?;
    // Takes effect in an empty file only.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    patiently(patience, || connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())))?;
    let synchronous = if synchronous == Synchronous::Full { "FULL" } else { "NORMAL" };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // On macOS an fsync by itself does not reach the disk.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    migrate(&mut connection, MIGRATIONS)?;
    Ok(connection)
}

/// A connection that reads.
pub(super) fn open_reader(path: &Path, patience: Duration) -> Result<Connection, Fault> {
    let connection = connect(path, patience)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn connect(path: &Path, patience: Duration) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

/// Whether the file is ours, and how many migrations it has had: 0 if it is empty.
fn check(connection: &Connection) -> Result<i64, Fault> {
    let (application, found): (i64, i64) = connection.query_row(
        "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let known = MIGRATIONS.len() as i64;
    match application {
        APPLICATION if found > known => Err(Fault::Newer { found, known }),
        APPLICATION => Ok(found),
        0 if found == 0 && is_empty(connection)? => Ok(0),
        _ => Err(Fault::Foreign),
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

/// Brings the file to the newest version, in one transaction.
fn migrate(connection: &mut Connection, migrations: &[&str]) -> Result<(), Fault> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = usize::try_from(check(&transaction)?).unwrap_or(0);
    for migration in migrations.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    if done < migrations.len() {
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    }
    Ok(transaction.commit()?)
}

/// Tries again while another process has the file: SQLite itself does not wait here.
fn patiently<T>(patience: Duration, mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && started.elapsed() < patience =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            ended => return ended,
        }
    }
}

#[cfg(test)]
mod tests;
