//! Leases: who claims a task, keeps it, and loses it.

use std::sync::Arc;

use tokio_postgres::Row as Line;

use super::{
    Core,
    pool::{Failure, Session},
    rows::{Holder, Removals, Saves, bytes_of, id_of, now_of, record_of},
};
use crate::{
    clock::UnixMillis,
    store::{Lease, Reaped, Renewed, StoreError, row},
    task::{Epoch, Event, Rev, Target, TaskRecord, Transition},
    task_id::TaskId,
};

/// How many leases one statement prolongs.
const RENEWED: usize = 10_000;
/// How many tasks one transaction looks at.
const LOOKED_AT: usize = 1_000;
/// How long a row that cannot be read is left alone.
const UNREADABLE_FOR: std::time::Duration = std::time::Duration::from_secs(60);

impl Core {
    /// Takes tasks that nobody holds. Two nodes that do so at once take different ones.
    pub async fn claim(
        &self,
        lease: Lease,
        targets: &[Arc<Target>],
        limit: usize,
    ) -> Result<Vec<Arc<TaskRecord>>, StoreError> {
        if targets.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let mut session = self.pool.session().await?;
        session.begin().await.map_err(Failure::of_read)?;
        let (claimed, saves) = self.pick(&mut session, lease, targets, limit).await?;
        if saves.is_empty() {
            session.rollback().await;
            return Ok(claimed);
        }
        // No hint: no client can see a claim.
        session.query(&self.sql.save, &saves.params()).await.map_err(Failure::of_read)?;
        session.commit().await.map_err(Failure::of_write)?;
        Ok(claimed)
    }

    async fn pick(
        &self,
        session: &mut Session,
        lease: Lease,
        targets: &[Arc<Target>],
        limit: usize,
    ) -> Result<(Vec<Arc<TaskRecord>>, Saves), StoreError> {
        // One that is named twice would give its tasks twice.
        let targets: std::collections::BTreeSet<&Target> = targets.iter().map(|target| &**target).collect();
        let column = |text: fn(&Target) -> &str| -> Vec<String> {
            targets.iter().map(|target| row::escape(text(target)).into_owned()).collect()
        };
        let (methods, names) = (column(|target| &target.method), column(|target| &target.name));
        let (versions, time) = (column(|target| &target.version), self.test_time());
        let mut look_at = limit;
        loop {
            let size = i64::try_from(look_at).unwrap_or(i64::MAX);
            let lines = session.query(&self.sql.claim, &[&time, &methods, &names, &versions, &size]).await;
            let lines = lines.map_err(Failure::of_read)?;
            let (mut oldest, mut unread) = (Vec::new(), Vec::new());
            for line in &lines {
                match record_of(line, &self.seal) {
                    Ok(record) => oldest.push((record, now_of(line)?)),
                    Err(error) => unread.push((line, error)),
                }
            }
            if oldest.len() >= limit || lines.len() < look_at {
                unread.iter().for_each(|(line, error)| unreadable(line, error));
                oldest.truncate(limit);
                return self.take(lease, &oldest);
            }
            // What cannot be read stands in nobody's way but its own: as many more are looked at.
            look_at = limit.saturating_add(unread.len());
        }
    }

    /// Gives their leases.
    fn take(
        &self,
        lease: Lease,
        waiting: &[(Arc<TaskRecord>, UnixMillis)],
    ) -> Result<(Vec<Arc<TaskRecord>>, Saves), StoreError> {
        let (mut claimed, mut saves) = (Vec::new(), Saves::default());
        for (record, now) in waiting {
            if let Transition::Changed(next) = record.after(&Event::Claim, *now) {
                saves.add(record, &next, Holder::by(lease, *now), &self.seal)?;
                claimed.push(next);
            }
        }
        Ok((claimed, saves))
    }

