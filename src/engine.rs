//! The engine: creates tasks, runs their tools, settles them.
//!
//! [`TaskEngine`] is what the protocol layer sees; [`Engine`] is the one of this crate, on any [`TaskStore`]. It knows no
//! method names (CAP-06), no wire types and no error codes.
//!
//! Guarantees of [`Engine`]:
//! - a task that [`create`](TaskEngine::create) returns is stored, and its tool starts only after that (NEW-01, NEW-03);
//! - a tool runs once, and its task settles once: by the tool's end, its panic, a cancellation, its time to live, or a
//!   shutdown (TSK-08, ERR-03);
//! - a principal sees its own tasks; those of others look like tasks that do not exist (SEC-02);
//! - a tool that blocks its thread holds up no call about any task, as long as the runtime has a thread left (case 4).

mod create;
mod drive;
mod measured;
pub mod metrics;
mod pace;
mod promote;
mod recovery;
mod run;
mod runs;
mod upkeep;
mod watch;

use std::{
    any::TypeId,
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tracing::Instrument;

pub(crate) use self::run::{Host, Run};
use self::{
    drive::Gates,
    measured::Measured,
    pace::Paces,
    recovery::Recoverers,
    runs::Runs,
    upkeep::Upkeep,
    watch::{Watch, Watchers},
};
pub use self::{
    drive::{Gate, Work},
    recovery::Recover,
    run::InlineInput,
};
use crate::{
    clock::{BoxFuture, Clock},
    error::{EngineError, LimitExceeded},
    input::InputKey,
    limits::Limits,
    principal::Principal,
    store::{Lease, TaskStore, WorkerId, Written},
    task::{NewTask, Settlement, TaskRecord},
    task_id::TaskId,
};

/// How long a shutdown waits for stopped tools to be dropped.
const LETTING_GO: Duration = Duration::from_secs(1);

/// A future of an engine call.
pub type EngineFuture<'a, T> = BoxFuture<'a, Result<T, EngineError>>;

/// A call of a tool that becomes, or may become, a task.
pub struct Call {
    /// What the task is created with.
    pub task: NewTask,
    /// What runs.
    pub work: Work,
    /// How many calls of this tool may run at a time; those beyond it wait, `working`.
    pub gate: Option<Gate>,
}

impl Call {
    /// A call with no gate.
    pub fn new(task: NewTask, work: Work) -> Self {
        Self { task, work, gate: None }
    }
}

/// When a call that runs inline becomes a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promotion {
    /// Never: its client did not declare tasks (CAP-02).
    Never,
    /// As soon as its tool asks the client something.
    WhenAsking,
    /// After so long, or as soon as its tool asks the client something.
    After(Duration),
}

/// What became of a call that ran inline.
#[derive(Debug)]
pub enum Ran {
    /// Its tool ended inside the request; the client hears of no task.
    Finished(Settlement),
    /// It is a task now, and its tool goes on.
    Promoted(Arc<TaskRecord>),
}

/// States of the tasks that somebody follows.
pub trait TaskWatch: Send {
    /// The ids that are followed: those of tasks that the principal may see (NOT-01).
    fn accepted(&self) -> &[TaskId];

    /// The next state that was not given yet; `None` once every task has settled or is gone, or the engine has shut down.
    ///
    /// Each task gives the state it has now, then newer ones; states may be left out, the last one never is (NOT-05).
    /// Dropping the future loses no state.
    fn next(&mut self) -> BoxFuture<'_, Option<Arc<TaskRecord>>>;

    /// Resolves once the engine has shut down, so that nothing comes any more (NOT-06). By default it never does.
    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

/// What the protocol layer asks of an engine. Every call about a task names the principal that makes it.
pub trait TaskEngine: Send + Sync + 'static {
    /// Creates a task and starts its tool. When this resolves, every node can read the task (NEW-01). If there already is a
    /// task of this principal with the same [key](NewTask::key), that is returned as it stands, and nothing is started.
    ///
    /// Dropping the future leaves no task running: what was stored or is being stored by then is cancelled, as soon as the
    /// store can be reached. A call with a key is carried out all the same.
    ///
    /// # Errors
    /// Nothing is started if a limit or quota is exceeded, the server shuts down, or the store fails (NEW-03); nor if the key
    /// is that of another call ([`EngineError::KeyTaken`]). A call with a key that fails because of the store may be made
    /// again to find out: if its task was stored after all, that is found, and ends or runs as one whose worker died.
    fn create(&self, call: Call) -> EngineFuture<'_, Arc<TaskRecord>>;

