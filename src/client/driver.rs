//! The driver of one task: a state machine that does no I/O and has no clock.
//!
//! What happens comes in as an [`Event`] with the moment it happened, what is to be done comes out as [`Command`]s. Moments
//! are the client's own elapsed time, so that neither its wall clock nor the server's matters. Randomness is the seed it is
//! made with.
//!
//! - At most one request is in flight, and nothing is sent once the task has ended.
//! - Between two polls there are at least 20 ms, whatever the server says (case 37).
//! - A key is asked once and answered once (CLI-04); an answer is kept until the server acknowledges it, or the question is
//!   gone, and sent again if it was lost (case 16).

mod answers;
mod pace;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;

pub use self::pace::MAX_RETRY_AFTER;
use self::{
    answers::Answers,
    pace::{FLOOR, Pace},
};
use super::{
    ClientError,
    state::{InputRequest, Outcome, TaskState},
};

/// How long after its time to live a task is still asked for, for clocks differ and servers have grace periods.
const TTL_MARGIN: Duration = Duration::from_secs(90);
/// How many answers in a row may make no sense.
const MAX_INVALID: u32 = 3;
/// How many tries in a row may fail before the server counts as lost.
const MAX_FAILURES: u32 = 12;
/// How many polls in a row may be older than what is known, before the server's clock is taken to have gone back.
const MAX_STALE: u32 = 5;
/// How often a stream that broke is opened again.
const MAX_LISTENS: u32 = 4;

/// A moment: how long ago the client learned of the task.
pub type Now = Duration;

/// What happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// Time has passed.
    Tick,
    /// The poll was answered with this task, or with something that is none.
    Polled(Result<Box<TaskState>, String>),
    /// The poll got no answer.
    PollFailed(Failure),
    /// The server pushed this task.
    Notified(Box<TaskState>),
    /// The server took the answers that were sent.
    UpdateAcked,
    /// It did not.
    UpdateFailed(Failure),
    /// The server took the cancellation.
    CancelAcked,
    /// It did not.
    CancelFailed(Failure),
    /// The user, the model or the program has answered a question.
    Answered(String, Value),
    /// The question with this key could not be asked, or its handler failed.
    AskFailed(String, ClientError),
    /// The task is to be cancelled.
    CancelRequested,
    /// The stream is open, and the server agreed to push this task.
    ListenUp,
    /// There is no stream, or no longer; whether it is worth opening again.
    ListenDown(bool),
}

/// Why a request has no result.
#[derive(Debug, Clone)]
pub enum Failure {
    /// It, or its answer, was lost, or the server could not serve it now.
    Lost {
        /// How long the server wants to be left alone.
        retry_after: Option<Duration>,
        /// What happened.
        error: ClientError,
    },
    /// The connection is gone for good.
    Closed(ClientError),
    /// The server answered with a JSON-RPC error.
    Refused {
        /// The JSON-RPC error code.
        code: i64,
        /// What the server says about it.
        message: String,
        /// Details of the server's.
        data: Option<Box<Value>>,
    },
}

/// What is to be done.
#[derive(Debug, Clone)]
pub enum Command {
    /// Send `tasks/get`.
    Poll,
    /// Send `tasks/update` with these answers.
    Update(Vec<(String, Value)>),
    /// Send `tasks/cancel`.
    Cancel,
    /// Ask the user or the model.
    Ask(String, InputRequest),
    /// The question is gone: close it.
    CloseQuestion(String),
    /// What became of an answer: the server has it, or never will.
    Settled(String, Result<(), ClientError>),
    /// Open a stream.
    Listen,
    /// Show the task: it has changed.
    Show(Box<TaskState>),
    /// Nothing more will be done: the outcome.
    Done(Box<Result<Outcome, ClientError>>),
}

/// What is sent to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Request {
    Poll,
    Update,
    Cancel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cancel {
    No,
    Wanted,
    Acked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    Never,
    Wanted(Now),
    Opening,
    Up,
}

/// How a task is followed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether questions go to the handlers; else they are only shown.
    pub ask: bool,
    /// Whether to try to open a stream.
    pub listen: bool,
    /// What the jitter is made of.
    pub seed: u64,
}