    /// Prolongs leases: one statement for all, as long as they are not many thousands.
    pub async fn renew(&self, lease: Lease, held: &[(TaskId, Epoch)]) -> Result<Renewed, StoreError> {
        let mut session = self.pool.session().await?;
        let mut renewed = Renewed::default();
        for held in held.chunks(RENEWED) {
            let lines = self.prolong(&mut session, lease, held).await?;
            let mut kept = std::collections::HashMap::new();
            for line in &lines {
                let epoch = Epoch(u64::try_from(line.get::<_, i64>(1)).unwrap_or_default());
                kept.insert((id_of(line.get(0))?, epoch), line.get::<_, bool>(2));
            }
            for task in held {
                match kept.get(task) {
                    None => renewed.lost.push(*task),
                    Some(true) => renewed.cancel_requested.push(*task),
                    Some(false) => {}
                }
            }
        }
        Ok(renewed)
    }

    async fn prolong(
        &self,
        session: &mut Session,
        lease: Lease,
        held: &[(TaskId, Epoch)],
    ) -> Result<Vec<Line>, StoreError> {
        // Whoever locks several rows locks them in one order.
        let mut held = held.to_vec();
        held.sort_unstable();
        let ids: Vec<_> = held.iter().map(|(id, _)| bytes_of(*id)).collect();
        let epochs: Vec<_> = held.iter().map(|(_, epoch)| i64::try_from(epoch.0).unwrap_or(i64::MAX)).collect();
        let period = i64::try_from(lease.period.as_millis()).unwrap_or(i64::MAX / 4);
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [&self.test_time(), &ids, &epochs, &period];
        loop {
            match session.query(&self.sql.renew, &params).await {
                Err(failure) if failure.is_conflict() => {}
                lines => return lines.map_err(Failure::of_write),
            }
        }
    }

    /// Deals with tasks whose time has come. Two nodes that do so at once look at different ones.
    pub async fn reap(&self, limit: usize) -> Result<Reaped, StoreError> {
        let mut reaped = Reaped::default();
        let mut left = limit;
        while left > 0 {
            let looked_at = self.look(left.min(LOOKED_AT), &mut reaped).await?;
            if looked_at < left.min(LOOKED_AT) {
                self.fold().await?;
                return Ok(reaped);
            }
            left -= looked_at;
        }
        self.fold().await?;
        Ok(Reaped { more: true, ..reaped })
    }

    /// One transaction of the reaper; says at how many tasks it looked.
    async fn look(&self, limit: usize, reaped: &mut Reaped) -> Result<usize, StoreError> {
        let mut session = self.pool.session().await?;
        session.begin().await.map_err(Failure::of_read)?;
        let size = i64::try_from(limit).unwrap_or(i64::MAX);
        let due = session.query(&self.sql.due, &[&self.test_time(), &size]).await.map_err(Failure::of_read)?;
        if due.is_empty() {
            session.rollback().await;
            return Ok(0);
        }
        let mut plan = Plan::default();
        for line in &due {
            if let Some(lease_ended) = plan.sort(line)? {
                match self.whole(&mut session, line).await {
                    Ok(record) => plan.look_at(&record, lease_ended, &self.seal)?,
                    Err(Unread::Lost(failure)) => return Err(failure.of_read()),
                    Err(Unread::Corrupt(error)) => {
                        unreadable(line, &error);
                        plan.unreadable.push(line.get("id"));
                    }
                }
            }
        }
        self.carry_out(&mut session, &plan).await.map_err(Failure::of_read)?;
        session.commit().await.map_err(Failure::of_write)?;
        plan.hints.iter().for_each(|(id, rev)| self.signals.tell(*id, *rev));
        if plan.offers {
            self.signals.offer();
        }
        reaped.expired.extend(plan.expired);
        reaped.abandoned.extend(plan.abandoned);
        reaped.removed += plan.removed;
        Ok(due.len())
    }

    /// The task of a line, with its payload.
    async fn whole(&self, session: &mut Session, line: &Line) -> Result<Arc<TaskRecord>, Unread> {
        let id: &[u8] = line.get("id");
        if !line.get::<_, bool>("apart") {
            return record_of(line, &self.seal).map_err(Unread::Corrupt);
        }
        let lines = session.query(&self.sql.get, &[&self.test_time(), &id]).await.map_err(Unread::Lost)?;
        record_of(lines.first().unwrap_or(line), &self.seal).map_err(Unread::Corrupt)
    }

