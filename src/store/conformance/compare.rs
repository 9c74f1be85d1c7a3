//! Whether a reply of a store is one that the model allows. The model then does what the store has done.
//!
//! A store's time may move by itself, so dates are compared with an allowance, and everything else exactly.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use super::{
    call::{Call, Reply},
    model::Model,
};
use crate::{
    clock::UnixMillis,
    store::{Lease, Reaped, Renewed, Written},
    task::{Event, Target, TaskRecord},
    task_id::TaskId,
};

/// What a reply must satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Nobody else called at the same time.
    Alone,
    /// Others did: a claim and a reap may pass over what those hold up.
    Together,
}

/// How the dates of a store come from those of the model.
#[derive(Debug, Clone)]
pub(super) struct Dates {
    /// The store's time when the model's was zero; known once there is a record.
    offset: Option<UnixMillis>,
    drift: Duration,
    /// Of each task the store's record that was seen last, and the model's `last_updated_at` then.
    seen: HashMap<TaskId, (Arc<TaskRecord>, UnixMillis)>,
}

type Verdict = Result<(), String>;

impl Dates {
    pub fn new(drift: Duration) -> Self {
        Self { offset: None, drift, seen: HashMap::new() }
    }

    /// Learns from a record that was created at the model's time `now`, if nothing was known.
    pub fn learn(&mut self, reply: &Reply, now: UnixMillis) {
        if let (None, Reply::Record(Some(record))) = (self.offset, reply) {
            self.offset = Some(UnixMillis::new(record.created_at.get().saturating_sub(now.get())));
        }
    }

    pub fn offset(&self) -> UnixMillis {
        self.offset.unwrap_or_default()
    }

    /// The offset of one task, whose creation is what its deadline is counted from.
    pub fn offset_of(&self, id: TaskId, model: &Model) -> UnixMillis {
        match (self.seen.get(&id), model.get(id)) {
            (Some((real, _)), Some(task)) => {
                UnixMillis::new(real.created_at.get().saturating_sub(task.created_at.get()))
            }
            _ => self.offset(),
        }
    }

    /// Whether the store's record is the model's.
    fn equal(&self, real: &TaskRecord, model: &TaskRecord) -> Verdict {
        for (name, real, model) in [
            ("created_at", real.created_at, model.created_at),
            ("last_updated_at", real.last_updated_at, model.last_updated_at),
        ] {
            let earliest = model.plus(Duration::from_millis(self.offset().get()));
            if real < earliest || real > earliest.plus(self.drift) {
                return Err(format!("{name} is {}, not {}", real.get(), earliest.get()));
            }
        }
        let dated = TaskRecord { created_at: model.created_at, last_updated_at: model.last_updated_at, ..real.clone() };
        if dated == *model { Ok(()) } else { Err(format!("the record is\n  {dated:?}\nand not\n  {model:?}")) }
    }

    /// Whether the record that the store now has follows on the one it had (TSK-03).
    pub fn follow(&mut self, real: &Arc<TaskRecord>, model: &TaskRecord) -> Verdict {
        self.equal(real, model)?;
        let elder = self.seen.insert(real.id, (Arc::clone(real), model.last_updated_at));
        let Some((elder, dated)) = elder.filter(|(elder, _)| elder.created_at == real.created_at) else {
            return Ok(());
        };
        let (changed, moved) = (model.last_updated_at != dated, real.last_updated_at != elder.last_updated_at);
        if changed != moved || real.last_updated_at < elder.last_updated_at {
            let (from, to) = (elder.last_updated_at.get(), real.last_updated_at.get());
            return Err(format!("TSK-03: last_updated_at went from {from} to {to}; a visible change: {changed}"));
        }
        Ok(())
    }
}

