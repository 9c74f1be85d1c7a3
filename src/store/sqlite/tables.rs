//! What the calls of a store do, inside the transaction of the writer. What a task becomes is decided by its record.

use std::{collections::BTreeSet, error::Error, sync::Arc, time::Duration};

use rusqlite::Connection;

use super::{
    ledger::Fault,
    rows::{self, RawTask, Stored, id_bytes, id_of},
    space,
};
use crate::{
    clock::{Clock, UnixMillis},
    limits::Quota,
    principal::Principal,
    store::{
        Heard, Hint, Lease, QuotaExceeded, Reaped, Renewed, Written,
        row::{escape, from_millis, millis},
        seal::Seal,
    },
    task::{Epoch, Event, NewTask, Refusal, Rev, Target, TaskRecord, Transition},
    task_id::TaskId,
};

/// How long a row that cannot be read is left alone.
const DAMAGED: Duration = Duration::from_secs(3600);

/// The oldest open tasks of a target that nobody holds, after a place in their order.
pub(super) const UNCLAIMED: &str = "SELECT created_at, id FROM task WHERE settled = 0 AND leased_until IS NULL AND method = ?1 \
    AND name = ?2 AND version = ?3 AND (created_at, id) > (?4, ?5) ORDER BY created_at, id LIMIT ?6";

/// Prolongs a lease that is held.
pub(super) const RENEW: &str = "UPDATE task SET leased_until = ?3, look_at = min(look_at, ?3) WHERE id = ?1 AND epoch = ?2 \
    AND settled = 0 AND leased_until IS NOT NULL AND changes_at > ?4 RETURNING cancel_requested";

/// The place of a task among those that wait: when it was created, and its id.
type Place = (i64, TaskId);

/// The tables, within a transaction.
pub(super) struct Tables<'a> {
    connection: &'a Connection,
    seal: &'a Seal,
    clock: &'a dyn Clock,
    /// What whoever watches is to hear once this is committed.
    pub heard: Vec<Heard>,
    /// Whether the file has become shorter.
    pub shrunk: bool,
}

impl<'a> Tables<'a> {
    pub fn new(connection: &'a Connection, seal: &'a Seal, clock: &'a dyn Clock) -> Self {
        Self { connection, seal, clock, heard: Vec::new(), shrunk: false }
    }

    pub fn connection(&self) -> &Connection {
        self.connection
    }

    pub fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    pub fn create(
        &mut self,
        id: TaskId,
        task: NewTask,
        lease: Option<Lease>,
        quota: &Quota,
    ) -> Result<Arc<TaskRecord>, Fault> {
        if let Some(known) = self.known(id, &task)? {
            return Ok(known);
        }
        self.check(quota, &task.principal)?;
        let now = self.now();
        let record = Arc::new(TaskRecord::new(id, task, now));
        let (record, leased_until) = match lease.map(|lease| now.plus(lease.period)) {
            Some(until) => (claimed(&record, now), Some(until)),
            None => (record, None),
        };
        rows::insert(self.connection, self.seal, &record, leased_until)?;
        self.count(&record.principal, 1, 1)?;
        if leased_until.is_none() {
            self.heard.push(Heard::Claimable);
        }
        Ok(record)
    }

    /// The task of that id, or the one that was created with the same key.
    fn known(&mut self, id: TaskId, task: &NewTask) -> Result<Option<Arc<TaskRecord>>, Fault> {
        if let Some(known) = self.current(id)? {
            return Ok(Some(known.record));
        }
        let Some(key) = &task.key else { return Ok(None) };
        let keyed = rows::by_key(self.connection, task.principal.as_str(), &key.text)?;
        Ok(self.stands(keyed)?.map(|stored| stored.record))
    }

    fn check(&self, quota: &Quota, principal: &Principal) -> Result<(), Fault> {
        let count = |count: i64| usize::try_from(count).unwrap_or(0);
        let (held, live): (i64, i64) = self
            .connection
            .prepare_cached("SELECT held, live FROM total")?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let exceeded = if count(held) >= quota.held {
            QuotaExceeded::Held(quota.held)
        } else if count(live) >= quota.live {
            QuotaExceeded::Live(quota.live)
        } else if quota.live_per_principal < usize::MAX && count(self.live(principal)?) >= quota.live_per_principal {
            QuotaExceeded::LivePerPrincipal(quota.live_per_principal)
        } else {
            return Ok(());
        };
        Err(Fault::Quota(exceeded))
    }

    /// Open tasks of a principal.
    fn live(&self, principal: &Principal) -> Result<i64, Fault> {
        let mut live = self.connection.prepare_cached("SELECT sum(tasks) FROM live WHERE principal = ?1")?;
        let count: Option<i64> = live.query_row([escape(principal.as_str())], |row| row.get(0))?;
        Ok(count.unwrap_or(0))
    }

