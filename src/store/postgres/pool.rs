//! Connections: none is waited for longer than a call may take, and none is used again whose state is not known.

use std::{error::Error, future::Future, time::Duration};

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, RecyclingMethod, Runtime};
use tokio::time::{Instant, timeout_at};
use tokio_postgres::{Row, error::SqlState, types::ToSql};

use super::{config::PostgresConfig, open::OpenError, tls::Tls};
use crate::store::StoreError;

/// The parameters of a statement.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// How long a migration, or an operator's look at all tasks, may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why a statement has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// It was not sent.
    Unsent(Box<dyn Error + Send + Sync>),
    /// The database refused it: nothing was done.
    Refused(Box<tokio_postgres::Error>),
    /// It was sent, and there is no answer.
    Unanswered(Box<dyn Error + Send + Sync>),
}

impl Failure {
    fn of(error: tokio_postgres::Error) -> Self {
        match error.code() {
            Some(state) if is_final(state) => Self::Refused(Box::new(error)),
            _ => Self::Unanswered(error.into()),
        }
    }

    pub fn state(&self) -> Option<&SqlState> {
        match self {
            Self::Refused(error) => error.code(),
            _ => None,
        }
    }

    /// Whether another transaction was in the way, and the same may work at once.
    pub fn is_conflict(&self) -> bool {
        matches!(self.state(), Some(&SqlState::T_R_DEADLOCK_DETECTED | &SqlState::T_R_SERIALIZATION_FAILURE))
    }

    /// What a call says that has changed nothing, whatever became of the statement.
    pub fn of_read(self) -> StoreError {
        StoreError::Unavailable { cause: self.cause() }
    }

    /// What a call says whose statement makes a change.
    pub fn of_write(self) -> StoreError {
        match self {
            Self::Unanswered(cause) => StoreError::Ambiguous { cause },
            done_nothing => done_nothing.of_read(),
        }
    }

    /// The statement was one of a transaction that has not been committed: nothing was done.
    pub fn uncommitted(self) -> Self {
        Self::Unsent(self.cause())
    }

    fn cause(self) -> Box<dyn Error + Send + Sync> {
        match self {
            Self::Unsent(cause) | Self::Unanswered(cause) => cause,
            Self::Refused(error) => error,
        }
    }
}

/// Whether an error of this state says that nothing was done. A connection that is ended from outside says nothing of
/// what its last statement did.
fn is_final(state: &SqlState) -> bool {
    let lost = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_SESSION_TIMEOUT,
        SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN,
    ];
    !lost.contains(state) && !state.code().starts_with("08")
}

/// Connections to one database.
pub(super) struct Pool {
    inner: deadpool_postgres::Pool,
    timeout: Duration,
}

impl Pool {
    pub fn new(config: &PostgresConfig, tls: &Tls) -> Result<Self, OpenError> {
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match tls {
            Tls::No(tls) => Manager::from_config(config.connection(), *tls, manager),
            #[cfg(feature = "postgres-tls")]
            Tls::Rustls(tls) => Manager::from_config(config.connection(), tls.clone(), manager),
        };
        let settings = settings(config.timeout);
        let pool = deadpool_postgres::Pool::builder(manager)
            .max_size(config.pool_size)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(config.timeout))
            .create_timeout(Some(config.timeout))
            .recycle_timeout(Some(config.timeout))
            .post_create(Hook::async_fn(move |client, _| {
                let settings = settings.clone();
                Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
            }))
            .build();
        Ok(Self { inner: pool.map_err(|error| OpenError::Unavailable(error.into()))?, timeout: config.timeout })
    }

    /// A connection for one call.
    pub async fn session(&self) -> Result<Session, StoreError> {
        self.session_until(Instant::now() + self.timeout).await
    }

    /// A connection for what may take long.
    pub async fn patient_session(&self) -> Result<Session, StoreError> {
        let mut session = self.session().await?;
        session.deadline = Instant::now() + PATIENCE;
        let unlimited = format!("SET statement_timeout = {}", PATIENCE.as_millis());
        session.batch(&unlimited).await.map_err(Failure::of_read)?;
        // It goes back to no one: the others want the usual limit.
        session.spent = true;
        Ok(session)
    }

    /// A connection that is had, and whose statements are done, by then.
    pub async fn session_until(&self, deadline: Instant) -> Result<Session, StoreError> {
        let object = match timeout_at(deadline, self.inner.get()).await {
            Ok(Ok(object)) => object,
            Ok(Err(error)) => return Err(StoreError::Unavailable { cause: error.into() }),
            Err(elapsed) => return Err(StoreError::Unavailable { cause: elapsed.into() }),
        };
        Ok(Session { object: Some(object), deadline, in_transaction: false, spent: false })
    }

    pub fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }
}

