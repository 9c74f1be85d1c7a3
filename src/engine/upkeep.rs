//! What an engine does on its own: hears of changes, renews its leases, sweeps, and takes up lost tasks.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use tokio::task::{AbortHandle, JoinSet, yield_now};

use crate::{
    engine::{
        Core,
        drive::{Gates, start},
        metrics,
        recovery::Able,
        run::Run,
    },
    error::StoreError,
    store::{Heard, Hint, Hints, Written},
    task::{Epoch, Mutation, Rev, Target, TaskRecord, TaskStatus},
    task_id::TaskId,
};

/// Leases that are renewed, and tasks that are swept or claimed, in one call of the store. A store may be busy for as long
/// as that takes, and it may be ready at once each time: others get their turn after each batch.
const BATCH: usize = 250;
/// Leases that are given up at the same time: a store writes many at once for little more than one.
const RELEASES: usize = 64;

/// The loops of an engine; dropping this ends them.
pub(crate) struct Upkeep(Vec<AbortHandle>);

impl Upkeep {
    pub fn start(core: &Arc<Core>) -> Self {
        let hints = core.host.store.watch();
        Self(vec![spawn(hear(Arc::clone(core), hints)), spawn(renew(Arc::clone(core))), spawn(sweep(Arc::clone(core)))])
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(task).abort_handle()
}

/// Passes hints on to whom they concern.
async fn hear(core: Arc<Core>, mut hints: Hints) {
    while let Some(heard) = hints.next().await {
        match heard {
            Heard::Hint(hint) => core.changed(hint).await,
            Heard::Claimable => core.recoverers.call(),
            Heard::Missed => {
                core.watchers.mark_all();
                // A task may have been let go as well.
                core.recoverers.call();
                core.refresh_all().await;
            }
        }
    }
}

/// Renews all leases three times in their period. If that fails for a whole period they are lost, and the tools stop.
async fn renew(core: Arc<Core>) {
    let clock = &core.host.clock;
    let mut renewed_at = clock.now();
    loop {
        clock.sleep_until(clock.now().plus(core.lease.period / 3)).await;
        match core.renew_all().await {
            Ok(()) => renewed_at = clock.now(),
            Err(error) if clock.now() >= renewed_at.plus(core.lease.period) => {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "leases were lost, for they could not be renewed"
                );
                core.runs.all().iter().filter(|run| run.is_task()).for_each(|run| run.lose());
            }
            Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "leases were not renewed"),
        }
    }
}

/// Sweeps and takes up lost tasks, again and again: in its period, and at once when a handler has been added or a task was
/// let go.
async fn sweep(core: Arc<Core>) {
    let clock = &core.host.clock;
    loop {
        tokio::select! {
            () = clock.sleep_until(clock.now().plus(core.sweep_every)) => {}
            () = core.recoverers.called() => {}
        }
        if let Err(error) = core.sweep_once().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "tasks were not swept");
        }
    }
}

impl Core {
    /// A task has changed, here or on another node.
    async fn changed(&self, hint: Hint) {
        self.watchers.mark(hint.id);
        if let Some(run) = self.runs.get(hint.id)
            && !run.knows(hint.rev.0)
        {
            self.refresh(&run).await;
        }
    }

    /// Lets a run know how its task stands.
    async fn refresh(&self, run: &Run) {
        match self.host.store.get(run.id).await {
            Ok(Some(record)) => run.observe(&record),
            Ok(None) if run.is_task() => run.revoke(),
            // A task that is being created; or the store fails, and the next renewal brings it.
            Ok(None) | Err(_) => {}
        }
    }

