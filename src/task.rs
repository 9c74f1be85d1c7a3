//! `TaskRecord`: all that is known of a task, and the transitions between its states. Pure: no IO, no clock, no wire.
//!
//! ```text
//!               Ask                 Settle, RequestCancel, Abandon, expiry
//!   working ----------> input_required ---------------------+
//!      ^  \                  |                              v
//!      |   \  Respond,       |               completed | failed | cancelled
//!      +----\----------------+ Withdraw                     ^
//!            \                                              |
//!             +---------------------------------------------+
//! ```
//! Guarantees: a settled task never changes again (TSK-08); the only ways between states are those of TSK-09;
//! `last_updated_at` grows by at least a millisecond with each change a client can see, whatever the clock does (TSK-03).
//! The status is derived, never stored: a task is `input_required` if and only if it has outstanding input requests.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use crate::{
    clock::UnixMillis,
    input::{InputKey, InputKinds, InputLog, InputState, Question, RequestHash},
    principal::Principal,
    task_id::TaskId,
};

/// What a task runs: the request's method, and within it the tool (or whatever the method names) and its version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The request's method, such as `tools/call`. Nothing here depends on which one it is (CAP-06).
    pub method: Box<str>,
    /// The name of the tool.
    pub name: Box<str>,
    /// The version of the tool's code: a task is only ever run again by the version it was created with.
    pub version: Box<str>,
}

impl Target {
    /// A target.
    pub fn new(method: &str, name: &str, version: &str) -> Self {
        Self { method: method.into(), name: name.into(), version: version.into() }
    }
}

/// What happens to the running tool when cancellation is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnCancel {
    /// The task is `cancelled` at once, and the tool's future is dropped at its next await.
    #[default]
    Drop,
    /// The tool is told, and settles the task in its own time and way: an error of its makes it `cancelled` (CAN-02).
    Signal,
}

/// What happens to a task whose worker is gone: the server restarted, the node died.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnRestart {
    /// It ends `failed` ([`Failure::Interrupted`]); the tool runs at most once.
    #[default]
    Fail,
    /// It runs again from its start, with the recorded answers and steps.
    Rerun {
        /// How often it may be started in all; after that it ends `failed`.
        max_attempts: u32,
    },
}

/// How far a tool says it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Units done.
    pub done: u64,
    /// Units in all.
    pub total: u64,
}

/// Why a task is `failed`. (An error of the tool's own is a completed result instead, TSK-07.)
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The tool ended with a protocol error.
    Reported {
        /// The error object, as JSON text.
        error: Bytes,
        /// Its message, for `statusMessage`.
        message: Arc<str>,
    },
    /// The tool panicked. What it said went to the log, not here (ERR-02, ERR-03).
    Panicked,
    /// The tool's result was larger than the server keeps.
    ResultTooLarge {
        /// The limit, in bytes of JSON text.
        limit: usize,
    },
    /// The worker was lost, and the tool may not be run again.
    Interrupted,
    /// The time to live passed before the tool ended (GET-05).
    Expired,
}

impl Failure {
    /// A sentence for `statusMessage`, safe to show to the client (TSK-10, ERR-02).
    pub fn message(&self) -> Arc<str> {
        match self {
            Self::Reported { message, .. } => Arc::clone(message),
            Self::Panicked => "the tool stopped unexpectedly".into(),
            Self::ResultTooLarge { limit } => format!("the result is larger than {limit} bytes").into(),
            Self::Interrupted => "the server restarted while the task was running".into(),
            Self::Expired => "the task took longer than its time to live".into(),
        }
    }
}

/// How a task ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// With a result, as JSON text.
    Completed(Bytes),
    /// With an error.
    Failed(Box<Failure>),
    /// Stopped before it had either.
    Cancelled,
}

impl Settlement {
    /// Ended with this error.
    pub fn failed(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }

    fn is_by_expiry(&self) -> bool {
        matches!(self, Self::Failed(failure) if **failure == Failure::Expired)
    }
}