/// Follows one task.
#[derive(Debug)]
pub struct Driver {
    settings: Settings,
    state: Option<TaskState>,
    /// Whether that is of this run; what an earlier one left may be old.
    has_seen: bool,
    /// When the newest state came.
    changed: Now,
    /// How long the server keeps the task from [`Now`] zero on.
    ttl: Option<Duration>,
    pace: Pace,
    answers: Answers,
    /// The request that has no answer yet.
    in_flight: Option<Request>,
    /// When the poll in flight was sent.
    poll_sent: Now,
    /// When to poll next.
    next_poll: Now,
    last_poll: Option<Now>,
    stale: u32,
    invalid: u32,
    /// Polls in a row that failed.
    failed_polls: u32,
    /// Updates and cancellations in a row that failed.
    failed_sends: u32,
    cancel: Cancel,
    /// When a cancellation or an update that failed is tried again.
    next_send: Now,
    /// Until when the server wants to be left alone.
    quiet_until: Now,
    stream: Stream,
    listens: u32,
    /// What is returned once the check after a refusal finds the task alive.
    refusal: Option<ClientError>,
    /// The keys whose answers are never sent because of it.
    refused: Vec<String>,
    done: bool,
    commands: Vec<Command>,
}

impl Driver {
    /// Follows a task that has just been made.
    pub fn created(state: TaskState, settings: Settings) -> Self {
        let mut driver = Self::new(settings);
        driver.ttl = state.ttl;
        driver.pace.heard(state.poll_interval);
        driver.next_poll = driver.pace.next(false);
        driver.commands.push(Command::Show(Box::new(state.clone())));
        driver.state = Some(state);
        driver.has_seen = true;
        driver
    }

    /// Goes on with a task that was followed before, or of which only the id is known: the first thing is one poll
    /// (case 40).
    pub fn resumed(
        last: Option<TaskState>,
        answered: BTreeSet<String>,
        ttl: Option<Duration>,
        now: Now,
        settings: Settings,
    ) -> Self {
        let mut driver = Self::new(settings);
        driver.ttl = ttl;
        driver.changed = now;
        driver.next_poll = now;
        driver.answers = Answers::remember(answered);
        driver.state = last.filter(|state| !state.is_terminal());
        driver
    }

    fn new(settings: Settings) -> Self {
        Self {
            stream: if settings.listen { Stream::Wanted(Now::ZERO) } else { Stream::Never },
            pace: Pace::new(settings.seed),
            settings,
            state: None,
            has_seen: false,
            changed: Now::ZERO,
            ttl: None,
            answers: Answers::default(),
            in_flight: None,
            poll_sent: Now::ZERO,
            next_poll: Now::ZERO,
            last_poll: None,
            stale: 0,
            invalid: 0,
            failed_polls: 0,
            failed_sends: 0,
            cancel: Cancel::No,
            next_send: Now::ZERO,
            quiet_until: Now::ZERO,
            listens: 0,
            refusal: None,
            refused: Vec::new(),
            done: false,
            commands: Vec::new(),
        }
    }

    /// The task as it was last seen.
    pub fn state(&self) -> Option<&TaskState> {
        self.state.as_ref()
    }

    /// How long the server keeps the task, from the client's learning of it on.
    pub fn ttl(&self) -> Option<Duration> {
        self.ttl
    }

    /// The keys that were answered (CLI-09).
    pub fn answered(&self) -> BTreeSet<String> {
        self.answers.answered()
    }

    /// Whether nothing more will be done.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Whether the task was seen in this run, so that it is known which of its questions are outstanding.
    pub fn has_seen(&self) -> bool {
        self.has_seen
    }

    /// Whether the server has heard of the cancellation.
    pub fn is_cancel_acked(&self) -> bool {
        self.cancel == Cancel::Acked
    }

    /// Whether an answer to this key would be sent.
    pub fn takes(&self, key: &str) -> bool {
        let known = self.state.as_ref().filter(|_| self.has_seen);
        let outstanding = known.is_some_and(|state| state.input_requests.contains_key(key));
        outstanding && self.cancel == Cancel::No && !self.done && !self.answers.is_answered(key)
    }

    /// When to call with [`Event::Tick`] if nothing else happens before; `None` to wait for an event.
    pub fn wake(&self) -> Option<Now> {
        if self.done {
            return None;
        }
        let mut wake = self.deadline();
        let mut at = |moment: Now| wake = Some(wake.map_or(moment, |wake| wake.min(moment)));
        if let Stream::Wanted(moment) = self.stream {
            at(moment);
        }
        for (_, moment) in self.waiting() {
            at(moment);
        }
        wake
    }