    /// Runs a tool inside the request, and makes it a task when `promotion` says so. It is started once either way.
    ///
    /// `input` is how the tool's questions reach the client as long as the call cannot become a task. Dropping the future
    /// drops the tool, unless it has become a task by then (CAN-04); a task that is only being stored is cancelled.
    ///
    /// A call with a [key](NewTask::key) that may become a task is one from its start, so that the key is taken before the
    /// tool runs: it is [`Ran::Finished`] all the same if it ends in time. If the key was taken, it is the earlier call's
    /// task at once.
    ///
    /// # Errors
    /// As for [`create`](Self::create). A tool whose promotion fails is dropped.
    fn run(&self, call: Call, promotion: Promotion, input: Option<Arc<dyn InlineInput>>) -> EngineFuture<'_, Ran>;

    /// The task as it stands. To the task it is a pure read (GET-01).
    ///
    /// # Errors
    /// [`EngineError::UnknownTask`] for a task that does not exist, is gone, or belongs to somebody else;
    /// [`EngineError::PolledTooFast`] where a pace is kept ([`Limits::poll_tolerance`]) and the caller does not (GET-04).
    fn get<'a>(&'a self, principal: &'a Principal, id: TaskId) -> EngineFuture<'a, Arc<TaskRecord>>;

    /// Takes answers. Keys that are not outstanding are ignored (UPD-02); the others reach the tool once (UPD-06).
    ///
    /// # Errors
    /// [`EngineError::UnknownTask`], or [`EngineError::InvalidInputResponse`] if an answer does not fit its request; then
    /// nothing of the message was taken (UPD-07).
    fn respond<'a>(
        &'a self,
        principal: &'a Principal,
        id: TaskId,
        responses: Vec<(InputKey, Bytes)>,
    ) -> EngineFuture<'a, ()>;

    /// Requests cancellation, and does not wait for it (CAN-01). A settled task stays as it is (CAN-03).
    ///
    /// # Errors
    /// [`EngineError::UnknownTask`].
    fn cancel<'a>(&'a self, principal: &'a Principal, id: TaskId) -> EngineFuture<'a, ()>;

    /// Follows those of `ids` that are tasks of `principal`.
    ///
    /// # Errors
    /// [`EngineError::LimitExceeded`] if there are too many.
    fn watch<'a>(&'a self, principal: &'a Principal, ids: Vec<TaskId>) -> EngineFuture<'a, Box<dyn TaskWatch>>;
}

/// Says whether a response (second) fits its request (first), both JSON text, or why not (UPD-07).
///
/// Any node may be asked, so it depends on nothing but the two.
pub type ValidateInput = dyn Fn(&Bytes, &Bytes) -> Result<(), String> + Send + Sync;

/// How an [`Engine`] is set up. Made by [`Engine::builder`].
pub struct EngineBuilder {
    store: Arc<dyn TaskStore>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    lease: Duration,
    sweep_every: Duration,
    validate: Option<Arc<ValidateInput>>,
    recoverers: Recoverers,
}

impl EngineBuilder {
    /// Sets the limits. Default: [`Limits::default`].
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long a task is left to a worker that no longer says it is there. Default: 30 s.
    #[must_use]
    pub fn lease(mut self, period: Duration) -> Self {
        self.lease = period;
        self
    }

    /// Sets how often expired and lost tasks are dealt with. Default: 1 s.
    #[must_use]
    pub fn sweep_every(mut self, period: Duration) -> Self {
        self.sweep_every = period;
        self
    }

    /// Sets how answers are checked. Default: any answer fits.
    #[must_use]
    pub fn validate_input(mut self, validate: Arc<ValidateInput>) -> Self {
        self.validate = Some(validate);
        self
    }

    /// Adds what runs lost tasks again. What is served on the engine adds itself ([`Engine::recover_with`]); tasks that
    /// nobody here can run are left to other workers.
    #[must_use]
    pub fn recover(self, recover: Arc<dyn Recover>) -> Self {
        self.recoverers.keep(recover);
        self
    }

    /// Starts the engine on the tokio runtime that this is called on.
    ///
    /// # Errors
    /// [`EngineError::NoEntropy`] if the operating system gives no random bytes.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(self) -> Result<Engine, EngineError> {
        metrics::describe();
        let worker = WorkerId(TaskId::random()?.to_bits() as u64);
        let core = Arc::new(Core {
            paces: self.limits.poll_tolerance.map(Paces::new),
            gate: Gate::new(self.limits.running),
            tool_gates: Mutex::default(),
            host: Arc::new(Host { store: Arc::new(Measured(self.store)), clock: self.clock, limits: self.limits }),
            runs: Arc::default(),
            watchers: Arc::default(),
            lease: Lease { worker, period: self.lease },
            sweep_every: self.sweep_every,
            validate: self.validate,
            recoverers: self.recoverers,
        });
        let upkeep = Arc::new(Upkeep::start(&core));
        Ok(Engine { core, _upkeep: upkeep })
    }
}