/// The stored part of a task's status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// Not ended: `working` or, with outstanding input requests, `input_required`.
    Open,
    /// Ended, for ever.
    Settled(Settlement),
}

/// What only an open task needs, and most tasks never have any of. Empty once the task is settled, save for the arguments
/// of a failed one that could run again: see [`TaskRecord::retried`].
///
/// Shared by the copies of a record, so that a change elsewhere in the record does not copy it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Journal(Option<Arc<Entries>>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Entries {
    arguments: Bytes,
    inputs: InputLog,
    steps: Vec<Step>,
}

impl Journal {
    /// A journal of these entries: for reading back what a store has kept.
    pub fn new(arguments: Bytes, inputs: InputLog, steps: Vec<Step>) -> Self {
        let entries = Entries { arguments, inputs, steps };
        Self((entries != Entries::default()).then(|| Arc::new(entries)))
    }

    /// The arguments, as JSON text; empty unless the task may be run again.
    pub fn arguments(&self) -> &[u8] {
        self.0.as_ref().map_or(&[], |entries| &entries.arguments)
    }

    /// The input requests so far.
    pub fn inputs(&self) -> &InputLog {
        const NONE: &InputLog = &InputLog::new();
        self.0.as_ref().map_or(NONE, |entries| &entries.inputs)
    }

    /// The recorded steps so far.
    pub fn steps(&self) -> &[Step] {
        self.0.as_ref().map_or(&[], |entries| &entries.steps)
    }

    /// The bytes of its steps, questions and answers.
    pub(crate) fn recorded_bytes(&self) -> usize {
        let steps = self.steps().iter().map(|step| step.value.len());
        let inputs = self.inputs().entries().iter().map(|entry| match &entry.state {
            InputState::Outstanding { request } => request.len(),
            InputState::Answered { response } => response.len(),
            InputState::Withdrawn => 0,
        });
        steps.chain(inputs).sum()
    }

    /// The same without inputs and steps.
    fn arguments_alone(&self) -> Self {
        self.0
            .as_ref()
            .map_or_else(Self::default, |entries| Self::new(entries.arguments.clone(), InputLog::new(), Vec::new()))
    }

    fn edit(&mut self) -> &mut Entries {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

/// The status as clients know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskStatus {
    /// The tool runs, or waits for its turn.
    Working,
    /// The client has questions to answer before the tool goes on.
    InputRequired,
    /// There is a result.
    Completed,
    /// There is an error.
    Failed,
    /// Somebody called it off.
    Cancelled,
}

impl TaskStatus {
    /// All there are.
    pub const ALL: [Self; 5] = [Self::Working, Self::InputRequired, Self::Completed, Self::Failed, Self::Cancelled];

    /// The word for it, on the wire and wherever else it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of that word; `None` if there is none.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether the status is one that never changes (TSK-08).
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Counts the changes of a record. Grows with every change a client can see, and with some it cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rev(pub u64);

/// The fencing token: grows each time the right to run a task is given or taken away. Only the holder of the newest one
/// may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epoch(pub u64);

/// A client's own name for a call, so that a call it makes again after a lost answer gets the same task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey {
    /// The name; the client's principal has no other task of it.
    pub text: Arc<str>,
    /// Tells whether it is the same call that is made again.
    pub call: RequestHash,
}

/// A task that is about to be created.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// Who asked for it.
    pub principal: Principal,
    /// What the client calls the call, if it does.
    pub key: Option<IdempotencyKey>,
    /// What it runs. Shared by all tasks of one tool.
    pub target: Arc<Target>,
    /// The arguments, as JSON text.
    pub arguments: Bytes,
    /// How long the task is kept, from its creation; `None` is for ever.
    pub ttl: Option<Duration>,
    /// How often the client should poll.
    pub poll_interval: Option<Duration>,
    /// How long a task that expired unsettled stays readable as `failed` (GET-05).
    pub grace: Duration,
    /// What cancellation does.
    pub on_cancel: OnCancel,
    /// What a restart does.
    pub on_restart: OnRestart,
    /// What the client that asked for it can be asked.
    pub declared: InputKinds,
    /// The first status message.
    pub status_message: Option<Arc<str>>,
    /// The first progress.
    pub progress: Option<Progress>,
    /// Steps that were taken before there was a task.
    pub steps: Vec<Step>,
    /// Questions that were answered before there was a task: asked again, they have their answers (NEW-02). None of them is
    /// outstanding, and their keys are never issued again.
    pub inputs: InputLog,
}