    /// Takes an event, and says what is to be done about it.
    pub fn step(&mut self, event: Event, now: Now) -> Vec<Command> {
        if !self.done {
            self.take(event, now);
            self.decide(now);
        }
        std::mem::take(&mut self.commands)
    }

    fn take(&mut self, event: Event, now: Now) {
        match event {
            Event::Tick => {}
            Event::Polled(Ok(state)) => self.polled(*state, now),
            Event::Polled(Err(reason)) => self.invalid(reason, now),
            Event::PollFailed(failure) => self.poll_failed(failure, now),
            Event::Notified(state) => self.notified(*state, now),
            Event::UpdateAcked => {
                self.in_flight = None;
                self.failed_sends = 0;
                for key in self.answers.acked() {
                    self.commands.push(Command::Settled(key, Ok(())));
                }
            }
            Event::UpdateFailed(failure) => self.update_failed(failure, now),
            Event::CancelAcked => {
                self.in_flight = None;
                self.failed_sends = 0;
                self.cancel = Cancel::Acked;
                // The task may have ended by now.
                self.next_poll = self.next_poll.min(now + FLOOR);
            }
            Event::CancelFailed(failure) => self.cancel_failed(failure, now),
            Event::Answered(key, value) => self.answered_by_user(key, value),
            // If the question is over, nobody waits for its answer.
            Event::AskFailed(key, error) if self.answers.is_open(&key) => self.finish(Err(error)),
            Event::AskFailed(..) => {}
            Event::CancelRequested => self.cancel_requested(now),
            Event::ListenUp => self.stream = Stream::Up,
            Event::ListenDown(again) => self.listen_down(again, now),
        }
    }

    /// What an event did not settle by itself: what is sent next, if nothing is on its way.
    fn decide(&mut self, now: Now) {
        if !self.done && self.deadline().is_some_and(|deadline| now >= deadline) {
            self.finish(Err(ClientError::Expired));
        }
        if self.done {
            return;
        }
        if let Stream::Wanted(moment) = self.stream
            && now >= moment
        {
            self.stream = Stream::Opening;
            self.listens += 1;
            self.commands.push(Command::Listen);
        }
        let due = self.waiting().find(|(_, moment)| now >= *moment);
        if let Some((request, _)) = due {
            self.send(request, now);
        }
    }

    /// The requests that wait to be sent, the most urgent first, and when each may be. None does while another is on its way.
    fn waiting(&self) -> impl Iterator<Item = (Request, Now)> + use<> {
        let waiting = [
            // A server that wants to be left alone may still be told that it need not go on.
            (Request::Cancel, self.next_send, self.cancel == Cancel::Wanted),
            (Request::Update, self.next_send.max(self.quiet_until), self.answers_wait()),
            (Request::Poll, self.poll_at(), true),
        ];
        let idle = self.in_flight.is_none();
        waiting.into_iter().filter(move |(_, _, wanted)| idle && *wanted).map(|(request, moment, _)| (request, moment))
    }

    fn send(&mut self, request: Request, now: Now) {
        self.in_flight = Some(request);
        self.commands.push(match request {
            Request::Cancel => Command::Cancel,
            Request::Update => Command::Update(self.answers.send()),
            Request::Poll => {
                self.poll_sent = now;
                self.last_poll = Some(now);
                Command::Poll
            }
        });
    }

    /// When the next poll may be sent.
    fn poll_at(&self) -> Now {
        let floor = self.last_poll.map_or(Now::ZERO, |last| last + FLOOR);
        self.next_poll.max(self.quiet_until).max(floor)
    }

    /// Whether there is an answer to send.
    fn answers_wait(&self) -> bool {
        self.cancel == Cancel::No && self.refusal.is_none() && self.answers.has_pending()
    }

    /// When the task is taken to be gone, if nothing changes until then (CLI-02).
    fn deadline(&self) -> Option<Now> {
        let ttl = self.ttl?;
        Some(ttl.saturating_add(TTL_MARGIN).max(self.changed.saturating_add(TTL_MARGIN)))
    }

    fn polled(&mut self, state: TaskState, now: Now) {
        self.in_flight = None;
        self.failed_polls = 0;
        self.invalid = 0;
        if self.is_older(&state, true) {
            self.stale += 1;
            tracing::debug!(task = %state.task_id, "the server answered with an older state than it gave before");
        } else {
            self.accept(state, now);
        }
        if self.done {
            return;
        }
        // Whatever is polled after a refusal is the check. A cancellation that was asked for meanwhile is sent before the end.
        if let Some(refusal) = self.refusal.clone().filter(|_| self.cancel != Cancel::Wanted) {
            return self.finish(Err(refusal));
        }
        self.next_poll = now + self.pace.next(self.stream == Stream::Up);
    }

