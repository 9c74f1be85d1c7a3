//! The reference model: a plain map of records, each with the end of its lease. It scans, where a store must not.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;

use super::call::{Call, Reply};
use crate::{
    clock::UnixMillis,
    error::QuotaExceeded,
    input::{InputKey, InputState},
    limits::Quota,
    store::{Lease, Reaped, Renewed, Written},
    task::{Epoch, Event, NewTask, Refusal, Target, TaskRecord, Transition},
    task_id::TaskId,
};

/// All tasks there ever were and that a full reap has not removed since.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub now: UnixMillis,
    tasks: BTreeMap<TaskId, Held>,
}

#[derive(Debug, Clone)]
struct Held {
    record: Arc<TaskRecord>,
    /// [`UnixMillis::NEVER`] if nobody holds it.
    leased_until: UnixMillis,
}

impl Model {
    pub fn new() -> Self {
        // Far enough from zero to be set back.
        Self { now: UnixMillis::new(1_000_000_000), tasks: BTreeMap::new() }
    }

    pub fn advance(&mut self, step: Duration) {
        self.now = self.now.plus(step);
    }

    /// The task as it stands now.
    pub fn get(&self, id: TaskId) -> Option<Arc<TaskRecord>> {
        self.tasks.get(&id)?.record.at(self.now)
    }

    /// All tasks that can be read now.
    pub fn all(&self) -> impl Iterator<Item = Arc<TaskRecord>> {
        self.tasks.values().filter_map(|held| held.record.at(self.now))
    }

    /// Open tasks that nobody holds and whose target is one of `targets`.
    pub fn unclaimed(&self, targets: &[Arc<Target>]) -> Vec<Arc<TaskRecord>> {
        let free = self.tasks.values().filter(|held| held.leased_until == UnixMillis::NEVER);
        free.filter_map(|held| held.record.at(self.now))
            .filter(|record| !record.is_settled() && targets.contains(&record.target))
            .collect()
    }

    /// Open tasks whose lease has run out.
    pub fn overdue(&self) -> Vec<TaskId> {
        let due = self.tasks.iter().filter(|(_, held)| held.leased_until <= self.now);
        due.filter(|(_, held)| self.now < held.record.deadline() && !held.record.is_settled())
            .map(|(id, _)| *id)
            .collect()
    }

    /// Makes the call. Where the contract leaves the store a choice, the model has one of its own.
    pub fn make(&mut self, call: &Call) -> Reply {
        match call {
            Call::Create { id, task, lease, quota } => match self.known(*id, task) {
                Some(known) => Reply::Record(Some(known)),
                None => match self.least_broken(quota, &task.principal) {
                    Some(which) => Reply::TooMany(which),
                    None => Reply::Record(Some(self.insert(*id, task, *lease))),
                },
            },
            Call::Get(id) => Reply::Record(self.get(*id)),
            Call::Respond(id, responses) => Reply::Written(self.happen(*id, &Event::Respond(responses))),
            Call::RequestCancel(id) => Reply::Written(self.happen(*id, &Event::RequestCancel)),
            Call::Claim { lease, targets, limit } => {
                let mut oldest = self.unclaimed(targets);
                oldest.sort_by_key(|record| (record.created_at, record.id));
                oldest.truncate(*limit);
                Reply::Claimed(oldest.iter().map(|record| self.claim(record.id, *lease)).collect())
            }
            Call::Renew { lease, held } => Reply::Renewed(self.renew(*lease, held)),
            Call::Commit { id, epoch, mutation } => {
                Reply::Written(self.happen(*id, &Event::Commit { epoch: *epoch, mutation }))
            }
            Call::Input(id, key) => Reply::Answer(self.answer(*id, key)),
            Call::Reap(limit) => Reply::Reaped(self.reap(*limit)),
            Call::Revs(ids) => {
                Reply::Revs(ids.iter().filter_map(|id| self.get(*id).map(|record| (*id, record.rev))).collect())
            }
        }
    }

    /// The task that `create` would return rather than make one.
    pub fn known(&self, id: TaskId, task: &NewTask) -> Option<Arc<TaskRecord>> {
        let keyed = |record: &Arc<TaskRecord>| {
            let same = |key: &crate::task::IdempotencyKey| task.key.as_ref().is_some_and(|new| new.text == key.text);
            record.principal == task.principal && record.key.as_ref().is_some_and(same)
        };
        self.get(id).or_else(|| self.all().find(keyed))
    }

    pub fn insert(&mut self, id: TaskId, task: &NewTask, lease: Option<Lease>) -> Arc<TaskRecord> {
        let record = Arc::new(TaskRecord::new(id, task.clone(), self.now));
        self.tasks.insert(id, Held { record: Arc::clone(&record), leased_until: UnixMillis::NEVER });
        lease.map_or(record, |lease| self.claim(id, lease))
    }