impl NewTask {
    /// A task with the defaults: an hour to live, a poll a second, 60 s of grace, dropped on cancel, failed on restart,
    /// and a client that can be asked nothing.
    pub fn new(principal: Principal, target: Arc<Target>, arguments: Bytes) -> Self {
        Self {
            principal,
            key: None,
            target,
            arguments,
            ttl: Some(Duration::from_secs(3600)),
            poll_interval: Some(Duration::from_secs(1)),
            grace: Duration::from_secs(60),
            on_cancel: OnCancel::default(),
            on_restart: OnRestart::default(),
            declared: InputKinds::NONE,
            status_message: None,
            progress: None,
            steps: Vec::new(),
            inputs: InputLog::new(),
        }
    }
}

/// A recorded step of a tool: done once, not again after a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The tool's name for the step, with `#2`, `#3`, ... for later ones of that name.
    pub key: Arc<str>,
    /// What it gave, as JSON text.
    pub value: Bytes,
}

/// All that is known of a task. A store keeps it as one row; payloads are opaque JSON text.
///
/// The fields are public so that a store can write them down and read them back; only the functions here change them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskRecord {
    /// The task's name.
    pub id: TaskId,
    /// Who may see it (SEC-02).
    pub principal: Principal,
    /// What its client calls the call that created it.
    pub key: Option<IdempotencyKey>,
    /// What it runs.
    pub target: Arc<Target>,
    /// When it was created.
    pub created_at: UnixMillis,
    /// When a client could last see it change (TSK-03).
    pub last_updated_at: UnixMillis,
    /// How long it is kept, from its creation; `None` is for ever.
    pub ttl: Option<Duration>,
    /// How long it stays readable after it expired unsettled.
    pub grace: Duration,
    /// How often the client should poll.
    pub poll_interval: Option<Duration>,
    /// A sentence about how it stands.
    pub status_message: Option<Arc<str>>,
    /// How far it says it has come.
    pub progress: Option<Progress>,
    /// Open or settled.
    pub state: TaskState,
    /// Its arguments, input requests and steps.
    pub journal: Journal,
    /// What its client can be asked.
    pub declared: InputKinds,
    /// What cancellation does.
    pub on_cancel: OnCancel,
    /// What a restart does.
    pub on_restart: OnRestart,
    /// Whether cancellation was requested and the tool has yet to act on it.
    pub cancel_requested: bool,
    /// How often the tool was started.
    pub attempt: u32,
    /// Counts its changes.
    pub rev: Rev,
    /// The fencing token of whoever may run it.
    pub epoch: Epoch,
}

/// A write of the worker that runs the task. Each may be repeated: the second time changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mutation {
    /// Says how the task stands. `None` leaves the old value.
    Report {
        /// The new status message.
        status_message: Option<Arc<str>>,
        /// The new progress.
        progress: Option<Progress>,
    },
    /// Asks the client something, or finds the same question of an earlier run.
    Ask(Question),
    /// Takes a question back, if it is outstanding.
    Withdraw {
        /// The tool's name for the question.
        name: Arc<str>,
        /// Which question of that name.
        ordinal: u32,
    },
    /// Keeps the task at least until then. Never shortens its life.
    KeepUntil(UnixMillis),
    /// Sets how often the client should poll.
    PollInterval(Duration),
    /// Records a step, if the task may run again.
    Record(Step),
    /// Ends the task.
    Settle(Settlement),
    /// Gives up the right to run it, before its end: the server shuts down.
    Release,
}