    fn notified(&mut self, state: TaskState, now: Now) {
        if !self.is_older(&state, false) {
            self.accept(state, now);
        }
    }

    /// Whether a state is of before what is known already. What was asked for before the newest state came is older by
    /// that, unless it says that it is newer, for a server's clock may be too coarse to tell. A server whose answers are
    /// older again and again has a clock that went back.
    fn is_older(&self, state: &TaskState, polled: bool) -> bool {
        let Some(known) = &self.state else { return false };
        if known.is_terminal() {
            return true;
        }
        let older = match (known.changed_at(), state.changed_at()) {
            (Some(known), Some(new)) if new != known => new < known,
            _ => polled && self.poll_sent < self.changed,
        };
        let clock_went_back = polled && self.poll_sent >= self.changed && self.stale + 1 >= MAX_STALE;
        older && !state.is_terminal() && !clock_went_back
    }

    fn accept(&mut self, state: TaskState, now: Now) {
        self.stale = 0;
        self.ttl = state.ttl;
        self.pace.heard(state.poll_interval);
        if self.state.as_ref() != Some(&state) {
            self.changed = now;
            self.pace.moved();
            self.commands.push(Command::Show(Box::new(state.clone())));
        } else if !self.has_seen {
            self.commands.push(Command::Show(Box::new(state.clone())));
        }
        self.has_seen = true;
        self.question(&state);
        let outcome = state.outcome.clone();
        self.state = Some(state);
        match outcome {
            Some(Outcome::Failed(error)) => self.finish(Err(ClientError::Failed {
                code: error.code.get(),
                message: error.message,
                data: error.data.map(Box::new),
            })),
            Some(Outcome::Cancelled) => self.finish(Err(ClientError::Cancelled)),
            Some(outcome) => self.finish(Ok(outcome)),
            None => {}
        }
    }

    /// Opens the questions that are new, and closes those that are gone (CLI-04, CLI-08).
    fn question(&mut self, state: &TaskState) {
        for key in self.answers.retain(|key| state.input_requests.contains_key(key)) {
            self.gone(key);
        }
        if self.cancel != Cancel::No || state.is_terminal() {
            return;
        }
        for (key, request) in &state.input_requests {
            if self.settings.ask && self.answers.ask(key) {
                self.commands.push(Command::Ask(key.clone(), request.clone()));
            }
        }
    }

    fn gone(&mut self, gone: answers::Gone) {
        match gone {
            answers::Gone::Open(key) => self.commands.push(Command::CloseQuestion(key)),
            // The server no longer asks: it has the answer whose acknowledgement was lost.
            answers::Gone::Unacked(key) => {
                self.answers.settle(key.clone());
                self.commands.push(Command::Settled(key, Ok(())));
            }
            answers::Gone::Unsent(key) => self.not_outstanding(key),
        }
    }

    fn not_outstanding(&mut self, key: String) {
        let error = ClientError::NotOutstanding(key.clone());
        self.commands.push(Command::Settled(key, Err(error)));
    }

    /// An answer that comes too late, or after another, is passed over: whoever gave the other waits for that one.
    fn answered_by_user(&mut self, key: String, value: Value) {
        if self.takes(&key) {
            self.answers.answer(key, value);
        }
    }

    fn cancel_requested(&mut self, now: Now) {
        if self.cancel == Cancel::No {
            self.cancel = Cancel::Wanted;
            self.next_send = now;
            self.drop_questions(&ClientError::Cancelled);
        }
    }

    fn drop_questions(&mut self, why: &ClientError) {
        for gone in self.answers.retain(|_| false) {
            match gone {
                answers::Gone::Open(key) => self.commands.push(Command::CloseQuestion(key)),
                answers::Gone::Unsent(key) | answers::Gone::Unacked(key) => {
                    self.commands.push(Command::Settled(key, Err(why.clone())));
                }
            }
        }
    }

    /// The task has its result: answers that were sent have been taken, as far as anybody can know, and others never will.
    fn settle_questions(&mut self) {
        self.answers.unsend();
        for gone in self.answers.retain(|_| false) {
            self.gone(gone);
        }
    }

