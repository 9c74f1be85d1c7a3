//! The tables of a memory store. The callers hold the lock, and say what time it is.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    mem,
    sync::Arc,
};

use tokio::sync::broadcast;

use super::agenda::Agenda;
use crate::{
    clock::UnixMillis,
    limits::Quota,
    principal::Principal,
    store::{Heard, Hint, Hints, Lease, QuotaExceeded, Reaped, Renewed, Written},
    task::{Epoch, Event, NewTask, Refusal, Rev, Target, TaskRecord, Transition},
    task_id::TaskId,
};

/// How many hints a reader may lag behind before it is told that it missed some.
const HINTS: usize = 1024;

pub(super) struct Tables {
    hints: broadcast::Sender<Heard>,
    slots: HashMap<TaskId, Slot>,
    /// When to look whether time has changed a task: its [`Slot::look_at`].
    agenda: Agenda,
    /// Open tasks that nobody holds, oldest first.
    unclaimed: BTreeMap<Arc<Target>, BTreeSet<(UnixMillis, TaskId)>>,
    /// Open tasks of each principal who has any.
    live: HashMap<Principal, usize>,
    live_in_all: usize,
    /// The tasks of each principal that were created with a key.
    keys: HashMap<Principal, HashMap<Arc<str>, TaskId>>,
}

/// A task. Time does nothing to it before `look_at`, which is never after the end of its lease or the next change of its
/// record by time.
struct Slot {
    record: Arc<TaskRecord>,
    /// [`UnixMillis::NEVER`] if nobody holds it.
    leased_until: UnixMillis,
    look_at: UnixMillis,
}