    /// Counts tasks: so many more are held, and so many more of them are open.
    fn count(&self, principal: &Principal, held: i64, live: i64) -> Result<(), Fault> {
        self.connection.prepare_cached("UPDATE total SET held = held + ?1, live = live + ?2")?.execute((held, live))?;
        if live == 0 {
            return Ok(());
        }
        let principal = escape(principal.as_str());
        self.connection
            .prepare_cached(
                "INSERT INTO live VALUES (?1, ?2) ON CONFLICT (principal) DO UPDATE SET tasks = tasks + ?2",
            )?
            .execute((&principal, live))?;
        if live < 0 {
            self.connection
                .prepare_cached("DELETE FROM live WHERE principal = ?1 AND tasks <= 0")?
                .execute([&principal])?;
        }
        Ok(())
    }

    /// The task as it stands now. What time has done to it is written down, so that it stays done (GET-05).
    pub fn current(&mut self, id: TaskId) -> Result<Option<Stored>, Fault> {
        let raw = rows::by_id(self.connection, id)?;
        self.stands(raw)
    }

    fn stands(&mut self, raw: Option<RawTask>) -> Result<Option<Stored>, Fault> {
        match raw {
            Some(raw) => self.by_now(raw.decode(self.seal)?),
            None => Ok(None),
        }
    }

    /// The task as time has left it.
    fn by_now(&mut self, stored: Stored) -> Result<Option<Stored>, Fault> {
        match stored.record.at(self.now()) {
            Some(record) if Arc::ptr_eq(&record, &stored.record) => Ok(Some(stored)),
            Some(record) => self.replace(&stored, record, None).map(Some),
            None => self.remove(&stored).map(|()| None),
        }
    }

    /// Lets `event` happen to the task.
    pub fn happen(&mut self, id: TaskId, event: &Event<'_>) -> Result<Written, Fault> {
        let Some(stored) = self.current(id)? else { return Ok(Written::Refused(Refusal::Gone)) };
        match stored.record.after(event, self.now()) {
            Transition::Unchanged => Ok(Written::Stands(stored.record)),
            Transition::Refused(refusal) => Ok(Written::Refused(refusal)),
            Transition::Changed(next) => {
                let lost = next.is_settled() || next.epoch != stored.record.epoch;
                let lease = if lost { None } else { stored.leased_until.and_then(from_millis) };
                let written = self.replace(&stored, next, lease)?.record;
                if written.epoch != stored.record.epoch {
                    self.heard.push(Heard::Claimable);
                }
                Ok(Written::Stands(written))
            }
        }
    }

    pub fn claim(
        &mut self,
        lease: Lease,
        targets: &[Arc<Target>],
        limit: usize,
    ) -> Result<Vec<Arc<TaskRecord>>, Fault> {
        let (mut taken, mut after) = (Vec::new(), (i64::MIN, TaskId::from_bits(0)));
        while taken.len() < limit {
            let waiting = self.oldest(targets, after, limit - taken.len())?;
            let Some(last) = waiting.last() else { break };
            after = *last;
            for (_, id) in waiting {
                // One that has expired is taken off the list by that.
                if let Some(stored) = self.waiting(id)?.filter(|stored| !stored.record.is_settled()) {
                    taken.push(self.lease(&stored, lease)?);
                }
            }
        }
        Ok(taken)
    }

    /// A task that waits, as it stands now. One that cannot be read stands in nobody's way but its own.
    fn waiting(&mut self, id: TaskId) -> Result<Option<Stored>, Fault> {
        let Some(raw) = rows::by_id(self.connection, id)? else { return Ok(None) };
        match raw.decode(self.seal) {
            Ok(stored) => self.by_now(stored),
            Err(error) => {
                tracing::error!(task_id = %id, error = &error as &dyn Error, "a task cannot be read, and is passed over");
                Ok(None)
            }
        }
    }

    /// The oldest open tasks of these targets that nobody holds, after a place.
    fn oldest(&self, targets: &[Arc<Target>], after: Place, limit: usize) -> Result<Vec<Place>, Fault> {
        let mut waiting = BTreeSet::new();
        for target in targets {
            self.unclaimed(target, after, limit, &mut waiting)?;
        }
        Ok(waiting.into_iter().take(limit).collect())
    }

    /// Adds the oldest of one target.
    fn unclaimed(
        &self,
        target: &Target,
        (created_at, id): Place,
        limit: usize,
        waiting: &mut BTreeSet<Place>,
    ) -> Result<(), Fault> {
        let mut unclaimed = self.connection.prepare_cached(UNCLAIMED)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (method, name, version) = (escape(&target.method), escape(&target.name), escape(&target.version));
        let params = (method, name, version, created_at, id_bytes(id), limit);
        for found in unclaimed.query_map(params, |row| Ok((row.get(0)?, id_of(row.get(1)?))))? {
            waiting.insert(found?);
        }
        Ok(())
    }

    /// Gives the lease of an open task that nobody holds. No hint: no client can see a claim.
    fn lease(&self, stored: &Stored, lease: Lease) -> Result<Arc<TaskRecord>, Fault> {
        let now = self.now();
        let next = claimed(&stored.record, now);
        rows::update(self.connection, self.seal, stored, &next, Some(now.plus(lease.period)))?;
        Ok(next)
    }

