//! Opening a store: its tables are made, brought up to date, or refused.

use std::error::Error;

use tokio_postgres::error::SqlState;

use super::{
    pool::{Failure, Pool, Session},
    schema::{MIGRATIONS, NEWEST},
};
use crate::store::StoreError;

/// Why a store was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The URL or the keywords say nothing that can be connected to.
    #[error("the database URL is not understood")]
    Url(#[source] tokio_postgres::Error),
    /// No schema can have this name.
    #[error("{0:?} is no name for a schema: 1 to 63 bytes, none of them 0, not starting with `pg_`")]
    Schema(Box<str>),
    /// The URL asks for TLS, and this program was built without.
    #[error("`sslmode=require` needs the feature `postgres-tls`")]
    NoTls,
    /// What was to be trusted is no certificate, or the operating system has none.
    #[error("there is no certificate to trust")]
    Roots(#[source] Box<dyn Error + Send + Sync>),
    /// The database did not answer, or refused.
    #[error("the database cannot be used")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    /// Texts would not survive.
    #[error("the database has the encoding {0}, and it has to be UTF8")]
    Encoding(Box<str>),
    /// The role may not make the tables.
    #[error("the role may not make or change the tables in the schema {schema:?}: have its owner do it, once")]
    NotAllowed {
        /// The schema.
        schema: Box<str>,
        /// What the database says.
        #[source]
        cause: Box<dyn Error + Send + Sync>,
    },
    /// There are no tables, or they are of an older version, and migrating is off.
    #[error(
        "the tables in the schema {schema:?} have version {found}, this program needs {wanted}: migrate them first"
    )]
    Older {
        /// The schema.
        schema: Box<str>,
        /// Their version; 0 if there are none.
        found: i32,
        /// The version that is needed.
        wanted: i32,
    },
    /// A newer version of this crate made the tables.
    #[error(
        "the tables in the schema {schema:?} have version {found}, newer than the {known} of this program: update it"
    )]
    Newer {
        /// The schema.
        schema: Box<str>,
        /// Their version.
        found: i32,
        /// The newest version that is known here.
        known: i32,
    },
}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.into())
    }
}

/// The schema to open: its name, and that name quoted.
pub(super) struct Place<'a> {
    pub name: &'a str,
    pub quoted: &'a str,
}

/// Makes sure that the tables are those that this version knows.
pub(super) async fn open(pool: &Pool, place: &Place<'_>, migrate: bool) -> Result<(), OpenError> {
    let mut session = pool.patient_session().await?;
    check_encoding(&mut session).await?;
    let found = version(&mut session, place).await.map_err(Failure::of_read)?;
    if found < NEWEST && migrate { migrate_from(&mut session, place).await } else { verdict(found, place) }
}

async fn check_encoding(session: &mut Session) -> Result<(), OpenError> {
    let rows = session.query("SHOW server_encoding", &[]).await.map_err(Failure::of_read)?;
    let encoding: String = rows.first().map(|row| row.get(0)).unwrap_or_default();
    if encoding == "UTF8" { Ok(()) } else { Err(OpenError::Encoding(encoding.into())) }
}

fn verdict(found: i32, place: &Place<'_>) -> Result<(), OpenError> {
    let schema = place.name.into();
    match found {
        NEWEST => Ok(()),
        ..NEWEST => Err(OpenError::Older { schema, found, wanted: NEWEST }),
        _ => Err(OpenError::Newer { schema, found, known: NEWEST }),
    }
}

/// The version of the tables; 0 if there are none.
async fn version(session: &mut Session, place: &Place<'_>) -> Result<i32, Failure> {
    // Not `to_regclass`: what that remembers may be older than the lock that was waited for.
    let known = "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1::text AND c.relname = 'version')";
    let known = session.query(known, &[&place.name]).await?;
    if !known.first().is_some_and(|row| row.get(0)) {
        return Ok(0);
    }
    let rows = session.query(&format!("SELECT version FROM {}.version", place.quoted), &[]).await?;
    Ok(rows.first().map_or(0, |row| row.get(0)))
}

/// Brings the tables up to date in one transaction; of several nodes that start together, one does it.
async fn migrate_from(session: &mut Session, place: &Place<'_>) -> Result<(), OpenError> {
    let refused = |failure: Failure| match failure.state() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            OpenError::NotAllowed { schema: place.name.into(), cause: failure.of_read().into() }
        }
        _ => failure.of_read().into(),
    };
    session.begin().await.map_err(refused)?;
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended('mcp-tasks:' || $1::text, 0))";
    session.query(lock, &[&place.name]).await.map_err(refused)?;
    // Again, for it may have waited for another node.
    let found = version(session, place).await.map_err(refused)?;
    if found >= NEWEST {
        session.rollback().await;
        return verdict(found, place);
    }
    if found == 0 {
        prepare_schema(session, place).await.map_err(refused)?;
    }
    for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or_default()) {
        session.batch(&step.replace("{schema}", place.quoted)).await.map_err(refused)?;
    }
    let record = format!("UPDATE {}.version SET version = {NEWEST}", place.quoted);
    session.batch(&record).await.map_err(refused)?;
    session.commit().await.map_err(refused)?;
    tracing::info!(schema = place.name, from = found, to = NEWEST, "tables migrated");
    Ok(())
}

/// Makes the schema if there is none: for that, and for that alone, the role needs a right on the database.
async fn prepare_schema(session: &mut Session, place: &Place<'_>) -> Result<(), Failure> {
    let known =
        session.query("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1::text)", &[&place.name]).await?;
    if known.first().is_some_and(|row| row.get(0)) {
        return Ok(());
    }
    session.batch(&format!("CREATE SCHEMA {}", place.quoted)).await
}
