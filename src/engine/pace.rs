//! How fast a task may be polled, where the server minds (GET-04).
//!
//! Each poll that is let through costs the task's interval at that moment. A client that waits the interval owes nothing;
//! one that does not may owe as many intervals as the tolerance says, and waits from then on.
//!
//! What is kept is bounded by the unsettled tasks that were polled within the last tolerated intervals: whatever owes
//! nothing any more is dropped by the next poll of any task.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{clock::UnixMillis, task::TaskRecord, task_id::TaskId};

/// How a task was polled lately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pace {
    /// When a poll was last let through.
    last: UnixMillis,
    /// When all polls so far are paid for.
    due: UnixMillis,
}

/// Whether one more poll is let through: the pace from then on, or how long to wait.
///
/// Who has waited a whole interval is let through whatever came before, so that an interval that becomes shorter makes no
/// patient client wait.
fn decide(before: Option<Pace>, now: UnixMillis, interval: Duration, tolerance: u32) -> Result<Pace, Duration> {
    let Some(Pace { last, due }) = before else { return Ok(Pace { last: now, due: now.plus(interval) }) };
    let early = interval.saturating_sub(now.since(last));
    let wait = due.since(now).saturating_sub(interval.saturating_mul(tolerance)).min(early);
    if !wait.is_zero() {
        return Err(wait);
    }
    let most = now.plus(interval.saturating_mul(tolerance.saturating_add(1)));
    Ok(Pace { last: now, due: due.max(now).plus(interval).min(most) })
}

/// The paces of the tasks of one engine.
pub(super) struct Paces {
    tolerance: u32,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    by_id: BTreeMap<TaskId, Pace>,
    /// The same, those first that are to be dropped first.
    by_due: BTreeSet<(UnixMillis, TaskId)>,
}

impl Paces {
    pub fn new(tolerance: u32) -> Self {
        Self { tolerance, table: Mutex::default() }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a poll of this task through, or says how long to wait. The end of a task is never held back.
    pub fn admit(&self, task: &TaskRecord, now: UnixMillis) -> Result<(), Duration> {
        let mut table = self.table();
        table.drop_paid(now);
        let interval = task.poll_interval.filter(|_| !task.is_settled());
        let Some(interval) = interval else {
            table.remove(task.id);
            return Ok(());
        };
        let pace = decide(table.by_id.get(&task.id).copied(), now, interval, self.tolerance)?;
        table.put(task.id, pace);
        Ok(())
    }
}

impl Table {
    fn put(&mut self, id: TaskId, pace: Pace) {
        self.remove(id);
        self.by_id.insert(id, pace);
        self.by_due.insert((pace.due, id));
    }

    fn remove(&mut self, id: TaskId) {
        if let Some(pace) = self.by_id.remove(&id) {
            self.by_due.remove(&(pace.due, id));
        }
    }

    fn drop_paid(&mut self, now: UnixMillis) {
        while let Some((_, id)) = self.by_due.first().copied().filter(|(due, _)| *due <= now) {
            self.remove(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use super::*;
    use crate::{
        principal::Principal,
        task::{NewTask, Target},
    };

    const SECOND: Duration = Duration::from_secs(1);

    /// Polls at these times, and gives what became of each: the wait in milliseconds, or 0.
    fn polls(tolerance: u32, polls: &[(u64, u64)]) -> Vec<u128> {
        let mut pace = None;
        let outcome = |&(now, interval): &(u64, u64)| match decide(
            pace,
            UnixMillis::new(now),
            Duration::from_millis(interval),
            tolerance,
        ) {
            Ok(next) => {
                pace = Some(next);
                0
            }
            Err(wait) => wait.as_millis(),
        };
        polls.iter().map(outcome).collect()
    }

    /// GET-04: who waits the interval is never limited, whatever the tolerance and however the interval changes.
    #[test]
    fn a_patient_client_is_never_limited() {
        for tolerance in [0, 1, 5, u32::MAX] {
            assert_eq!(
                polls(tolerance, &[(0, 1000), (1000, 1000), (2000, 10_000), (12_000, 500), (12_500, 500)]),
                [0; 5]
            );
            // The interval became shorter behind the client's back.
            assert_eq!(polls(tolerance, &[(0, 60_000), (1000, 1000), (2000, 1000), (3000, 1000)]), [0; 4]);
        }
    }

    /// GET-04: a hasty one is, once the tolerance is used up, until it has waited as long as it was told.
    #[test]
    fn a_hasty_client_waits_once_the_tolerance_is_used_up() {
        assert_eq!(polls(0, &[(0, 1000), (400, 1000), (999, 1000), (1000, 1000)]), [0, 600, 1, 0]);
        let hasty = [(0, 1000), (0, 1000), (0, 1000), (0, 1000), (999, 1000), (1000, 1000), (1000, 1000)];
        assert_eq!(polls(2, &hasty), [0, 0, 0, 1000, 1, 0, 1000]);
        // A rest restores the tolerance, and no more than that.
        assert_eq!(polls(1, &[(0, 10), (0, 10), (0, 10), (500, 10), (500, 10), (500, 10)]), [0, 0, 10, 0, 0, 10]);
    }

    /// GET-04: nothing is kept of tasks that nobody polls.
    #[test]
    fn what_owes_nothing_is_dropped() {
        let paces = Paces::new(1);
        let target = Arc::new(Target::new("tools/call", "tool", "1"));
        let record = |n| {
            let mut new = NewTask::new(Principal::local(), Arc::clone(&target), Bytes::from_static(b"{}"));
            new.poll_interval = Some(SECOND);
            TaskRecord::new(TaskId::from_bits(n), new, UnixMillis::new(0))
        };
        for n in 0..100 {
            assert_eq!(paces.admit(&record(n), UnixMillis::new(0)), Ok(()));
        }
        assert_eq!(paces.table().by_id.len(), 100);
        assert_eq!(paces.admit(&record(100), UnixMillis::new(1000)), Ok(()));
        let table = paces.table();
        assert_eq!((table.by_id.len(), table.by_due.len()), (1, 1));
    }
}