    fn listen_down(&mut self, again: bool, now: Now) {
        if self.stream == Stream::Up {
            // What was pushed meanwhile is lost.
            self.next_poll = self.next_poll.min(now + self.pace.next(false));
        }
        self.stream = match again && self.listens < MAX_LISTENS {
            true => Stream::Wanted(now + self.pace.reopen(self.listens)),
            false => Stream::Never,
        };
    }

    fn invalid(&mut self, reason: String, now: Now) {
        self.in_flight = None;
        self.invalid += 1;
        if self.invalid >= MAX_INVALID {
            return self.finish(Err(ClientError::InvalidResponse(reason)));
        }
        self.next_poll = now + self.pace.retry(self.invalid, None);
    }

    fn poll_failed(&mut self, failure: Failure, now: Now) {
        self.in_flight = None;
        match failure {
            Failure::Refused { code: -32602, .. } => {
                let known = self.state.is_some();
                self.finish(Err(if known { ClientError::Expired } else { ClientError::NotFound }));
            }
            failure => {
                self.failed_polls += 1;
                if let Some(delay) = self.retry(failure, self.failed_polls, now) {
                    self.next_poll = now + delay;
                }
            }
        }
    }

    fn update_failed(&mut self, failure: Failure, now: Now) {
        self.in_flight = None;
        let keys = self.answers.unsend();
        match failure {
            Failure::Refused { code: -32602, message, data } => {
                // Whoever answered is told once it is known whether the task lives (CLI-11).
                self.refused = self.answers.refused();
                self.refusal = Some(ClientError::AnswerRefused { keys, code: -32602, message, data });
                self.next_poll = now;
            }
            failure => {
                self.forget_superseded();
                if self.cancel != Cancel::No {
                    // Nothing more is answered, and whoever waits for the acknowledgement is told so.
                    self.drop_questions(&ClientError::Cancelled);
                }
                self.failed_sends += 1;
                if let Some(delay) = self.retry(failure, self.failed_sends, now) {
                    self.next_send = now + delay;
                }
            }
        }
    }

    /// What the server stopped asking for while the answer was on its way is not sent again (CLI-09).
    fn forget_superseded(&mut self) {
        let Some(state) = &self.state else { return };
        for gone in self.answers.retain(|key| state.input_requests.contains_key(key)) {
            self.gone(gone);
        }
    }

    fn cancel_failed(&mut self, failure: Failure, now: Now) {
        self.in_flight = None;
        match failure {
            Failure::Refused { code: -32602, .. } => self.finish(Err(ClientError::Expired)),
            failure => {
                self.failed_sends += 1;
                if let Some(delay) = self.retry(failure, self.failed_sends, now) {
                    self.next_send = now + delay;
                }
            }
        }
    }

    /// How long to wait before a request that failed so often in a row is made again, unless that is useless.
    fn retry(&mut self, failure: Failure, failures: u32, now: Now) -> Option<Duration> {
        let (retry_after, error) = match failure {
            Failure::Lost { retry_after, error } => (retry_after, error),
            Failure::Closed(error) => {
                self.finish(Err(error));
                return None;
            }
            Failure::Refused { code: -32601 | -32021, message, .. } => {
                self.finish(Err(ClientError::TasksUnsupported(message)));
                return None;
            }
            Failure::Refused { code, message, data } => (None, ClientError::Rpc { code, message, data }),
        };
        if failures > MAX_FAILURES {
            self.finish(Err(error));
            return None;
        }
        let delay = self.pace.retry(failures, retry_after);
        if retry_after.is_some() {
            self.quiet_until = now + delay;
        }
        Some(delay)
    }

    fn finish(&mut self, outcome: Result<Outcome, ClientError>) {
        if self.done {
            return;
        }
        self.done = true;
        self.settle_refused(&outcome);
        match &outcome {
            Ok(_) => self.settle_questions(),
            Err(why) => {
                self.answers.unsend();
                self.drop_questions(why);
            }
        }
        self.commands.push(Command::Done(Box::new(outcome)));
    }

    /// Tells whoever answered that the answer was refused, or that the task is gone (CLI-11).
    fn settle_refused(&mut self, outcome: &Result<Outcome, ClientError>) {
        let Some(refusal) = self.refusal.take() else { return };
        let why = if let Err(ClientError::Expired) = outcome { ClientError::Expired } else { refusal };
        for key in std::mem::take(&mut self.refused) {
            self.commands.push(Command::Settled(key, Err(why.clone())));
        }
    }
}