    async fn carry_out(&self, session: &mut Session, plan: &Plan) -> Result<(), Failure> {
        if !plan.saves.is_empty() {
            session.query(&self.sql.save, &plan.saves.params()).await?;
        }
        if !plan.removals.is_empty() {
            session.query(&self.sql.remove, &plan.removals.params()).await?;
        }
        if !plan.replanned.is_empty() {
            session.query(&self.sql.replan, &[&plan.replanned]).await?;
        }
        if !plan.unreadable.is_empty() {
            session.query(&self.sql.put_off, &[&plan.unreadable, &row::millis(plan.now.plus(UNREADABLE_FOR))]).await?;
        }
        Ok(())
    }

    /// Takes what was settled and removed off the counts, so that the ledger stays short.
    async fn fold(&self) -> Result<(), StoreError> {
        let mut session = self.pool.session().await?;
        let spent = session.query(&self.sql.spent, &[]).await.map_err(Failure::of_read)?;
        if !spent.first().is_some_and(|line| line.get(0)) {
            return Ok(());
        }
        let folded = async {
            session.begin().await?;
            session.query(&self.sql.lock, &[]).await?;
            session.query(&self.sql.fold, &[]).await?;
            session.commit().await
        };
        // If not now, then the next time.
        if let Err(failure) = folded.await {
            let error = failure.of_read();
            tracing::debug!(error = &error as &dyn std::error::Error, "the ledger was not folded");
        }
        Ok(())
    }
}

/// Why a task was not read.
enum Unread {
    Lost(Failure),
    Corrupt(StoreError),
}

fn unreadable(line: &Line, error: &(dyn std::error::Error + 'static)) {
    let id = id_of(line.get("id")).map_or_else(|_| "?".to_owned(), |id| id.to_string());
    tracing::error!(task_id = %id, error, "a stored task cannot be read");
}

/// What one transaction of the reaper does.
#[derive(Default)]
struct Plan {
    now: UnixMillis,
    saves: Saves,
    removals: Removals,
    replanned: Vec<Vec<u8>>,
    unreadable: Vec<Vec<u8>>,
    hints: Vec<(TaskId, Rev)>,
    expired: Vec<TaskId>,
    abandoned: Vec<TaskId>,
    removed: usize,
    /// Whether there is a task that others may claim now.
    offers: bool,
}

impl Plan {
    /// Decides on a line for which its columns are enough. Of another, which time has changed, it says whether its lease has
    /// ended.
    fn sort(&mut self, line: &Line) -> Result<Option<bool>, StoreError> {
        self.now = now_of(line)?;
        let now = row::millis(self.now);
        let is_over = line.get::<_, i64>("changes_at") <= now;
        let lease_ended = line.get::<_, Option<i64>>("leased_until").is_some_and(|until| until <= now);
        if line.get("settled") && is_over {
            self.removals.add(line.get("id"), line.get("rev"), line.get("created_at"));
            self.removed += 1;
        } else if !is_over && !lease_ended {
            self.replanned.push(line.get("id"));
        } else {
            return Ok(Some(lease_ended));
        }
        Ok(None)
    }

    /// Decides what time has done to an open task.
    fn look_at(
        &mut self,
        record: &Arc<TaskRecord>,
        lease_ended: bool,
        seal: &crate::store::seal::Seal,
    ) -> Result<(), StoreError> {
        let id = record.id;
        match record.at(self.now) {
            None => {
                let rev = i64::try_from(record.rev.0).unwrap_or(i64::MAX);
                self.removals.add(bytes_of(id), rev, row::millis(record.created_at));
                self.removed += 1;
                self.hints.push((id, Rev(record.rev.0 + 1)));
            }
            Some(next) if next.is_settled() => {
                self.change(record, &next, seal)?;
                self.expired.push(id);
            }
            Some(_) if lease_ended => {
                if let Transition::Changed(next) = record.after(&Event::Abandon, self.now) {
                    self.change(record, &next, seal)?;
                    self.offers |= !next.is_settled();
                }
                self.abandoned.push(id);
            }
            Some(_) => self.replanned.push(bytes_of(id)),
        }
        Ok(())
    }

    fn change(
        &mut self,
        old: &TaskRecord,
        new: &TaskRecord,
        seal: &crate::store::seal::Seal,
    ) -> Result<(), StoreError> {
        self.saves.add(old, new, Holder::Nobody, seal)?;
        self.hints.push((new.id, new.rev));
        Ok(())
    }
}