    /// Lets each run know how its task stands, if that is news to it: any may have changed.
    async fn refresh_all(&self) {
        for runs in self.runs.all().chunks(BATCH) {
            let ids: Vec<TaskId> = runs.iter().filter(|run| run.is_task()).map(|run| run.id).collect();
            let revs: HashMap<TaskId, Rev> = match self.host.store.revs(&ids).await {
                Ok(revs) => revs.into_iter().collect(),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "it was not read how running tasks stand");
                    return;
                }
            };
            let is_news = |run: &&Arc<Run>| run.is_task() && revs.get(&run.id).is_none_or(|rev| !run.knows(rev.0));
            for run in runs.iter().filter(is_news) {
                self.refresh(run).await;
            }
            yield_now().await;
        }
    }

    async fn renew_all(&self) -> Result<(), StoreError> {
        for held in self.runs.held().chunks(BATCH) {
            let renewed = self.host.store.renew(self.lease, held).await?;
            self.holders(&renewed.lost).for_each(|run| run.lose());
            self.holders(&renewed.cancel_requested).for_each(|run| run.cancel());
            yield_now().await;
        }
        Ok(())
    }

    /// The runs that hold these leases still.
    fn holders(&self, leases: &[(TaskId, Epoch)]) -> impl Iterator<Item = Arc<Run>> {
        leases.iter().filter_map(|(id, epoch)| self.runs.get(*id).filter(|run| run.epoch() == Some(*epoch)))
    }

    async fn sweep_once(self: &Arc<Self>) -> Result<(), StoreError> {
        loop {
            let reaped = self.host.store.reap(BATCH).await?;
            metrics::settled(TaskStatus::Failed, reaped.expired.len());
            metrics::abandoned(reaped.abandoned.len());
            self.count_ends(&reaped.abandoned).await;
            for id in reaped.expired.iter().chain(&reaped.abandoned) {
                self.watchers.mark(*id);
                if let Some(run) = self.runs.get(*id) {
                    self.refresh(&run).await;
                }
            }
            if !reaped.more {
                break;
            }
            yield_now().await;
        }
        self.recover_lost().await
    }

    /// Counts those that have ended with their lease.
    async fn count_ends(&self, abandoned: &[TaskId]) {
        if metrics::are_recorded() {
            for id in abandoned {
                if let Ok(Some(record)) = self.host.store.get(*id).await {
                    metrics::settled(record.status(), 1);
                }
            }
        }
    }

    async fn recover_lost(self: &Arc<Self>) -> Result<(), StoreError> {
        // Once for all batches, for it may take as long as a handler that is never ready is waited for.
        let able = self.recoverers.able(&*self.host.clock).await;
        let targets = targets(&able);
        loop {
            // What could not run at once is left to workers where it can.
            let room = self.gate.room().min(BATCH);
            if targets.is_empty() || room == 0 || self.runs.is_closed() {
                return Ok(());
            }
            let claimed = self.host.store.claim(self.lease, &targets, room).await?;
            for record in &claimed {
                if let Some(able) = able.iter().find(|able| able.targets.contains(&record.target)) {
                    self.run_again(able, record).await;
                }
            }
            if claimed.len() < room {
                return Ok(());
            }
            yield_now().await;
        }
    }

    /// Starts a claimed task; one that cannot be started is left to its lease.
    async fn run_again(&self, able: &Able, record: &Arc<TaskRecord>) {
        let Some((work, gate)) = able.recover(record) else { return };
        let Some(listed) = self.runs.enter(Run::again(&self.host, record)) else {
            return self.release(record.id, record.epoch).await;
        };
        listed.run.became_task(record);
        // Its cancellation may have been requested while nobody ran it.
        listed.run.observe(record);
        metrics::recovered();
        tracing::info!(task_id = %record.id, attempt = record.attempt, "task runs again");
        start(listed, Gates { tool: gate, engine: self.gate.clone() }, work, None);
    }

    pub(super) async fn release(&self, id: TaskId, epoch: Epoch) {
        match self.host.store.commit(id, epoch, &Mutation::Release).await {
            Ok(Written::Stands(record)) => metrics::settled(record.status(), 1),
            Ok(Written::Refused(_)) => {}
            Err(error) => {
                tracing::warn!(task_id = %id, error = &error as &dyn std::error::Error, "a lease was not given up");
            }
        }
    }

    /// Ends what still runs after the patience of a shutdown: drops the tools, and gives up their leases then.
    pub(super) async fn release_all(self: &Arc<Self>) {
        let runs = self.runs.all();
        runs.iter().for_each(|run| run.revoke());
        let mut releasing = JoinSet::new();
        for (id, epoch) in runs.iter().filter_map(|run| Some((run.id, run.epoch()?))) {
            if releasing.len() == RELEASES {
                releasing.join_next().await;
            }
            let core = Arc::clone(self);
            releasing.spawn(async move { core.release(id, epoch).await });
        }
        releasing.join_all().await;
    }
}

/// What any of them can run, each target once.
fn targets(able: &[Able]) -> Vec<Arc<Target>> {
    let targets: BTreeSet<_> = able.iter().flat_map(|able| &able.targets).collect();
    targets.into_iter().cloned().collect()
}