    pub fn renew(&mut self, lease: Lease, held: &[(TaskId, Epoch)]) -> Result<Renewed, Fault> {
        let now = self.now();
        let mut renew = self.connection.prepare_cached(RENEW)?;
        let mut renewed = Renewed::default();
        for (id, epoch) in held {
            let epoch_column = i64::try_from(epoch.0).unwrap_or(i64::MAX);
            let params = (id_bytes(*id), epoch_column, millis(now.plus(lease.period)), millis(now));
            let cancel_requested = renew.query_map(params, |row| row.get(0))?.collect::<Result<Vec<bool>, _>>()?;
            match cancel_requested.first() {
                None => renewed.lost.push((*id, *epoch)),
                Some(true) => renewed.cancel_requested.push((*id, *epoch)),
                Some(false) => {}
            }
        }
        Ok(renewed)
    }

    pub fn reap(&mut self, limit: usize) -> Result<Reaped, Fault> {
        let due = self.due(limit)?;
        let mut reaped = Reaped { more: due.len() == limit, ..Reaped::default() };
        for id in due {
            self.look(id, &mut reaped)?;
        }
        self.shrink()?;
        Ok(reaped)
    }

    /// Gives space back, if there is much.
    pub fn shrink(&mut self) -> Result<(), Fault> {
        self.shrunk |= space::shrink(self.connection)?;
        Ok(())
    }

    /// Tasks that time may have done something to, the longest due first.
    fn due(&self, limit: usize) -> Result<Vec<TaskId>, Fault> {
        let mut due =
            self.connection.prepare_cached("SELECT id FROM task WHERE look_at <= ?1 ORDER BY look_at LIMIT ?2")?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(due.query_map((millis(self.now()), limit), |row| row.get(0).map(id_of))?.collect::<Result<_, _>>()?)
    }

    /// Looks what time has done to a task.
    fn look(&mut self, id: TaskId, reaped: &mut Reaped) -> Result<(), Fault> {
        let Some(raw) = rows::by_id(self.connection, id)? else { return Ok(()) };
        let stored = match raw.decode(self.seal) {
            Ok(stored) => stored,
            Err(error) => {
                tracing::error!(task_id = %id, error = &error as &dyn Error, "a task cannot be read, and is left alone");
                return self.look_again(id, millis(self.now().plus(DAMAGED)));
            }
        };
        let was_open = !stored.record.is_settled();
        let lease_ended = stored.leased_until.is_some_and(|until| until <= millis(self.now()));
        match self.current(id)? {
            None => reaped.removed += 1,
            Some(now) if now.record.is_settled() => reaped.expired.extend(was_open.then_some(id)),
            Some(_) if lease_ended => {
                self.happen(id, &Event::Abandon)?;
                reaped.abandoned.push(id);
            }
            // Its lease was renewed since the look was planned.
            Some(now) => {
                let changes_at = millis(now.record.changes_at());
                let next = now.leased_until.map_or(changes_at, |until| until.min(changes_at));
                if next != now.look_at {
                    self.look_again(id, next)?;
                }
            }
        }
        Ok(())
    }

    fn look_again(&self, id: TaskId, at: i64) -> Result<(), Fault> {
        let mut plan = self.connection.prepare_cached("UPDATE task SET look_at = ?2 WHERE id = ?1")?;
        plan.execute((id_bytes(id), at))?;
        Ok(())
    }

    /// Writes the newer record in the place of the older one, and tells whoever watches.
    fn replace(
        &mut self,
        stored: &Stored,
        next: Arc<TaskRecord>,
        leased_until: Option<UnixMillis>,
    ) -> Result<Stored, Fault> {
        rows::update(self.connection, self.seal, stored, &next, leased_until)?;
        if next.is_settled() && !stored.record.is_settled() {
            self.count(&next.principal, 0, -1)?;
        }
        self.hint(next.id, next.rev);
        Ok(Stored { seq: stored.seq, record: next, leased_until: leased_until.map(millis), look_at: stored.look_at })
    }

    pub fn remove(&mut self, stored: &Stored) -> Result<(), Fault> {
        let record = &stored.record;
        rows::delete(self.connection, stored.seq)?;
        let open = !record.is_settled();
        self.count(&record.principal, -1, if open { -1 } else { 0 })?;
        if open {
            self.hint(record.id, Rev(record.rev.0 + 1));
        }
        Ok(())
    }

    fn hint(&mut self, id: TaskId, rev: Rev) {
        self.heard.push(Heard::Hint(Hint { id, rev }));
    }
}

/// An open task with its lease given away.
fn claimed(record: &Arc<TaskRecord>, now: UnixMillis) -> Arc<TaskRecord> {
    match record.after(&Event::Claim, now) {
        Transition::Changed(claimed) => claimed,
        _ => Arc::clone(record),
    }
}
