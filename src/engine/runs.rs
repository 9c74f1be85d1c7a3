//! `Runs`: the runs of this engine, by task id, and the door that closes when it shuts down.

use std::{
    borrow::Borrow,
    collections::HashSet,
    hash::{Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::{engine::run::Run, task::Epoch, task_id::TaskId};

#[derive(Default)]
pub(crate) struct Runs {
    table: Mutex<Table>,
    emptied: Notify,
}

#[derive(Default)]
struct Table {
    closed: bool,
    by_id: HashSet<ById>,
}

/// A run under its id: a set of these is a map that does not hold each id twice.
#[derive(Clone)]
struct ById(Arc<Run>);

impl Borrow<TaskId> for ById {
    fn borrow(&self) -> &TaskId {
        &self.0.id
    }
}

impl PartialEq for ById {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for ById {}

impl Hash for ById {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl Runs {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a run for as long as the returned guard lives; `None` once the door is closed.
    pub fn enter(self: &Arc<Self>, run: Run) -> Option<Listed> {
        let run = Arc::new(run);
        let mut table = self.table();
        if table.closed {
            return None;
        }
        table.by_id.replace(ById(Arc::clone(&run)));
        Some(Listed { runs: Arc::clone(self), run })
    }

    pub fn get(&self, id: TaskId) -> Option<Arc<Run>> {
        self.table().by_id.get(&id).map(|listed| Arc::clone(&listed.0))
    }

    pub fn len(&self) -> usize {
        self.table().by_id.len()
    }

    /// Lets nobody in any more.
    pub fn close(&self) {
        self.table().closed = true;
    }

    pub fn is_closed(&self) -> bool {
        self.table().closed
    }

    pub fn all(&self) -> Vec<Arc<Run>> {
        self.table().by_id.iter().map(|listed| Arc::clone(&listed.0)).collect()
    }

    /// The leases that are held.
    pub fn held(&self) -> Vec<(TaskId, Epoch)> {
        self.table().by_id.iter().filter_map(|listed| Some((listed.0.id, listed.0.epoch()?))).collect()
    }

    /// Resolves once no run is listed.
    pub async fn empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            tokio::pin!(emptied);
            emptied.as_mut().enable();
            if self.len() == 0 {
                return;
            }
            emptied.await;
        }
    }
}

/// A run that is listed, until this is dropped.
pub(crate) struct Listed {
    runs: Arc<Runs>,
    pub run: Arc<Run>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut table = self.runs.table();
        // A lost task may by now be run anew by this same engine.
        if table.by_id.get(&self.run.id).is_some_and(|listed| Arc::ptr_eq(&listed.0, &self.run)) {
            table.by_id.remove(&self.run.id);
        }
        let room = table.by_id.capacity();
        if room > 1024 && table.by_id.len() < room / 4 {
            let twice = table.by_id.len() * 2;
            table.by_id.shrink_to(twice);
        }
        let empty = table.by_id.is_empty();
        drop(table);
        if empty {
            self.runs.emptied.notify_waiters();
        }
    }
}
