//! A change of one task: read, decide, and write if the row still is what was read; else again.

use std::sync::Arc;

use super::{
    Core,
    pool::{Failure, Session},
    rows::{Holder, Removals, Saves, bytes_of, now_of, record_of},
};
use crate::{
    clock::UnixMillis,
    store::{StoreError, Written},
    task::{Event, Refusal, Rev, TaskRecord, Transition},
    task_id::TaskId,
};

/// A task as it stood when it was read.
struct Stood {
    record: Arc<TaskRecord>,
    now: UnixMillis,
}

impl Core {
    /// The task as it stands now. What time has done to it is written down, so that it stays done (GET-05).
    pub async fn current(&self, id: TaskId) -> Result<Option<Arc<TaskRecord>>, StoreError> {
        let mut session = self.pool.session().await?;
        let stood = self.standing(&mut session, id).await?;
        Ok(stood.map(|stood| stood.record))
    }

    /// Lets `event` happen to the task.
    pub async fn happen(&self, id: TaskId, event: Event<'_>) -> Result<Written, StoreError> {
        let mut session = self.pool.session().await?;
        for _ in 0..self.tries() {
            let Some(Stood { record, now }) = self.standing(&mut session, id).await? else {
                return Ok(Written::Refused(Refusal::Gone));
            };
            let next = match record.after(&event, now) {
                Transition::Unchanged => return Ok(Written::Stands(record)),
                Transition::Refused(refusal) => return Ok(Written::Refused(refusal)),
                Transition::Changed(next) => next,
            };
            let released = next.is_settled() || next.epoch != record.epoch;
            let holder = if released { Holder::Nobody } else { Holder::Same };
            if self.save(&mut session, &record, &next, holder).await? {
                if released && !next.is_settled() {
                    self.signals.offer();
                }
                return Ok(Written::Stands(next));
            }
        }
        Err(busy())
    }

    /// Reads the task, and deals with what time has done to it.
    async fn standing(&self, session: &mut Session, id: TaskId) -> Result<Option<Stood>, StoreError> {
        for _ in 0..self.tries() {
            let Some(Stood { record, now }) = self.read(session, id).await? else { return Ok(None) };
            if now < record.changes_at() {
                return Ok(Some(Stood { record, now }));
            }
            match record.at(now) {
                Some(next) if self.save(session, &record, &next, Holder::Nobody).await? => {
                    return Ok(Some(Stood { record: next, now }));
                }
                None if self.remove(session, &record).await? => return Ok(None),
                // Somebody else was faster.
                _ => {}
            }
        }
        Err(busy())
    }

    /// Reads the task. A connection that was lost since its last use is not the task's fault: there are others.
    async fn read(&self, session: &mut Session, id: TaskId) -> Result<Option<Stood>, StoreError> {
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 2] = [&self.test_time(), &bytes_of(id)];
        let lines = match session.query(&self.sql.get, &params).await {
            Err(Failure::Unanswered(_) | Failure::Unsent(_)) if tokio::time::Instant::now() < session.deadline() => {
                *session = self.pool.session_until(session.deadline()).await?;
                session.query(&self.sql.get, &params).await
            }
            asked => asked,
        };
        let lines = lines.map_err(Failure::of_read)?;
        let Some(line) = lines.first() else { return Ok(None) };
        Ok(Some(Stood { record: record_of(line, &self.seal)?, now: now_of(line)? }))
    }

    /// Writes `new` in the place of `old`; false if that is not what there is.
    async fn save(
        &self,
        session: &mut Session,
        old: &TaskRecord,
        new: &TaskRecord,
        holder: Holder,
    ) -> Result<bool, StoreError> {
        let mut saves = Saves::default();
        saves.add(old, new, holder, &self.seal)?;
        let saved = match session.query(&self.sql.save, &saves.params()).await {
            Err(failure) if failure.is_conflict() => false,
            saved => !saved.map_err(Failure::of_write)?.is_empty(),
        };
        if saved {
            self.signals.tell(new.id, new.rev);
        }
        Ok(saved)
    }

    /// Removes a task whose time is over; false if it is not what there is.
    async fn remove(&self, session: &mut Session, record: &TaskRecord) -> Result<bool, StoreError> {
        let removed = match session.query(&self.sql.remove, &Removals::of(record).params()).await {
            Err(failure) if failure.is_conflict() => false,
            removed => !removed.map_err(Failure::of_write)?.is_empty(),
        };
        if removed && !record.is_settled() {
            self.signals.tell(record.id, Rev(record.rev.0 + 1));
        }
        Ok(removed)
    }
}

fn busy() -> StoreError {
    StoreError::Unavailable { cause: "others change the task all the time".into() }
}
