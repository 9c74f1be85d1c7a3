//! Following tasks: each accepted id gives its state once, then each newer state, and its last one always (NOT-05).
//!
//! A mailbox holds which of its ids may have changed, not what they became: states coalesce, and what a slow reader makes
//! the engine hold is bounded by the number of its ids (case 43).

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{
    clock::{BoxFuture, UnixMillis},
    engine::{TaskWatch, run::Host},
    error::StoreError,
    principal::Principal,
    task::{Rev, TaskRecord},
    task_id::TaskId,
};

/// How often a watch asks the store whether a hint was lost.
const SAFETY_POLL: Duration = Duration::from_secs(2);
/// How soon it asks again about a task whose time has come by this clock, and which has not changed: the store's clock may
/// be behind, or the store may fail. Each time it waits twice as long, up to [`SAFETY_POLL`].
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Who follows which task.
#[derive(Default)]
pub(crate) struct Watchers {
    by_id: Mutex<HashMap<TaskId, Vec<Weak<Mailbox>>>>,
    /// The engine has shut down.
    closed: CancellationToken,
}

#[derive(Default)]
struct Mailbox {
    dirty: Mutex<BTreeSet<TaskId>>,
    filled: Notify,
}

impl Watchers {
    fn by_id(&self) -> MutexGuard<'_, HashMap<TaskId, Vec<Weak<Mailbox>>>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task may have changed.
    pub fn mark(&self, id: TaskId) {
        if let Some(followers) = self.by_id().get(&id) {
            followers.iter().filter_map(Weak::upgrade).for_each(|mailbox| mailbox.mark(id));
        }
    }

    /// Any task may have changed.
    pub fn mark_all(&self) {
        for (id, followers) in &*self.by_id() {
            followers.iter().filter_map(Weak::upgrade).for_each(|mailbox| mailbox.mark(*id));
        }
    }

    /// Ends all watches: each gives what it has not given yet, and no more.
    pub fn close(&self) {
        self.mark_all();
        self.closed.cancel();
    }

    fn follow(&self, id: TaskId, mailbox: &Arc<Mailbox>) {
        self.by_id().entry(id).or_default().push(Arc::downgrade(mailbox));
    }

    fn unfollow(&self, id: TaskId, mailbox: &Arc<Mailbox>) {
        let mut by_id = self.by_id();
        if let Some(followers) = by_id.get_mut(&id) {
            followers.retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(mailbox)));
            if followers.is_empty() {
                by_id.remove(&id);
            }
        }
    }
}

impl Mailbox {
    fn dirty(&self) -> MutexGuard<'_, BTreeSet<TaskId>> {
        self.dirty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mark(&self, id: TaskId) {
        self.dirty().insert(id);
        self.filled.notify_one();
    }

    fn take(&self) -> Option<TaskId> {
        self.dirty().pop_first()
    }
}

/// What was last seen of a followed task.
struct Followed {
    updated: Option<UnixMillis>,
    rev: Rev,
    /// When time alone will change it.
    changes_at: UnixMillis,
    /// How long after a look that was in vain, though that time had come, there is another.
    pause: Duration,
}

impl Followed {
    /// Nothing was seen of it.
    const UNSEEN: Self = Self { updated: None, rev: Rev(0), changes_at: UnixMillis::NEVER, pause: FIRST_PAUSE };

    /// When to ask the store whether time has changed it, after one has asked at `looked`.
    fn look_after(&self, looked: UnixMillis) -> UnixMillis {
        if self.changes_at > looked { self.changes_at } else { looked.plus(self.pause) }
    }
}

/// The [`TaskWatch`] of this crate's engine.
pub(crate) struct Watch {
    host: Arc<Host>,
    watchers: Arc<Watchers>,
    mailbox: Arc<Mailbox>,
    accepted: Vec<TaskId>,
    followed: BTreeMap<TaskId, Followed>,
    /// When the store was last asked what has changed without a hint.
    looked: UnixMillis,
    /// The task that is being read; read again if the read was dropped.
    reading: Option<TaskId>,
}

