//! What an operator sees of a SQLite store.

use std::{collections::BTreeMap, sync::Arc};

use rusqlite::{Connection, named_params};

use super::{
    SqliteStore,
    ledger::Fault,
    rows::{RawTask, SELECT, id_bytes, id_of},
    space,
    tables::Tables,
};
use crate::{
    clock::UnixMillis,
    store::{
        StoreFuture, Written,
        admin::{AdminStore, Filter, Position, Stats},
        row::{Corrupt, escape, from_millis, millis, unescape},
        seal::Seal,
    },
    task::{Event, TaskRecord, TaskStatus},
    task_id::TaskId,
};

/// How the row `t` stands at `:now`: an open task fails when its time is over, whether or not that was written down.
const STATUS: &str = "CASE WHEN t.settled = 0 AND t.changes_at <= :now THEN 'failed' ELSE t.status END";

/// Whether a filter means the row `t`, which is not gone.
const MATCHES: &str = "t.gone_at > :now AND (:tool IS NULL OR t.name = :tool) AND (:principal IS NULL OR t.principal = \
    :principal) AND t.created_at >= :from AND (:before IS NULL OR t.created_at < :before) AND (:status IS NULL OR :status = ";

/// A filter as the parameters of a statement.
struct Means {
    status: Option<&'static str>,
    tool: Option<String>,
    principal: Option<String>,
    from: i64,
    before: Option<i64>,
}

impl From<&Filter> for Means {
    fn from(filter: &Filter) -> Self {
        Self {
            status: filter.status.map(TaskStatus::as_str),
            tool: filter.tool.as_deref().map(|tool| escape(tool).into_owned()),
            principal: filter.principal.as_ref().map(|principal| escape(principal.as_str()).into_owned()),
            from: filter.created_from.map_or(0, millis),
            before: filter.created_before.map(millis),
        }
    }
}

fn listed(
    connection: &Connection,
    means: &Means,
    after: Option<Position>,
    limit: usize,
    now: UnixMillis,
) -> rusqlite::Result<Vec<RawTask>> {
    let mut list = connection.prepare_cached(&format!(
        "{SELECT} WHERE {MATCHES} {STATUS}) AND (:at IS NULL OR (t.created_at, t.id) < (:at, :id)) \
         ORDER BY t.created_at DESC, t.id DESC LIMIT :limit"
    ))?;
    let rows = list.query_map(
        named_params! {
            ":now": millis(now),
            ":status": means.status,
            ":tool": means.tool,
            ":principal": means.principal,
            ":from": means.from,
            ":before": means.before,
            ":at": after.map(|after| millis(after.created_at)),
            ":id": after.map(|after| id_bytes(after.id)),
            ":limit": i64::try_from(limit).unwrap_or(i64::MAX),
        },
        RawTask::read,
    )?;
    rows.collect()
}

/// The settled tasks that `means` means, and open ones whose time is over.
fn purgeable(tables: &Tables<'_>, means: &Means, limit: usize) -> rusqlite::Result<Vec<TaskId>> {
    let mut settled = tables.connection().prepare_cached(&format!(
        "SELECT t.id FROM task t WHERE (t.settled = 1 OR t.changes_at <= :now) AND {MATCHES} {STATUS}) LIMIT :limit"
    ))?;
    let rows = settled.query_map(
        named_params! {
            ":now": millis(tables.now()),
            ":status": means.status,
            ":tool": means.tool,
            ":principal": means.principal,
            ":from": means.from,
            ":before": means.before,
            ":limit": i64::try_from(limit).unwrap_or(i64::MAX),
        },
        |row| row.get(0).map(id_of),
    )?;
    rows.collect()
}

fn purge(tables: &mut Tables<'_>, means: &Means, limit: usize) -> Result<usize, Fault> {
    let mut purged = 0;
    for id in purgeable(tables, means, limit)? {
        if let Some(stored) = tables.current(id)?.filter(|stored| stored.record.is_settled()) {
            tables.remove(&stored)?;
            purged += 1;
        }
    }
    tables.shrink()?;
    Ok(purged)
}

fn stats(connection: &Connection, now: UnixMillis) -> rusqlite::Result<Stats> {
    let mut tasks = BTreeMap::new();
    let mut counts = connection.prepare_cached(&format!(
        "SELECT t.name, {STATUS}, count(*) FROM task t WHERE t.gone_at > :now GROUP BY 1, 2"
    ))?;
    let mut rows = counts.query(named_params! { ":now": millis(now) })?;
    while let Some(row) = rows.next()? {
        let (name, status): (String, String) = (row.get(0)?, row.get(1)?);
        if let Some(status) = TaskStatus::of_word(&status) {
            tasks.insert((unescape(&name).into(), status), number(row.get(2)?));
        }
    }
    let mut leases = connection.prepare_cached(
        "SELECT count(*) FILTER (WHERE leased_until IS NULL), min(created_at) FILTER (WHERE leased_until IS NULL), \
         count(*) FILTER (WHERE leased_until > ?1), count(*) FILTER (WHERE leased_until <= ?1) \
         FROM task WHERE settled = 0 AND changes_at > ?1",
    )?;
    leases.query_row([millis(now)], |row| {
        let oldest: Option<i64> = row.get(1)?;
        Ok(Stats {
            tasks,
            unclaimed: number(row.get(0)?),
            oldest_unclaimed: oldest.and_then(from_millis),
            leased: number(row.get(2)?),
            overdue: number(row.get(3)?),
            bytes: Some(space::bytes(connection)?),
        })
    })
}

fn number(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}

fn decoded(tasks: Vec<RawTask>, seal: &Seal) -> Result<Vec<Arc<TaskRecord>>, Corrupt> {
    tasks.into_iter().map(|raw| Ok(raw.decode(seal)?.record)).collect()
}

impl AdminStore for SqliteStore {
    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        after: Option<Position>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        let means = Means::from(filter);
        Box::pin(async move {
            let records = self
                .read(move |at| Ok(decoded(listed(at.connection, &means, after, limit, at.now)?, at.seal)?))
                .await?;
            let mut standing = Vec::with_capacity(records.len());
            for record in records {
                standing.extend(self.settle_by_time(record).await?);
            }
            Ok(standing)
        })
    }

    fn purge<'a>(&'a self, filter: &'a Filter, limit: usize) -> StoreFuture<'a, usize> {
        let means = Means::from(filter);
        Box::pin(self.write(move |tables| purge(tables, &means, limit)))
    }

    fn abandon(&self, id: TaskId) -> StoreFuture<'_, Written> {
        Box::pin(self.write(move |tables| tables.happen(id, &Event::Abandon)))
    }

    fn stats(&self) -> StoreFuture<'_, Stats> {
        Box::pin(self.read(move |at| Ok(stats(at.connection, at.now)?)))
    }
}
