//! `AdminStore`: what an operator may see and do that no client can (SEC-03).

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    clock::UnixMillis,
    principal::Principal,
    store::{StoreFuture, TaskStore, Written},
    task::{TaskRecord, TaskStatus},
    task_id::TaskId,
};

/// Which tasks an operator means. What is `None` does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Those of this status.
    pub status: Option<TaskStatus>,
    /// Those of this tool.
    pub tool: Option<Box<str>>,
    /// Those of this principal.
    pub principal: Option<Principal>,
    /// Those created at this time or later.
    pub created_from: Option<UnixMillis>,
    /// Those created before this time.
    pub created_before: Option<UnixMillis>,
}

impl Filter {
    /// Whether it means `record`, as that stands.
    pub fn matches(&self, record: &TaskRecord) -> bool {
        self.status.is_none_or(|status| record.status() == status)
            && self.tool.as_ref().is_none_or(|tool| record.target.name == *tool)
            && self.principal.as_ref().is_none_or(|principal| record.is_visible_to(principal))
            && self.created_from.is_none_or(|from| record.created_at >= from)
            && self.created_before.is_none_or(|before| record.created_at < before)
    }
}

/// Where a page of a list ends, and the next one goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// When the last task of the page was created.
    pub created_at: UnixMillis,
    /// Its name.
    pub id: TaskId,
}

/// How a store stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// Tasks of each tool in each status.
    pub tasks: BTreeMap<(Box<str>, TaskStatus), u64>,
    /// Open tasks that nobody holds.
    pub unclaimed: u64,
    /// When the oldest of those was created.
    pub oldest_unclaimed: Option<UnixMillis>,
    /// Leases that are held.
    pub leased: u64,
    /// Leases that have run out and were not taken away yet.
    pub overdue: u64,
    /// Bytes that the store takes up; `None` where it cannot tell.
    pub bytes: Option<u64>,
}

/// A store that an operator can look into. Calls here may take time in proportion to the tasks held.
pub trait AdminStore: TaskStore {
    /// Up to `limit` tasks, newest first, that come after `after` in that order.
    fn list<'a>(
        &'a self,
        filter: &'a Filter,
        after: Option<Position>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Arc<TaskRecord>>>;

    /// Removes up to `limit` settled tasks, and says how many. An open task is never removed: cancel it first.
    fn purge<'a>(&'a self, filter: &'a Filter, limit: usize) -> StoreFuture<'a, usize>;

    /// Takes the right to run an open task from whoever has it, as if the lease had run out.
    fn abandon(&self, id: TaskId) -> StoreFuture<'_, Written>;

    /// How the store stands.
    fn stats(&self) -> StoreFuture<'_, Stats>;
}

#[cfg(all(test, feature = "sqlite"))]
mod tests;