impl Watch {
    /// Follows those of `ids` that are tasks of `principal`: one read of the store for each id (SEC-02).
    pub async fn open(
        host: Arc<Host>,
        watchers: Arc<Watchers>,
        principal: &Principal,
        ids: &[TaskId],
    ) -> Result<Self, StoreError> {
        let mailbox = Arc::default();
        let (accepted, followed) = (Vec::new(), BTreeMap::new());
        let looked = host.clock.now();
        let mut watch = Self { host, watchers, mailbox, accepted, followed, looked, reading: None };
        for id in ids {
            let record = watch.host.store.get(*id).await?;
            if record.is_some_and(|record| record.is_visible_to(principal)) {
                watch.accept(*id);
            }
        }
        Ok(watch)
    }

    fn accept(&mut self, id: TaskId) {
        if self.followed.insert(id, Followed::UNSEEN).is_none() {
            self.accepted.push(id);
            self.watchers.follow(id, &self.mailbox);
            self.mailbox.mark(id);
        }
    }

    fn forget(&mut self, id: TaskId) {
        self.followed.remove(&id);
        self.watchers.unfollow(id, &self.mailbox);
    }

    async fn next_state(&mut self) -> Option<Arc<TaskRecord>> {
        if let Some(interrupted) = self.reading.take() {
            self.mailbox.mark(interrupted);
        }
        while !self.followed.is_empty() {
            match self.mailbox.take() {
                Some(id) => {
                    if let Some(record) = self.read(id).await {
                        return Some(record);
                    }
                }
                None if self.watchers.closed.is_cancelled() => return None,
                None => self.wait().await,
            }
        }
        None
    }

    /// The state of a task that may have changed, if it has.
    async fn read(&mut self, id: TaskId) -> Option<Arc<TaskRecord>> {
        self.reading = Some(id);
        let read = self.host.store.get(id).await;
        self.reading = None;
        match read {
            Ok(Some(record)) => self.see(record),
            Ok(None) => {
                self.forget(id);
                None
            }
            Err(error) => {
                tracing::warn!(task_id = %id, error = &error as &dyn std::error::Error, "a followed task was not read");
                if let Some(followed) = self.followed.get_mut(&id) {
                    followed.rev = Rev(0);
                }
                None
            }
        }
    }

    fn see(&mut self, record: Arc<TaskRecord>) -> Option<Arc<TaskRecord>> {
        let followed = self.followed.get_mut(&record.id)?;
        let newer = followed.updated.is_none_or(|seen| record.last_updated_at > seen);
        *followed = Followed {
            updated: Some(record.last_updated_at),
            rev: record.rev,
            changes_at: record.changes_at(),
            pause: if newer { FIRST_PAUSE } else { followed.pause },
        };
        if record.is_settled() {
            self.forget(record.id);
        }
        newer.then_some(record)
    }

    /// Waits for a hint, for the time that changes a task, or for the next look at the store.
    async fn wait(&mut self) {
        let poll = self.looked.min(self.host.clock.now()).plus(SAFETY_POLL);
        let look = self.followed.values().map(|task| task.look_after(self.looked)).fold(poll, UnixMillis::min);
        tokio::select! {
            biased;
            () = self.mailbox.filled.notified() => {}
            () = self.watchers.closed.cancelled() => {}
            () = self.host.clock.sleep_until(look) => self.look().await,
        }
    }

    /// Marks what has changed without a hint.
    async fn look(&mut self) {
        let before = std::mem::replace(&mut self.looked, self.host.clock.now());
        for overdue in self.followed.values_mut().filter(|task| task.changes_at <= before) {
            overdue.pause = (overdue.pause * 2).min(SAFETY_POLL);
        }
        let ids: Vec<TaskId> = self.followed.keys().copied().collect();
        let Ok(revs) = self.host.store.revs(&ids).await else { return };
        let revs: HashMap<TaskId, Rev> = revs.into_iter().collect();
        for (id, followed) in &self.followed {
            if revs.get(id) != Some(&followed.rev) {
                self.mailbox.mark(*id);
            }
        }
    }
}

impl TaskWatch for Watch {
    fn accepted(&self) -> &[TaskId] {
        &self.accepted
    }

    fn next(&mut self) -> BoxFuture<'_, Option<Arc<TaskRecord>>> {
        Box::pin(self.next_state())
    }

    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.watchers.closed.cancelled())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for id in self.followed.keys() {
            self.watchers.unfollow(*id, &self.mailbox);
        }
    }
}
