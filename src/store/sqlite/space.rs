//! Gives space back after many tasks are gone (case 23).

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};

/// Pages that may lie idle, whatever the size of the file: new tasks soon use them.
const SPARE: i64 = 256;
/// Pages that are given back in one step, so that nobody waits for it for long.
const STEP: u32 = 2_000;
/// How long a checkpoint waits for readers.
const PATIENCE: Duration = Duration::from_millis(50);

/// Gives some pages back, inside a transaction, if more than a quarter of the file lies idle.
pub(super) fn shrink(connection: &Connection) -> rusqlite::Result<()> {
    let (idle, all) = (number(connection, "PRAGMA freelist_count")?, number(connection, "PRAGMA page_count")?);
    if idle > SPARE.max(all / 4) {
        // Gives no row, or one a page.
        let mut statement = connection.prepare_cached(&format!("PRAGMA incremental_vacuum({STEP})"))?;
        let mut pages = statement.query([])?;
        while pages.next()?.is_some() {}
    }
    Ok(())
}

/// Moves what the log holds into the file, and empties the log.
pub(super) fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).optional().map(drop)
}

/// Bytes that the store takes up as a file.
pub(super) fn bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let bytes = number(connection, "PRAGMA page_count")? * number(connection, "PRAGMA page_size")?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.prepare_cached(pragma)?.query_row([], |row| row.get(0))
}
