//! What an operator's commands do: functions from a store to a value. No terminal here.

use std::sync::Arc;

use mcp_tasks::{
    limits::Quota,
    store::{
        AdminStore, StoreError, Written,
        admin::{Filter, Position},
    },
    task::{OnRestart, Settlement, TaskRecord, TaskState},
    task_id::TaskId,
};

use super::view::{Cancelled, Detail, How, Numbers, Page, Purged, Retried, Summary, position};
use crate::exit::{Exit, Problem};

/// How many tasks one call to the store deals with.
const BATCH: usize = 1_000;

/// A page of tasks, newest first.
pub async fn list(
    store: &dyn AdminStore,
    filter: &Filter,
    after: Option<Position>,
    limit: usize,
) -> Result<Page, Problem> {
    // One more than is shown tells whether there are more.
    let mut records = store.list(filter, after, limit.saturating_add(1)).await.map_err(refused)?;
    let more = records.len() > limit;
    records.truncate(limit);
    let next = records.last().filter(|_| more).map(|last| position(place(last)));
    Ok(Page { tasks: records.iter().map(|record| Summary::of(record)).collect(), next })
}

/// All that is known of a task.
pub async fn show(store: &dyn AdminStore, id: TaskId) -> Result<Detail, Problem> {
    Ok(Detail::of(&*find(store, id).await?))
}

/// Calls a task off.
pub async fn cancel(store: &dyn AdminStore, id: TaskId) -> Result<Cancelled, Problem> {
    let had_ended = find(store, id).await?.is_settled();
    let record = stands(id, store.request_cancel(id).await.map_err(refused)?)?;
    Ok(Cancelled {
        task_id: id.to_string(),
        status: record.status().as_str(),
        cancel_requested: record.cancel_requested,
        had_ended,
    })
}

/// Runs a task again, if that is safe.
pub async fn retry(store: &dyn AdminStore, id: TaskId) -> Result<Retried, Problem> {
    let record = find(store, id).await?;
    match &record.state {
        TaskState::Open => {
            may_run_again(&record)?;
            let record = stands(id, store.abandon(id).await.map_err(refused)?)?;
            if record.is_settled() {
                return Err(Problem::new(format!("the task ended meanwhile: it is {}", record.status().as_str())));
            }
            Ok(Retried { task_id: id.to_string(), how: How::TakenFromItsWorker, runs_as: id.to_string() })
        }
        TaskState::Settled(Settlement::Failed(_)) => anew(store, &record).await,
        TaskState::Settled(_) => Err(Problem::new(format!(
            "the task is {}, and that is final; only a failed task is run again, as a new one",
            record.status().as_str()
        ))),
    }
}

/// Whether an open task survives that its worker loses it.
fn may_run_again(record: &TaskRecord) -> Result<(), Problem> {
    if record.cancel_requested {
        return Err(Problem::new("its cancellation was requested, so that it would end and not run again"));
    }
    match record.on_restart {
        OnRestart::Fail => Err(Problem::new(format!(
            "the tool `{}` may run only once for a task (on_restart = \"fail\"), and was started",
            record.target.name
        ))
        .hint("cancel the task, or wait: it fails when the lease of its worker runs out")),
        OnRestart::Rerun { max_attempts } if record.attempt >= max_attempts => Err(Problem::new(format!(
            "the task was started {} times, and its tool allows no more than {max_attempts}",
            record.attempt
        ))),
        OnRestart::Rerun { .. } => Ok(()),
    }
}

/// A new task that does what a failed one did: that one is final (TSK-08).
async fn anew(store: &dyn AdminStore, record: &TaskRecord) -> Result<Retried, Problem> {
    let task = record.retried().ok_or_else(|| {
        Problem::new(format!(
            "the task has failed, and that is final; it cannot be run as a new task, for its tool `{}` may run only once \
             (on_restart = \"fail\"), so that its arguments were not kept",
            record.target.name
        ))
    })?;
    let id = TaskId::random().map_err(|error| Problem::new("no new task can be made").because(error))?;
    // Quotas are for clients; whoever runs the server may do this.
    let new = store.create(id, task, None, &Quota::UNLIMITED).await.map_err(refused)?;
    Ok(Retried { task_id: record.id.to_string(), how: How::NewTask, runs_as: new.id.to_string() })
}

/// Removes settled tasks.
pub async fn purge(store: &dyn AdminStore, filter: &Filter) -> Result<Purged, Problem> {
    if filter.status.is_some_and(|status| !status.is_terminal()) {
        return Err(Problem::usage("only settled tasks are removed; an open one has to be cancelled first"));
    }
    let mut removed = 0;
    loop {
        let batch = store.purge(filter, BATCH).await.map_err(refused)?;
        removed += batch;
        if batch < BATCH {
            return Ok(Purged { removed });
        }
    }
}

/// How many tasks [`purge`] would remove.
pub async fn count_settled(store: &dyn AdminStore, filter: &Filter) -> Result<usize, Problem> {
    let (mut count, mut after) = (0, None);
    loop {
        let records = store.list(filter, after, BATCH).await.map_err(refused)?;
        count += records.iter().filter(|record| record.is_settled()).count();
        match records.last() {
            Some(last) if records.len() == BATCH => after = Some(place(last)),
            _ => return Ok(count),
        }
    }
}

/// How the store stands.
pub async fn stats(store: &dyn AdminStore) -> Result<Numbers, Problem> {
    Ok(Numbers::of(&store.stats().await.map_err(refused)?))
}

fn place(record: &TaskRecord) -> Position {
    Position { created_at: record.created_at, id: record.id }
}

async fn find(store: &dyn AdminStore, id: TaskId) -> Result<Arc<TaskRecord>, Problem> {
    store.get(id).await.map_err(refused)?.ok_or_else(|| unknown(id))
}

fn stands(id: TaskId, written: Written) -> Result<Arc<TaskRecord>, Problem> {
    match written {
        Written::Stands(record) => Ok(record),
        Written::Refused(refusal) => Err(unknown(id).because(refusal)),
    }
}

fn unknown(id: TaskId) -> Problem {
    Problem::new(format!("the store has no task {id}: it expired, was removed, or never was")).exit(Exit::Expired)
}

fn refused(error: StoreError) -> Problem {
    let ambiguous = matches!(error, StoreError::Ambiguous { .. });
    let problem = Problem::new("the store did not do it").because(error);
    if ambiguous {
        return problem.hint("run the command again: what it already did, it does not do twice");
    }
    // What is wrong inside a store has no type out here, for clients are not to learn of it.
    if problem.to_string().contains("is encrypted with the key") {
        return problem.hint("name the keys of the store: --key-file FILE");
    }
    problem
}