impl Tables {
    pub fn new() -> Self {
        Self {
            hints: broadcast::Sender::new(HINTS),
            slots: HashMap::new(),
            agenda: Agenda::default(),
            unclaimed: BTreeMap::new(),
            live: HashMap::new(),
            live_in_all: 0,
            keys: HashMap::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn watch(&self) -> Hints {
        Hints::new(self.hints.subscribe())
    }

    pub fn create(
        &mut self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &Quota,
        now: UnixMillis,
    ) -> Result<Arc<TaskRecord>, QuotaExceeded> {
        if let Some(known) = self.current(id, now).or_else(|| self.keyed(&task, now)) {
            return Ok(known);
        }
        self.check(quota, &task.principal)?;
        let record = Arc::new(TaskRecord::new(id, task, now));
        self.insert(Arc::clone(&record));
        Ok(match lease {
            Some(lease) => self.lease(&record, lease, now),
            None => {
                self.offer(&record);
                record
            }
        })
    }

    /// The task that was created with the same key.
    fn keyed(&mut self, task: &NewTask, now: UnixMillis) -> Option<Arc<TaskRecord>> {
        let key = task.key.as_ref()?;
        let id = *self.keys.get(&task.principal)?.get(&key.text)?;
        self.current(id, now)
    }

    fn check(&self, quota: &Quota, principal: &Principal) -> Result<(), QuotaExceeded> {
        if self.slots.len() >= quota.held {
            return Err(QuotaExceeded::Held(quota.held));
        }
        if self.live_in_all >= quota.live {
            return Err(QuotaExceeded::Live(quota.live));
        }
        if self.live.get(principal).copied().unwrap_or_default() >= quota.live_per_principal {
            return Err(QuotaExceeded::LivePerPrincipal(quota.live_per_principal));
        }
        Ok(())
    }

    /// The task as it stands at `now`. What time has done to it is written down, so that it stays done.
    pub fn current(&mut self, id: TaskId, now: UnixMillis) -> Option<Arc<TaskRecord>> {
        let Slot { record, look_at, .. } = self.slots.get(&id)?;
        if now < *look_at || now < record.changes_at() {
            return Some(Arc::clone(record));
        }
        let current = record.at(now);
        match &current {
            Some(record) => self.replace(Arc::clone(record)),
            None => self.remove(id),
        }
        current
    }

    /// Lets `event` happen to the task.
    pub fn happen(&mut self, id: TaskId, event: &Event<'_>, now: UnixMillis) -> Written {
        let Some(record) = self.current(id, now) else { return Written::Refused(Refusal::Gone) };
        match record.after(event, now) {
            Transition::Unchanged => Written::Stands(record),
            Transition::Refused(refusal) => Written::Refused(refusal),
            Transition::Changed(next) => {
                self.replace(Arc::clone(&next));
                if next.epoch != record.epoch {
                    self.set_lease(id, UnixMillis::NEVER);
                    self.offer(&next);
                }
                Written::Stands(next)
            }
        }
    }

    pub fn claim(
        &mut self,
        lease: Lease,
        targets: &[Arc<Target>],
        limit: usize,
        now: UnixMillis,
    ) -> Vec<Arc<TaskRecord>> {
        let mut claimed = Vec::new();
        while claimed.len() < limit {
            let oldest = targets.iter().filter_map(|target| self.unclaimed.get(target)?.first()).min();
            let Some((_, id)) = oldest.copied() else { break };
            // One that has expired is taken off the list by that.
            if let Some(record) = self.current(id, now).filter(|record| !record.is_settled()) {
                claimed.push(self.lease(&record, lease, now));
            }
        }
        claimed
    }

    pub fn renew(&mut self, lease: Lease, held: &[(TaskId, Epoch)], now: UnixMillis) -> Renewed {
        let mut renewed = Renewed::default();
        for (id, epoch) in held {
            let slot = self.slots.get(id).filter(|slot| slot.is_held_at(*epoch, now));
            match slot.map(|slot| slot.record.cancel_requested) {
                None => renewed.lost.push((*id, *epoch)),
                Some(cancel_requested) => {
                    self.set_lease(*id, now.plus(lease.period));
                    if cancel_requested {
                        renewed.cancel_requested.push((*id, *epoch));
                    }
                }
            }
        }
        renewed
    }

    pub fn reap(&mut self, limit: usize, now: UnixMillis) -> Reaped {
        let mut reaped = Reaped::default();
        for _ in 0..limit {
            let Some((planned, id)) = self.agenda.take_due(now) else { return reaped };
            if self.slots.get(&id).is_some_and(|slot| slot.look_at == planned) {
                self.look(id, now, &mut reaped);
                self.plan_anew(id);
            }
        }
        Reaped { more: true, ..reaped }
    }

    /// Looks what time has done to a task.
    fn look(&mut self, id: TaskId, now: UnixMillis, reaped: &mut Reaped) {
        let Some(Slot { record, leased_until, .. }) = self.slots.get(&id) else { return };
        let (was_open, lease_ended) = (!record.is_settled(), *leased_until <= now);
        match self.current(id, now) {
            None => reaped.removed += 1,
            Some(record) if record.is_settled() => reaped.expired.extend(was_open.then_some(id)),
            Some(_) if lease_ended => {
                self.happen(id, &Event::Abandon, now);
                reaped.abandoned.push(id);
            }
            Some(_) => {}
        }
    }

    fn insert(&mut self, record: Arc<TaskRecord>) {
        *self.live.entry(record.principal.clone()).or_default() += 1;
        self.live_in_all += 1;
        let id = record.id;
        if let Some(key) = &record.key {
            self.keys.entry(record.principal.clone()).or_default().insert(Arc::clone(&key.text), id);
        }
        self.slots.insert(id, Slot { record, leased_until: UnixMillis::NEVER, look_at: UnixMillis::NEVER });
        self.plan(id);
    }

    /// Puts the newer record in the place of the older one, and tells whoever watches.
    fn replace(&mut self, next: Arc<TaskRecord>) {
        let Some(slot) = self.slots.get_mut(&next.id) else { return };
        let old = mem::replace(&mut slot.record, Arc::clone(&next));
        if next.is_settled() && !old.is_settled() {
            self.settle(&old);
        }
        self.plan(next.id);
        self.hint(next.id, next.rev);
    }

    fn remove(&mut self, id: TaskId) {
        let Some(record) = self.slots.get(&id).map(|slot| Arc::clone(&slot.record)) else { return };
        if !record.is_settled() {
            self.settle(&record);
            self.hint(id, Rev(record.rev.0 + 1));
        }
        self.slots.remove(&id);
        self.forget_key(&record);
        self.shrink();
    }

    fn forget_key(&mut self, record: &TaskRecord) {
        let Some(key) = &record.key else { return };
        if let Some(keys) = self.keys.get_mut(&record.principal) {
            keys.remove(&key.text);
            if keys.is_empty() {
                self.keys.remove(&record.principal);
            }
        }
    }

    /// The open task `record` is open no longer: nobody runs it, and it does not count as live.
    fn settle(&mut self, record: &TaskRecord) {
        self.set_lease(record.id, UnixMillis::NEVER);
        self.withhold(record);
        self.live_in_all -= 1;
        if let Some(live) = self.live.get_mut(&record.principal) {
            *live -= 1;
            if *live == 0 {
                self.live.remove(&record.principal);
            }
        }
    }

    /// Gives the lease of an open task that nobody holds.
    fn lease(&mut self, record: &Arc<TaskRecord>, lease: Lease, now: UnixMillis) -> Arc<TaskRecord> {
        self.withhold(record);
        let Transition::Changed(claimed) = record.after(&Event::Claim, now) else { return Arc::clone(record) };
        if let Some(slot) = self.slots.get_mut(&record.id) {
            // No hint: no client can see a claim.
            slot.record = Arc::clone(&claimed);
        }
        self.set_lease(record.id, now.plus(lease.period));
        claimed
    }

    fn set_lease(&mut self, id: TaskId, until: UnixMillis) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.leased_until = until;
            if until < slot.look_at {
                self.plan(id);
            }
        }
    }

