//! What an operator sees of a memory store.

use std::sync::Arc;

use super::{MemoryStore, ready, tables::Tables};
use crate::{
    clock::UnixMillis,
    store::{
        StoreFuture, Written,
        admin::{AdminStore, Filter, Position, Stats},
    },
    task::{Event, TaskRecord},
    task_id::TaskId,
};

impl Tables {
    /// All tasks that `filter` means, as they stand.
    fn matching(&mut self, filter: &Filter, now: UnixMillis) -> Vec<Arc<TaskRecord>> {
        let ids = self.ids();
        ids.into_iter().filter_map(|id| self.current(id, now)).filter(|record| filter.matches(record)).collect()
    }

    fn list(
        &mut self,
        filter: &Filter,
        after: Option<Position>,
        limit: usize,
        now: UnixMillis,
    ) -> Vec<Arc<TaskRecord>> {
        let mut records = self.matching(filter, now);
        records.retain(|record| after.is_none_or(|after| position(record) < after));
        records.sort_unstable_by_key(|record| std::cmp::Reverse(position(record)));
        records.truncate(limit);
        records
    }

    fn purge(&mut self, filter: &Filter, limit: usize, now: UnixMillis) -> usize {
        let records = self.matching(filter, now);
        let settled = records.iter().filter(|record| record.is_settled()).take(limit);
        settled.map(|record| self.remove(record.id)).count()
    }

    fn stats(&mut self, now: UnixMillis) -> Stats {
        let mut stats = Stats::default();
        for record in self.matching(&Filter::default(), now) {
            *stats.tasks.entry((record.target.name.clone(), record.status())).or_default() += 1;
            if record.is_settled() {
                continue;
            }
            match self.leased_until(record.id) {
                UnixMillis::NEVER => {
                    stats.unclaimed += 1;
                    let oldest = stats.oldest_unclaimed.get_or_insert(record.created_at);
                    *oldest = record.created_at.min(*oldest);
                }
                until if until <= now => stats.overdue += 1,
                _ => stats.leased += 1,
            }
        }
        stats
    }
}

fn position(record: &TaskRecord) -> Position {
    Position { created_at: record.created_at, id: record.id }
}

impl AdminStore for MemoryStore {
    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        after: Option<Position>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>> {
        ready(self.tables().list(filter, after, limit, self.clock.now()))
    }

    fn purge<'a>(&'a self, filter: &'a Filter, limit: usize) -> StoreFuture<'a, usize> {
        ready(self.tables().purge(filter, limit, self.clock.now()))
    }

    fn abandon(&self, id: TaskId) -> StoreFuture<'_, Written> {
        ready(self.happen(id, &Event::Abandon))
    }

    fn stats(&self) -> StoreFuture<'_, Stats> {
        ready(self.tables().stats(self.clock.now()))
    }
}