/// Judges `reply` to `call`, and lets the model do what the store has done.
pub(super) fn judge(model: &mut Model, call: &Call, reply: &Reply, dates: &Dates, how: Strictness) -> Verdict {
    match (call, reply) {
        (Call::Create { id, task, quota, .. }, Reply::TooMany(which)) => {
            if model.known(*id, task).is_some() {
                return Err(
                    "create with the id or key of a task that is there returns that task, whatever the quota".into()
                );
            }
            let may = model.most_broken(quota, &task.principal);
            if may.contains(which) { Ok(()) } else { Err(format!("{which:?} is not exceeded")) }
        }
        (Call::Create { id, task, lease, quota }, Reply::Record(Some(real))) => {
            let record = match model.known(*id, task) {
                Some(known) => known,
                None => match model.least_broken(quota, &task.principal) {
                    Some(which) => return Err(format!("SEC-04: a task was created in spite of {which:?}")),
                    None => model.insert(*id, task, *lease),
                },
            };
            dates.equal(real, &record)
        }
        (Call::Claim { lease, targets, limit }, Reply::Claimed(real)) => {
            claimed(model, *lease, targets, *limit, real, dates, how)
        }
        (Call::Reap(limit), Reply::Reaped(real)) => reaped(model, *limit, real, how),
        _ => same(&model.make(call), reply, dates),
    }
}

/// Replies that the model foretells.
fn same(expected: &Reply, real: &Reply, dates: &Dates) -> Verdict {
    match (expected, real) {
        (Reply::Record(Some(expected)), Reply::Record(Some(real)))
        | (Reply::Written(Written::Stands(expected)), Reply::Written(Written::Stands(real))) => {
            dates.equal(real, expected)
        }
        (Reply::Renewed(expected), Reply::Renewed(real)) if unordered(expected) == unordered(real) => Ok(()),
        (Reply::Revs(expected), Reply::Revs(real))
            if expected.iter().collect::<BTreeSet<_>>() == real.iter().collect::<BTreeSet<_>>() =>
        {
            Ok(())
        }
        _ if expected == real => Ok(()),
        _ => Err(format!("the reply is {real:?}, not {expected:?}")),
    }
}

fn unordered(renewed: &Renewed) -> [BTreeSet<(TaskId, crate::task::Epoch)>; 2] {
    [&renewed.lost, &renewed.cancel_requested].map(|list| list.iter().copied().collect())
}

/// Oldest first, by the dates of the store; among those of one age in any order.
fn claimed(
    model: &mut Model,
    lease: Lease,
    targets: &[Arc<Target>],
    limit: usize,
    real: &[Arc<TaskRecord>],
    dates: &Dates,
    how: Strictness,
) -> Verdict {
    let free = model.unclaimed(targets);
    if how == Strictness::Alone && real.len() != limit.min(free.len()) || real.len() > limit {
        return Err(format!("claim of {limit}: {} were claimed of {}", real.len(), free.len()));
    }
    for record in real {
        if !model.unclaimed(targets).iter().any(|free| free.id == record.id) {
            return Err(format!("{} was claimed, which nobody could claim", record.id));
        }
        dates.equal(record, &model.claim(record.id, lease))?;
    }
    let left = model.unclaimed(targets);
    let last = real.iter().map(|record| record.created_at).max();
    let first_left = left.iter().filter_map(|record| dates.seen.get(&record.id)).map(|(real, _)| real.created_at).min();
    let passed_over = last.zip(first_left).is_some_and(|(last, left)| left < last);
    if how == Strictness::Alone && (passed_over || !real.is_sorted_by_key(|record| record.created_at)) {
        return Err("claim: not the oldest first".into());
    }
    Ok(())
}

fn reaped(model: &mut Model, limit: usize, real: &Reaped, how: Strictness) -> Verdict {
    let due = model.overdue();
    if real.expired.len() + real.abandoned.len() + real.removed > limit {
        return Err(format!("reap of {limit} dealt with more: {real:?}"));
    }
    if real.removed > model.gone() {
        return Err(format!("reap removed {} tasks, and {} were gone", real.removed, model.gone()));
    }
    for id in &real.expired {
        let expired = model.get(*id).is_some_and(|record| record.is_settled() && model.now >= record.deadline());
        if !expired {
            return Err(format!("reap: {id} has not expired"));
        }
    }
    for id in &real.abandoned {
        if !model.overdue().contains(id) {
            return Err(format!("reap: the lease of {id} has not run out"));
        }
        model.happen(*id, &Event::Abandon);
    }
    if how == Strictness::Alone && !real.more {
        if real.abandoned.len() != due.len() {
            return Err(format!(
                "reap: of {due:?} only {:?} were dealt with, and no more were said to be",
                real.abandoned
            ));
        }
        model.forget_gone();
    }
    Ok(())
}