/// Something that happens to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// The client answers. Keys that are not outstanding are ignored (UPD-02).
    Respond(&'a [(InputKey, Bytes)]),
    /// The client calls it off.
    RequestCancel,
    /// A worker takes the right to run it.
    Claim,
    /// The worker that holds `epoch` writes.
    Commit {
        /// The fencing token of the writer.
        epoch: Epoch,
        /// What is written.
        mutation: &'a Mutation,
    },
    /// The worker's lease ran out.
    Abandon,
}

/// What an event does to a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    /// This is the record from now on.
    Changed(Arc<TaskRecord>),
    /// The event has no effect.
    Unchanged,
    /// The event is not allowed.
    Refused(Refusal),
}

/// Why a worker may not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The task is gone, or never was.
    #[error("there is no such task")]
    Gone,
    /// The task has ended (TSK-08).
    #[error("the task has settled")]
    Settled,
    /// The right to run the task has passed to somebody else.
    #[error("the lease on the task was lost")]
    Fenced,
    /// Cancellation was requested: nothing more is asked of the client.
    #[error("cancellation of the task was requested")]
    CancelRequested,
}

/// Whether a client can see a change.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Yes,
    No,
}

impl TaskRecord {
    /// A task that was created just now, `working` (TSK-09), and that nobody runs yet.
    pub fn new(id: TaskId, new: NewTask, now: UnixMillis) -> Self {
        let rerun = matches!(new.on_restart, OnRestart::Rerun { .. });
        Self {
            id,
            principal: new.principal,
            key: new.key,
            target: new.target,
            created_at: now,
            last_updated_at: now,
            ttl: new.ttl,
            grace: new.grace,
            poll_interval: new.poll_interval,
            status_message: new.status_message,
            progress: new.progress,
            state: TaskState::Open,
            journal: if rerun {
                Journal::new(new.arguments, new.inputs, new.steps)
            } else {
                Journal::new(Bytes::new(), new.inputs, Vec::new())
            },
            declared: new.declared,
            on_cancel: new.on_cancel,
            on_restart: new.on_restart,
            cancel_requested: false,
            attempt: 0,
            rev: Rev(1),
            epoch: Epoch(0),
        }
    }

    /// The status, as clients know it (TSK-09, case 20).
    pub fn status(&self) -> TaskStatus {
        match &self.state {
            TaskState::Open if self.inputs().outstanding().next().is_some() => TaskStatus::InputRequired,
            TaskState::Open => TaskStatus::Working,
            TaskState::Settled(Settlement::Completed(_)) => TaskStatus::Completed,
            TaskState::Settled(Settlement::Failed(_)) => TaskStatus::Failed,
            TaskState::Settled(Settlement::Cancelled) => TaskStatus::Cancelled,
        }
    }

    /// Its input requests; none once it is settled.
    pub fn inputs(&self) -> &InputLog {
        self.journal.inputs()
    }

    /// Whether the task has ended.
    pub fn is_settled(&self) -> bool {
        matches!(self.state, TaskState::Settled(_))
    }

    /// Whether `principal` may see the task (SEC-02).
    pub fn is_visible_to(&self, principal: &Principal) -> bool {
        self.principal == *principal
    }

    /// A new task that does what this one failed to: same caller, tool, arguments and options, and the same time to live,
    /// counted anew. It has no key, and nobody runs it until a worker claims it.
    ///
    /// `None` unless it failed and its tool may run again after a restart ([`OnRestart::Rerun`]): only then are its arguments
    /// kept, until the record is gone.
    pub fn retried(&self) -> Option<NewTask> {
        let failed = matches!(self.state, TaskState::Settled(Settlement::Failed(_)));
        let rerun = matches!(self.on_restart, OnRestart::Rerun { .. });
        let arguments = self.journal.0.as_ref().map(|entries| entries.arguments.clone()).filter(|_| failed && rerun)?;
        Some(NewTask {
            ttl: self.ttl,
            poll_interval: self.poll_interval,
            grace: self.grace,
            on_cancel: self.on_cancel,
            on_restart: self.on_restart,
            declared: self.declared,
            ..NewTask::new(self.principal.clone(), Arc::clone(&self.target), arguments)
        })
    }