/// What holds for each connection. The server gives up before we do, so that a lock that is waited for in vain is an
/// answer, and not silence; and a node that is frozen in a transaction holds its locks for a short while only. All queries
/// are small ones by index: plans are made once, and do not depend on what the tables held that day.
fn settings(timeout: Duration) -> String {
    let patience = (timeout * 3 / 4).as_millis().max(1);
    format!(
        "SET statement_timeout = {patience}; SET idle_in_transaction_session_timeout = {patience}; \
         SET default_transaction_isolation = 'read committed'; SET plan_cache_mode = force_generic_plan; \
         SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; \
         SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
    )
}

/// A connection in the hands of one call.
pub(super) struct Session {
    /// `None` only after it was let go.
    object: Option<Object>,
    deadline: Instant,
    in_transaction: bool,
    /// Nobody else may have it.
    spent: bool,
}

impl Session {
    /// Runs a statement. It is prepared once a connection.
    pub async fn query(&mut self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, Failure> {
        let statement = self.prepare(sql).await?;
        let client = self.client()?;
        let asked = in_time(self.deadline, client.query(&statement, params)).await;
        self.see(asked)
    }

    /// Prepares a statement, for [`client`](Self::client).
    pub async fn prepare(&mut self, sql: &str) -> Result<tokio_postgres::Statement, Failure> {
        let client = self.client()?;
        let prepared = in_time(self.deadline, client.prepare_cached(sql)).await;
        self.see(prepared).map_err(Failure::uncommitted)
    }

    /// The connection, for statements that are sent one behind the other before the first is answered. What comes of them
    /// goes through [`see`](Self::see).
    pub fn client(&self) -> Result<&Object, Failure> {
        self.object.as_ref().ok_or_else(gone)
    }

    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Runs statements without parameters.
    pub async fn batch(&mut self, sql: &str) -> Result<(), Failure> {
        let client = self.client()?;
        let asked = in_time(self.deadline, client.batch_execute(sql)).await;
        self.see(asked)
    }

    pub async fn begin(&mut self) -> Result<(), Failure> {
        self.in_transaction = true;
        self.batch("BEGIN").await.map_err(Failure::uncommitted)
    }

    pub async fn commit(&mut self) -> Result<(), Failure> {
        self.batch("COMMIT").await?;
        self.in_transaction = false;
        Ok(())
    }

    /// For who sends `BEGIN` before, and has seen `COMMIT` done.
    pub fn set_in_transaction(&mut self, whether: bool) {
        self.in_transaction = whether;
    }

    /// Ends a transaction that has changed nothing.
    pub async fn rollback(&mut self) {
        if self.batch("ROLLBACK").await.is_ok() {
            self.in_transaction = false;
        }
    }

    /// A connection that does not answer in time is not used again.
    pub fn see<T>(&mut self, done: Result<T, Failure>) -> Result<T, Failure> {
        if matches!(done, Err(Failure::Unanswered(_))) {
            self.spent = true;
        }
        done
    }
}

/// A connection in the middle of a transaction, or in the middle of nobody knows what, does not go back: that it ends
/// rolls the transaction back.
impl Drop for Session {
    fn drop(&mut self) {
        if self.in_transaction || self.spent {
            self.object.take().map(Object::take);
        }
    }
}

/// Waits for an answer until then.
pub(super) async fn in_time<T>(
    deadline: Instant,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, Failure> {
    match timeout_at(deadline, work).await {
        Ok(done) => done.map_err(Failure::of),
        Err(elapsed) => Err(Failure::Unanswered(elapsed.into())),
    }
}

fn gone() -> Failure {
    Failure::Unsent("the connection was given up".into())
}