/// What an engine's calls and its upkeep share.
pub(crate) struct Core {
    host: Arc<Host>,
    runs: Arc<Runs>,
    watchers: Arc<Watchers>,
    /// Where polls are held to a pace.
    paces: Option<Paces>,
    gate: Gate,
    /// The gates of tools, made when they are first asked for.
    tool_gates: Mutex<HashMap<Box<str>, Gate>>,
    lease: Lease,
    sweep_every: Duration,
    validate: Option<Arc<ValidateInput>>,
    recoverers: Recoverers,
}

/// Runs tasks on a [`TaskStore`]. Clones share one engine; keep one for as long as the server lives, for without it no
/// lease is renewed.
#[derive(Clone)]
pub struct Engine {
    core: Arc<Core>,
    _upkeep: Arc<Upkeep>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("running", &self.running()).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine on this store. `clock` times its waits; it should be the clock that the store goes by.
    pub fn builder(store: Arc<dyn TaskStore>, clock: Arc<dyn Clock>) -> EngineBuilder {
        EngineBuilder {
            store,
            clock,
            limits: Limits::default(),
            lease: Duration::from_secs(30),
            sweep_every: Duration::from_secs(1),
            validate: None,
            recoverers: Recoverers::default(),
        }
    }

    /// Runs lost tasks again with `recover` as well, for as long as somebody else keeps it: a served handler is not kept
    /// alive by its engine. Looks for such tasks at once if it is the first of its type, and with each sweep.
    ///
    /// [`Tasks`](crate::Tasks) and [`TaskServer`](crate::TaskServer) do this by themselves.
    pub fn recover_with(&self, recover: &Arc<dyn Recover>) {
        self.core.recoverers.lend(recover);
    }

    /// The same for all handlers of a type, none of which lives long: one is kept until the engine shuts down.
    pub(crate) fn recover_with_type(&self, handler: TypeId, make: impl FnOnce() -> Arc<dyn Recover>) {
        if !self.core.runs.is_closed() {
            self.core.recoverers.keep_of_type(handler, make);
        }
    }

    /// The gate that all calls of the tool `name` share on this engine; the first to ask says how wide it is.
    pub(crate) fn tool_gate(&self, name: &str, max_running: usize) -> Gate {
        let mut gates = self.core.tool_gates.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(name.into()).or_insert_with(|| Gate::new(max_running)).clone()
    }