    /// When its time to live is over; [`UnixMillis::NEVER`] if that is unlimited.
    pub fn deadline(&self) -> UnixMillis {
        self.ttl.map_or(UnixMillis::NEVER, |ttl| self.created_at.plus(ttl))
    }

    /// When it can no longer be read: at its deadline, or a grace period later if it had not ended by then (GET-05).
    pub fn gone_at(&self) -> UnixMillis {
        match &self.state {
            TaskState::Settled(settlement) if !settlement.is_by_expiry() => self.deadline(),
            _ => self.deadline().plus(self.grace),
        }
    }

    /// When the passing of time changes it next: it expires, or it is gone.
    pub fn changes_at(&self) -> UnixMillis {
        if self.is_settled() { self.gone_at() } else { self.deadline() }
    }

    /// The task as it stands at `now`: itself, or ended by its time to live, or gone (GET-05, case 22).
    ///
    /// Depends on the deadline and not on when it is asked, so that a read before the sweep equals one after it.
    pub fn at(self: &Arc<Self>, now: UnixMillis) -> Option<Arc<Self>> {
        if now >= self.gone_at() {
            None
        } else if !self.is_settled() && now >= self.deadline() {
            Some(self.settled(Settlement::failed(Failure::Expired), self.deadline()))
        } else {
            Some(Arc::clone(self))
        }
    }

    /// What `event` does to the task at `now`. The record is one that stands at `now`: see [`at`](Self::at).
    pub fn after(&self, event: &Event<'_>, now: UnixMillis) -> Transition {
        match event {
            Event::Respond(_) | Event::RequestCancel | Event::Abandon if self.is_settled() => Transition::Unchanged,
            _ if self.is_settled() => Transition::Refused(Refusal::Settled),
            Event::Respond(responses) => self.respond(responses, now),
            Event::RequestCancel => self.request_cancel(now),
            Event::Claim => self.claimed(now),
            Event::Commit { epoch, .. } if *epoch != self.epoch => Transition::Refused(Refusal::Fenced),
            Event::Commit { mutation, .. } => self.commit(mutation, now),
            Event::Abandon => self.abandoned(now),
        }
    }

    fn respond(&self, responses: &[(InputKey, Bytes)], now: UnixMillis) -> Transition {
        self.with_inputs(now, |inputs| {
            let taken = responses.iter().filter(|(key, response)| inputs.answer(key, response)).count();
            taken > 0
        })
    }

    fn request_cancel(&self, now: UnixMillis) -> Transition {
        match self.on_cancel {
            OnCancel::Drop => Transition::Changed(self.settled(Settlement::Cancelled, now)),
            OnCancel::Signal if self.cancel_requested => Transition::Unchanged,
            OnCancel::Signal => {
                let seen = if self.status() == TaskStatus::InputRequired { Seen::Yes } else { Seen::No };
                self.changed(seen, now, |next| {
                    next.cancel_requested = true;
                    if seen == Seen::Yes {
                        next.journal.edit().inputs.withdraw_all();
                    }
                })
            }
        }
    }

    fn claimed(&self, now: UnixMillis) -> Transition {
        self.changed(Seen::No, now, |next| {
            next.epoch.0 += 1;
            next.attempt += 1;
        })
    }

    fn abandoned(&self, now: UnixMillis) -> Transition {
        if self.cancel_requested {
            return Transition::Changed(self.settled(Settlement::Cancelled, now));
        }
        match self.on_restart {
            OnRestart::Rerun { max_attempts } if self.attempt < max_attempts => {
                self.changed(Seen::No, now, |next| next.epoch.0 += 1)
            }
            _ => Transition::Changed(self.settled(Settlement::failed(Failure::Interrupted), now)),
        }
    }

