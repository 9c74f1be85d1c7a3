//! How to reach the database, and what to use of it.

use std::{fmt, time::Duration};

use tokio_postgres::config::TargetSessionAttrs;

use super::open::OpenError;
use crate::store::seal::Seal;
#[cfg(any(test, feature = "test-support"))]
use std::sync::Arc;

/// How a [`PostgresStore`](super::PostgresStore) connects, and where it keeps its tables.
///
/// TLS follows the URL's `sslmode`: `disable` uses none, `prefer` (the default) uses it where the server has it, `require`
/// refuses a server without it. It needs the feature `postgres-tls`. A certificate is always checked, against the roots of
/// the operating system or those of `trust`, and against the host's name: `require` here is what libpq calls
/// `verify-full`.
#[derive(Clone)]
#[must_use]
pub struct PostgresConfig {
    pub(super) database: tokio_postgres::Config,
    pub(super) schema: Box<str>,
    pub(super) pool_size: usize,
    pub(super) timeout: Duration,
    pub(super) migrate: bool,
    pub(super) notify: bool,
    pub(super) seal: Seal,
    #[cfg(feature = "postgres-tls")]
    pub(super) roots: Option<Box<[u8]>>,
    #[cfg(any(test, feature = "test-support"))]
    pub(super) clock: Option<Arc<dyn crate::clock::Clock>>,
}

impl PostgresConfig {
    /// The database of this URL (`postgres://user:password@host:5432/name?sslmode=require`) or of these libpq keywords
    /// (`host=... user=...`).
    ///
    /// # Errors
    /// [`OpenError::Url`] if it is neither. The error does not show the URL, for there is a password in it.
    pub fn from_url(url: &str) -> Result<Self, OpenError> {
        Ok(Self::new(url.parse().map_err(OpenError::Url)?))
    }

    /// The database of this configuration.
    ///
    /// Of several hosts, one that takes writes is looked for; a standby is never read from, for it may lag behind.
    pub fn new(mut database: tokio_postgres::Config) -> Self {
        database.target_session_attrs(TargetSessionAttrs::ReadWrite);
        Self {
            database,
            schema: "mcp_tasks".into(),
            pool_size: 16,
            timeout: Duration::from_secs(2),
            migrate: true,
            notify: true,
            seal: Seal::default(),
            #[cfg(feature = "postgres-tls")]
            roots: None,
            #[cfg(any(test, feature = "test-support"))]
            clock: None,
        }
    }

    /// Sets the schema that the tables are in: any name of 1 to 63 bytes, which is quoted. Default: `mcp_tasks`. Nodes of
    /// one schema serve the same tasks; those of different schemas know nothing of each other.
    pub fn schema(mut self, name: &str) -> Self {
        self.schema = name.into();
        self
    }

    /// Sets what the connections are called in the database's lists. Default: what the URL says, or `mcp-tasks`.
    pub fn application_name(mut self, name: &str) -> Self {
        self.database.application_name(name);
        self
    }

    /// Sets how many connections there are at most, besides one for hints. Default: 16.
    pub fn pool_size(mut self, connections: usize) -> Self {
        self.pool_size = connections.max(2);
        self
    }

    /// Sets how long a call may take in all before it fails: waiting for a connection, making one, the statements.
    /// Default: 2 s. A database that is away fails calls after this time at the latest.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets whether the tables are made, and brought up to date, when the store is opened. Default: true. With false a
    /// role with few rights is enough, see [`PostgresStore`](super::PostgresStore).
    pub fn migrate(mut self, migrate: bool) -> Self {
        self.migrate = migrate;
        self
    }

    /// Sets whether nodes tell each other of changes. Default: true. Without, other nodes see a change when they look
    /// next.
    pub fn notifications(mut self, notify: bool) -> Self {
        self.notify = notify;
        self
    }

    /// Seals with these keys what comes from clients and tools before it is written down.
    #[cfg(feature = "encryption")]
    pub fn keyring(mut self, keys: crate::store::Keyring) -> Self {
        self.seal = Seal::with(keys);
        self
    }

    /// Trusts the certificates in this PEM text, and no others.
    #[cfg(feature = "postgres-tls")]
    pub fn trust(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into().into());
        self
    }

    /// Goes by this clock in place of the database's, so that a test can move time.
    #[cfg(any(test, feature = "test-support"))]
    pub fn clock(mut self, clock: Arc<dyn crate::clock::Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// What the connections are made with: dead ones are noticed.
    pub(super) fn connection(&self) -> tokio_postgres::Config {
        let mut database = self.database.clone();
        database.connect_timeout(self.timeout).tcp_user_timeout(self.timeout * 2);
        database.keepalives_idle(Duration::from_secs(5)).keepalives_interval(Duration::from_secs(2));
        database.keepalives_retries(3);
        if database.get_application_name().is_none() {
            database.application_name("mcp-tasks");
        }
        database
    }
}

/// Without the password.
impl fmt::Debug for PostgresConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresConfig")
            .field("hosts", &self.database.get_hosts())
            .field("schema", &self.schema)
            .field("pool_size", &self.pool_size)
            .field("timeout", &self.timeout)
            .field("migrate", &self.migrate)
            .finish_non_exhaustive()
    }
}

/// The name of a schema, as it stands in a statement.
pub(super) fn quoted(name: &str) -> Result<String, OpenError> {
    if name.is_empty() || name.len() > 63 || name.contains('\0') || name.starts_with("pg_") {
        return Err(OpenError::Schema(name.into()));
    }
    Ok(format!("\"{}\"", name.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_name_is_quoted_or_refused() {
        assert_eq!(quoted("tasks").expect("a name"), "\"tasks\"");
        assert_eq!(quoted("a\"; drop").expect("a name"), "\"a\"\"; drop\"");
        for wrong in ["", "pg_tasks", "a\0b", &"x".repeat(64)] {
            assert!(quoted(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn no_password_is_shown() {
        let config = PostgresConfig::from_url("postgres://me:s3cret@localhost/db").expect("a URL");
        assert!(!format!("{config:?}").contains("s3cret"));
        let error = PostgresConfig::from_url("postgres://me:s3cret@localhost/db?sslmode=maybe").expect_err("no mode");
        assert!(!format!("{error:?} {error}").contains("s3cret"));
    }
}