    /// The clock that the engine's waits go by.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.core.host.clock
    }

    /// How many tools run here or wait for their turn, inline ones included.
    pub fn running(&self) -> usize {
        self.core.runs.len()
    }

    /// Starts nothing more, and waits until nothing runs. What still runs after `patience` is stopped: tasks that may run
    /// again are left to another worker at once, the others fail, and inline calls are refused. Who listens to tasks is told
    /// how they stand then, and each listen ends with its result (NOT-06).
    ///
    /// Returns how many tools still run: 0, unless some block their threads for longer than a second. May be called
    /// again.
    pub async fn shutdown(&self, patience: Duration) -> usize {
        self.core.runs.close();
        self.core.recoverers.clear();
        if !self.drained(patience).await {
            self.core.release_all().await;
            self.drained(LETTING_GO).await;
        }
        self.core.watchers.close();
        self.running()
    }

    /// True once nothing runs, false after `patience`.
    async fn drained(&self, patience: Duration) -> bool {
        let clock = &self.core.host.clock;
        tokio::select! {
            biased;
            () = self.core.runs.empty() => true,
            () = clock.sleep_until(clock.now().plus(patience)) => false,
        }
    }

    fn gates(&self, tool: Option<Gate>) -> Gates {
        Gates { tool, engine: self.core.gate.clone() }
    }

    /// The one way to a task: a read of the store, then the auth binding (SEC-02).
    async fn owned(&self, principal: &Principal, id: TaskId) -> Result<Arc<TaskRecord>, EngineError> {
        let record = self.core.host.store.get(id).await?;
        record.filter(|record| record.is_visible_to(principal)).ok_or(EngineError::UnknownTask)
    }

    async fn polled(&self, principal: &Principal, id: TaskId) -> Result<Arc<TaskRecord>, EngineError> {
        let record = self.owned(principal, id).await?;
        if let Some(paces) = &self.core.paces {
            let admitted = paces.admit(&record, self.clock().now());
            admitted.map_err(|retry_after| EngineError::PolledTooFast { retry_after })?;
        }
        Ok(record)
    }

    async fn take_answers(
        &self,
        principal: &Principal,
        id: TaskId,
        mut responses: Vec<(InputKey, Bytes)>,
    ) -> Result<(), EngineError> {
        let record = self.owned(principal, id).await?;
        responses.retain(|(key, _)| record.inputs().outstanding().any(|(outstanding, _)| outstanding == key));
        self.validate(&record, &responses)?;
        if responses.is_empty() {
            return Ok(());
        }
        self.stands(self.core.host.store.respond(id, &responses).await?)
    }

    fn validate(&self, record: &TaskRecord, responses: &[(InputKey, Bytes)]) -> Result<(), EngineError> {
        let limit = self.core.host.limits.response_bytes;
        if let Some(size) = responses.iter().map(|(_, response)| response.len()).find(|size| *size > limit) {
            return Err(LimitExceeded::InputResponse { size, limit }.into());
        }
        let Some(validate) = &self.core.validate else { return Ok(()) };
        let asked: BTreeMap<_, _> = record.inputs().outstanding().collect();
        let keys: BTreeMap<_, _> = responses
            .iter()
            .filter_map(|(key, response)| Some((key.clone(), validate(asked.get(key)?, response).err()?)))
            .collect();
        if keys.is_empty() { Ok(()) } else { Err(EngineError::InvalidInputResponse { keys }) }
    }

    async fn request_cancel(&self, principal: &Principal, id: TaskId) -> Result<(), EngineError> {
        if self.owned(principal, id).await?.is_settled() {
            return Ok(());
        }
        let written = self.core.host.store.request_cancel(id).await?;
        if let Written::Stands(record) = &written {
            metrics::settled(record.status(), 1);
        }
        self.stands(written)
    }

    /// Lets the task's run know what a client's call has done, if it runs here; other nodes hear of it from the store.
    fn stands(&self, written: Written) -> Result<(), EngineError> {
        match written {
            Written::Stands(record) => {
                if let Some(run) = self.core.runs.get(record.id) {
                    run.observe(&record);
                }
                Ok(())
            }
            Written::Refused(_) => Err(EngineError::UnknownTask),
        }
    }

    async fn follow(&self, principal: &Principal, ids: &[TaskId]) -> Result<Box<dyn TaskWatch>, EngineError> {
        let (count, limit) = (ids.len(), self.core.host.limits.listen_task_ids);
        if count > limit {
            return Err(LimitExceeded::ListenTaskIds { count, limit }.into());
        }
        let (host, watchers) = (Arc::clone(&self.core.host), Arc::clone(&self.core.watchers));
        Ok(Box::new(Watch::open(host, watchers, principal, ids).await?))
    }
}

impl TaskEngine for Engine {
    fn create(&self, call: Call) -> EngineFuture<'_, Arc<TaskRecord>> {
        let id = match TaskId::random() {
            Ok(id) => id,
            Err(error) => return Box::pin(std::future::ready(Err(error.into()))),
        };
        let span = tracing::info_span!("task.create", task_id = %id, tool = &*call.task.target.name);
        Box::pin(async move { Ok(self.create_task(id, call).await?.record()) }.instrument(span))
    }

    fn run(&self, call: Call, promotion: Promotion, input: Option<Arc<dyn InlineInput>>) -> EngineFuture<'_, Ran> {
        let span = tracing::info_span!("task.run_inline", tool = &*call.task.target.name);
        Box::pin(
            async move {
                match (&call.task.key, promotion) {
                    (Some(_), Promotion::WhenAsking | Promotion::After(_)) => self.run_keyed(call, promotion).await,
                    _ => self.run_inline(call, promotion, input).await,
                }
            }
            .instrument(span),
        )
    }

    fn get<'a>(&'a self, principal: &'a Principal, id: TaskId) -> EngineFuture<'a, Arc<TaskRecord>> {
        Box::pin(self.polled(principal, id))
    }

    fn respond<'a>(
        &'a self,
        principal: &'a Principal,
        id: TaskId,
        responses: Vec<(InputKey, Bytes)>,
    ) -> EngineFuture<'a, ()> {
        let span = tracing::info_span!("task.update", task_id = %id, responses = responses.len());
        Box::pin(self.take_answers(principal, id, responses).instrument(span))
    }

    fn cancel<'a>(&'a self, principal: &'a Principal, id: TaskId) -> EngineFuture<'a, ()> {
        let span = tracing::info_span!("task.cancel", task_id = %id);
        Box::pin(self.request_cancel(principal, id).instrument(span))
    }

    fn watch<'a>(&'a self, principal: &'a Principal, ids: Vec<TaskId>) -> EngineFuture<'a, Box<dyn TaskWatch>> {
        Box::pin(async move { self.follow(principal, &ids).await })
    }
}
