//! What an operator sees. These calls look at all tasks, and may take a minute.

use std::sync::Arc;

use super::{
    Core, PostgresStore,
    pool::Failure,
    rows::{Removals, bytes_of, now_of, record_of},
};
use crate::{
    store::{
        AdminStore, StoreError, StoreFuture, Written,
        admin::{Filter, Position, Stats},
        row,
    },
    task::{Event, TaskRecord, TaskStatus},
    task_id::TaskId,
};

/// How many rows are read at a time: each may carry a large payload.
const PAGE: usize = 64;

/// A filter, as columns have it.
struct Columns {
    principal: Option<String>,
    status: Option<&'static str>,
    tool: Option<String>,
    from: Option<i64>,
    before: Option<i64>,
}

impl Columns {
    fn of(filter: &Filter) -> Self {
        let escaped = |text: &str| row::escape(text).into_owned();
        Self {
            principal: filter.principal.as_ref().map(|principal| escaped(principal.as_str())),
            status: filter.status.map(TaskStatus::as_str),
            tool: filter.tool.as_deref().map(escaped),
            from: filter.created_from.map(row::millis),
            before: filter.created_before.map(row::millis),
        }
    }
}

impl Core {
    async fn list(
        &self,
        filter: &Filter,
        after: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Arc<TaskRecord>>, StoreError> {
        let mut session = self.pool.patient_session().await?;
        let Columns { principal, status, tool, from, before } = Columns::of(filter);
        let mut listed = Vec::new();
        let mut position = after.map_or((i64::MAX, Vec::new()), place);
        while listed.len() < limit {
            let page = PAGE.min(limit - listed.len());
            let size = i64::try_from(page).unwrap_or(i64::MAX);
            let lines = session
                .query(
                    &self.sql.list,
                    &[&self.test_time(), &principal, &status, &tool, &from, &before, &position.0, &position.1, &size],
                )
                .await
                .map_err(Failure::of_read)?;
            for line in &lines {
                position = (line.get("created_at"), line.get("id"));
                listed.extend(self.standing_of(line).await?.filter(|record| filter.matches(record)));
            }
            if lines.len() < page {
                break;
            }
        }
        Ok(listed)
    }

    /// The task of a line as it stands; what time has done to it is written down, as by any other read.
    async fn standing_of(&self, line: &tokio_postgres::Row) -> Result<Option<Arc<TaskRecord>>, StoreError> {
        let record = record_of(line, &self.seal)?;
        if now_of(line)? < record.changes_at() { Ok(Some(record)) } else { self.current(record.id).await }
    }

    async fn purge(&self, filter: &Filter, limit: usize) -> Result<usize, StoreError> {
        let mut session = self.pool.patient_session().await?;
        let Columns { principal, status, tool, from, before } = Columns::of(filter);
        let size = i64::try_from(limit).unwrap_or(i64::MAX);
        let lines = session
            .query(&self.sql.purge, &[&self.test_time(), &principal, &status, &tool, &from, &before, &size])
            .await
            .map_err(Failure::of_read)?;
        let mut removals = Removals::default();
        lines.iter().for_each(|line| removals.add(line.get(0), line.get(1), line.get(2)));
        if removals.is_empty() {
            return Ok(0);
        }
        let removed = session.query(&self.sql.remove, &removals.params()).await.map_err(Failure::of_write)?;
        Ok(removed.len())
    }

    async fn stats(&self) -> Result<Stats, StoreError> {
        let mut session = self.pool.patient_session().await?;
        let time = self.test_time();
        let tally = session.query(&self.sql.tally, &[&time]).await.map_err(Failure::of_read)?;
        let totals = session.query(&self.sql.totals, &[&time, &self.schema]).await.map_err(Failure::of_read)?;
        let number = |count: i64| u64::try_from(count).unwrap_or_default();
        let mut stats = Stats::default();
        for line in &tally {
            let (name, status): (String, String) = (line.get(0), line.get(1));
            if let Some(status) = TaskStatus::of_word(&status) {
                stats.tasks.insert((row::unescape(&name).into(), status), number(line.get(2)));
            }
        }
        if let Some(line) = totals.first() {
            stats.unclaimed = number(line.get(0));
            stats.oldest_unclaimed = line.get::<_, Option<i64>>(1).and_then(row::from_millis);
            stats.leased = number(line.get(2));
            stats.overdue = number(line.get(3));
            stats.bytes = line.get::<_, Option<i64>>(4).map(number);
        }
        Ok(stats)
    }
}

fn place(position: Position) -> (i64, Vec<u8>) {
    (row::millis(position.created_at), bytes_of(position.id))
}

impl AdminStore for PostgresStore {
    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        after: Option<Position>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        Box::pin(self.core.list(filter, after, limit))
    }

    fn purge<'a>(&'a self, filter: &'a Filter, limit: usize) -> StoreFuture<'a, usize> {
        Box::pin(self.core.purge(filter, limit))
    }

    fn abandon(&self, id: TaskId) -> StoreFuture<'_, Written> {
        Box::pin(self.core.happen(id, Event::Abandon))
    }

    fn stats(&self) -> StoreFuture<'_, Stats> {
        Box::pin(self.core.stats())
    }
}
