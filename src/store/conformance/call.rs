//! Calls of a store, and what they were told, as values.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use crate::{
    clock::UnixMillis,
    error::{QuotaExceeded, StoreError},
    input::InputKey,
    limits::Quota,
    store::{Lease, Reaped, Renewed, TaskStore, Written},
    task::{Epoch, Mutation, NewTask, Rev, Target, TaskRecord},
    task_id::TaskId,
};

/// One call of a store. Points in time are the model's.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Create { id: TaskId, task: Box<NewTask>, lease: Option<Lease>, quota: Quota },
    Get(TaskId),
    Respond(TaskId, Vec<(InputKey, Bytes)>),
    RequestCancel(TaskId),
    Claim { lease: Lease, targets: Vec<Arc<Target>>, limit: usize },
    Renew { lease: Lease, held: Vec<(TaskId, Epoch)> },
    Commit { id: TaskId, epoch: Epoch, mutation: Mutation },
    Input(TaskId, InputKey),
    Reap(usize),
    Revs(Vec<TaskId>),
}

/// What a call was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    Record(Option<Arc<TaskRecord>>),
    TooMany(QuotaExceeded),
    Written(Written),
    Claimed(Vec<Arc<TaskRecord>>),
    Renewed(Renewed),
    Answer(Option<Bytes>),
    Reaped(Reaped),
    Revs(Vec<(TaskId, Rev)>),
}

impl Call {
    /// The same call for a store whose time was `offset` when the model's was zero.
    pub fn shifted(mut self, offset: UnixMillis) -> Self {
        if let Self::Commit { mutation: Mutation::KeepUntil(until), .. } = &mut self {
            *until = until.plus(Duration::from_millis(offset.get()));
        }
        self
    }

    /// Makes the call. One that fails is made again a few times: what it did is not done twice.
    pub async fn make(&self, store: &dyn TaskStore) -> Result<Reply, String> {
        for _ in 0..10 {
            match self.attempt(store).await {
                Ok(reply) => return Ok(reply),
                Err(StoreError::QuotaExceeded(which)) => return Ok(Reply::TooMany(which)),
                Err(StoreError::Ambiguous { .. }) => {}
                Err(error) => return Err(format!("{self:?} failed: {error:?}")),
            }
        }
        Err(format!("{self:?} stays ambiguous however often it is made"))
    }

    async fn attempt(&self, store: &dyn TaskStore) -> Result<Reply, StoreError> {
        Ok(match self {
            Self::Create { id, task, lease, quota } => {
                Reply::Record(Some(store.create(*id, NewTask::clone(task), *lease, quota).await?))
            }
            Self::Get(id) => Reply::Record(store.get(*id).await?),
            Self::Respond(id, responses) => Reply::Written(store.respond(*id, responses).await?),
            Self::RequestCancel(id) => Reply::Written(store.request_cancel(*id).await?),
            Self::Claim { lease, targets, limit } => Reply::Claimed(store.claim(*lease, targets, *limit).await?),
            Self::Renew { lease, held } => Reply::Renewed(store.renew(*lease, held).await?),
            Self::Commit { id, epoch, mutation } => Reply::Written(store.commit(*id, *epoch, mutation).await?),
            Self::Input(id, key) => Reply::Answer(store.input(*id, key).await?),
            Self::Reap(limit) => Reply::Reaped(store.reap(*limit).await?),
            Self::Revs(ids) => Reply::Revs(store.revs(ids).await?),
        })
    }
}