    /// Plans the next look after the planned one has taken place.
    fn plan_anew(&mut self, id: TaskId) {
        if let Some(slot) = self.slots.get_mut(&id) {
            slot.look_at = UnixMillis::NEVER;
            self.plan(id);
        }
    }

    /// Makes sure that the task is looked at in time.
    fn plan(&mut self, id: TaskId) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        let time = slot.record.changes_at().min(slot.leased_until);
        if time < slot.look_at {
            slot.look_at = time;
            self.agenda.add(time, id);
        }
    }

    fn hint(&self, id: TaskId, rev: Rev) {
        // An error means that nobody watches.
        let _ = self.hints.send(Heard::Hint(Hint { id, rev }));
    }

    fn offer(&mut self, record: &TaskRecord) {
        let waiting = self.unclaimed.entry(Arc::clone(&record.target)).or_default();
        waiting.insert((record.created_at, record.id));
        let _ = self.hints.send(Heard::Claimable);
    }

    fn withhold(&mut self, record: &TaskRecord) {
        if let Some(waiting) = self.unclaimed.get_mut(&record.target) {
            waiting.remove(&(record.created_at, record.id));
            if waiting.is_empty() {
                self.unclaimed.remove(&record.target);
            }
        }
    }

    /// Gives memory back after most tasks are gone (case 23). Rare enough to cost nothing on average.
    fn shrink(&mut self) {
        let (held, room) = (self.slots.len(), self.slots.capacity());
        if room > 1024 && held < room / 4 {
            self.slots.shrink_to(held * 2);
        }
    }
}

impl Slot {
    /// Whether the worker of `epoch` may go on with the task.
    fn is_held_at(&self, epoch: Epoch, now: UnixMillis) -> bool {
        self.leased_until < UnixMillis::NEVER && self.record.epoch == epoch && now < self.record.deadline()
    }
}