    /// Gives the lease of an open task.
    pub fn claim(&mut self, id: TaskId, lease: Lease) -> Arc<TaskRecord> {
        self.happen(id, &Event::Claim);
        let held = self.tasks.get_mut(&id).expect("only tasks that are there are claimed");
        held.leased_until = self.now.plus(lease.period);
        Arc::clone(&held.record)
    }

    /// A bound that a new task breaks for certain: also if what has expired is not counted.
    pub fn least_broken(&self, quota: &Quota, principal: &crate::principal::Principal) -> Option<QuotaExceeded> {
        let records: Vec<_> = self.all().collect();
        broken(quota, principal, &records)
    }

    /// A bound that a new task breaks perhaps: if what has expired is counted until it is reaped.
    pub fn most_broken(&self, quota: &Quota, principal: &crate::principal::Principal) -> Vec<QuotaExceeded> {
        let records: Vec<_> = self.tasks.values().map(|held| Arc::clone(&held.record)).collect();
        let only = |part: Quota| broken(&part, principal, &records);
        let Quota { live, live_per_principal, held } = *quota;
        let parts = [
            Quota { live, ..Quota::UNLIMITED },
            Quota { live_per_principal, ..Quota::UNLIMITED },
            Quota { held, ..Quota::UNLIMITED },
        ];
        parts.into_iter().filter_map(only).collect()
    }

    /// Lets `event` happen to the task.
    pub fn happen(&mut self, id: TaskId, event: &Event<'_>) -> Written {
        let Some(record) = self.get(id) else { return Written::Refused(Refusal::Gone) };
        match record.after(event, self.now) {
            Transition::Unchanged => Written::Stands(record),
            Transition::Refused(refusal) => Written::Refused(refusal),
            Transition::Changed(next) => {
                self.put(&next);
                Written::Stands(next)
            }
        }
    }

    /// Puts a record in the place of its elder. A new epoch, and the end of the task, end the lease.
    pub fn put(&mut self, next: &Arc<TaskRecord>) {
        let held = self.tasks.get_mut(&next.id).expect("only tasks that are there change");
        if next.epoch != held.record.epoch || next.is_settled() {
            held.leased_until = UnixMillis::NEVER;
        }
        held.record = Arc::clone(next);
    }

    fn renew(&mut self, lease: Lease, held: &[(TaskId, Epoch)]) -> Renewed {
        let mut renewed = Renewed::default();
        for (id, epoch) in held {
            let now = self.now;
            let open = self.get(*id).filter(|record| !record.is_settled() && record.epoch == *epoch);
            let slot = self.tasks.get_mut(id).filter(|slot| slot.leased_until < UnixMillis::NEVER);
            match (open, slot) {
                (Some(record), Some(slot)) => {
                    slot.leased_until = now.plus(lease.period);
                    renewed.cancel_requested.extend(record.cancel_requested.then_some((*id, *epoch)));
                }
                _ => renewed.lost.push((*id, *epoch)),
            }
        }
        renewed
    }

    fn answer(&self, id: TaskId, key: &InputKey) -> Option<Bytes> {
        match &self.get(id)?.inputs().get(key.as_str())?.state {
            InputState::Answered { response } => Some(response.clone()),
            _ => None,
        }
    }

    fn reap(&mut self, limit: usize) -> Reaped {
        let mut reaped = Reaped { abandoned: self.overdue(), ..Reaped::default() };
        reaped.more = reaped.abandoned.len() >= limit;
        reaped.abandoned.truncate(limit);
        for id in &reaped.abandoned {
            self.happen(*id, &Event::Abandon);
        }
        if !reaped.more {
            self.forget_gone();
        }
        reaped
    }

    /// How many tasks are gone and were not forgotten yet.
    pub fn gone(&self) -> usize {
        self.tasks.values().filter(|held| held.record.at(self.now).is_none()).count()
    }

    pub fn forget_gone(&mut self) {
        let now = self.now;
        self.tasks.retain(|_, held| held.record.at(now).is_some());
    }
}

fn broken(
    quota: &Quota,
    principal: &crate::principal::Principal,
    records: &[Arc<TaskRecord>],
) -> Option<QuotaExceeded> {
    let live = || records.iter().filter(|record| !record.is_settled());
    if records.len() >= quota.held {
        return Some(QuotaExceeded::Held(quota.held));
    }
    if live().count() >= quota.live {
        return Some(QuotaExceeded::Live(quota.live));
    }
    let theirs = live().filter(|record| record.is_visible_to(principal)).count();
    (theirs >= quota.live_per_principal).then_some(QuotaExceeded::LivePerPrincipal(quota.live_per_principal))
}