    fn commit(&self, mutation: &Mutation, now: UnixMillis) -> Transition {
        match mutation {
            Mutation::Report { status_message, progress } => self.reported(status_message, *progress, now),
            Mutation::Ask(question) => self.asked(question, now),
            Mutation::Withdraw { name, ordinal } => self.with_inputs(now, |inputs| inputs.withdraw(name, *ordinal)),
            Mutation::KeepUntil(until) if self.deadline() >= *until => Transition::Unchanged,
            Mutation::KeepUntil(until) => {
                self.changed(Seen::Yes, now, |next| next.ttl = Some(until.since(self.created_at)))
            }
            Mutation::PollInterval(interval) if self.poll_interval == Some(*interval) => Transition::Unchanged,
            Mutation::PollInterval(interval) => {
                self.changed(Seen::Yes, now, |next| next.poll_interval = Some(*interval))
            }
            Mutation::Record(step) => self.recorded(step, now),
            Mutation::Settle(settlement) => Transition::Changed(self.settled(settlement.clone(), now)),
            Mutation::Release => self.abandoned(now),
        }
    }

    fn reported(&self, message: &Option<Arc<str>>, progress: Option<Progress>, now: UnixMillis) -> Transition {
        let message = message.as_ref().or(self.status_message.as_ref());
        let progress = progress.or(self.progress);
        if message == self.status_message.as_ref() && progress == self.progress {
            return Transition::Unchanged;
        }
        self.changed(Seen::Yes, now, |next| {
            next.status_message = message.cloned();
            next.progress = progress;
        })
    }

    fn asked(&self, question: &Question, now: UnixMillis) -> Transition {
        if self.cancel_requested {
            return Transition::Refused(Refusal::CancelRequested);
        }
        self.with_inputs(now, |inputs| inputs.ask(question))
    }

    /// Changes the input requests; `change` says whether it did.
    fn with_inputs(&self, now: UnixMillis, change: impl FnOnce(&mut InputLog) -> bool) -> Transition {
        let mut inputs = self.inputs().clone();
        if !change(&mut inputs) {
            return Transition::Unchanged;
        }
        self.changed(Seen::Yes, now, |next| next.journal.edit().inputs = inputs)
    }

    fn recorded(&self, step: &Step, now: UnixMillis) -> Transition {
        let needless = self.on_restart == OnRestart::Fail;
        if needless || self.journal.steps().iter().any(|known| known.key == step.key) {
            return Transition::Unchanged;
        }
        self.changed(Seen::No, now, |next| next.journal.edit().steps.push(step.clone()))
    }

    /// The task, ended. What only an open task needs is let go.
    fn settled(&self, settlement: Settlement, now: UnixMillis) -> Arc<Self> {
        self.next(Seen::Yes, now, |next| {
            next.journal = match &settlement {
                Settlement::Failed(failure) => {
                    next.status_message = Some(failure.message());
                    // Only a task that may run again has any.
                    self.journal.arguments_alone()
                }
                _ => Journal::default(),
            };
            next.state = TaskState::Settled(settlement);
        })
    }

    fn changed(&self, seen: Seen, now: UnixMillis, change: impl FnOnce(&mut Self)) -> Transition {
        Transition::Changed(self.next(seen, now, change))
    }

    /// The record with `change` made, counted, and dated if a client can see it (TSK-03).
    fn next(&self, seen: Seen, now: UnixMillis, change: impl FnOnce(&mut Self)) -> Arc<Self> {
        let mut next = self.clone();
        change(&mut next);
        next.rev.0 += 1;
        if seen == Seen::Yes {
            next.last_updated_at = now.max(self.last_updated_at.plus(Duration::from_millis(1)));
        }
        Arc::new(next)
    }
}

#[cfg(test)]
mod tests;
