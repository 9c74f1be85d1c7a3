//! The shell around a [`Driver`]: does what it says, and tells it what came of it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
    time::Duration,
};

use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::{AbortHandle, JoinError, JoinSet},
    time::Instant,
};

use super::{
    ClientError,
    call::tool_result,
    driver::{Command, Driver, Event, Failure},
    state::{InputRequest, Outcome, TaskState},
    ticket::{Ticket, millis},
    wire::Wire,
};

/// How many states wait for whoever reads the stream; older ones are left out.
const MAX_WAITING: usize = 64;

pub(super) type Final = Result<CallToolResult, ClientError>;
type Reply = oneshot::Sender<Result<(), ClientError>>;

/// What a handle tells its shell.
pub(super) enum Told {
    Answer(String, Value, Reply),
    Cancel(Reply),
}

/// What a shell shows its handle.
#[derive(Debug)]
pub(super) struct View {
    pub queue: VecDeque<TaskState>,
    pub ticket: Ticket,
    pub ended: bool,
    pub waker: Option<Waker>,
}

impl View {
    pub fn new(ticket: Ticket) -> Self {
        Self { queue: VecDeque::new(), ticket, ended: false, waker: None }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

pub(super) fn locked(view: &Mutex<View>) -> MutexGuard<'_, View> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Follows one task until it has ended.
pub(super) struct Shell {
    wire: Wire,
    task_id: String,
    driver: Driver,
    view: Arc<Mutex<View>>,
    outcome: watch::Sender<Option<Final>>,
    /// The moment zero of the driver.
    began: Instant,
    /// What came before that, for a task that is resumed.
    before: Duration,
    events: mpsc::UnboundedSender<Event>,
    /// Requests on their way, the stream, and open questions: all end with the shell.
    work: JoinSet<()>,
    questions: HashMap<String, AbortHandle>,
    answering: HashMap<String, Vec<Reply>>,
    /// Answers from before the task was seen: whether they are wanted is not known yet.
    early: Vec<(String, Value, Reply)>,
    cancelling: Vec<Reply>,
}

impl Shell {
    /// A shell, and where its events come from.
    pub fn new(
        wire: Wire,
        task_id: String,
        driver: Driver,
        before: Duration,
        view: Arc<Mutex<View>>,
        outcome: watch::Sender<Option<Final>>,
    ) -> (Self, mpsc::UnboundedReceiver<Event>) {
        let (events, incoming) = mpsc::unbounded_channel();
        let shell = Self {
            wire,
            task_id,
            driver,
            view,
            outcome,
            began: Instant::now(),
            before,
            events,
            work: JoinSet::new(),
            questions: HashMap::new(),
            answering: HashMap::new(),
            early: Vec::new(),
            cancelling: Vec::new(),
        };
        (shell, incoming)
    }

    /// Runs until the task has ended, or nobody follows it any more.
    pub async fn run(mut self, mut incoming: mpsc::UnboundedReceiver<Event>, mut told: mpsc::UnboundedReceiver<Told>) {
        self.step(Event::Tick);
        while !self.driver.is_done() {
            let wake = self.driver.wake();
            let event = tokio::select! {
                Some(event) = incoming.recv() => event,
                told = told.recv() => match told.map(|told| self.told(told)) {
                    Some(Some(event)) => event,
                    Some(None) => continue,
                    None => break,
                },
                Some(ended) = self.work.join_next(), if !self.work.is_empty() => match self.panicked(ended) {
                    Some(event) => event,
                    None => continue,
                },
                () = sleep_until(wake.map(|wake| self.began + wake.saturating_sub(self.before))) => Event::Tick,
            };
            self.step(event);
        }
    }

    fn now(&self) -> Duration {
        self.before + self.began.elapsed()
    }

    fn told(&mut self, told: Told) -> Option<Event> {
        match told {
            Told::Answer(key, value, reply) => {
                if !self.driver.has_seen() {
                    self.early.push((key, value, reply));
                    return None;
                }
                if !self.driver.takes(&key) {
                    let _ = reply.send(Err(ClientError::NotOutstanding(key)));
                    return None;
                }
                self.close_question(&key);
                self.answering.entry(key.clone()).or_default().push(reply);
                Some(Event::Answered(key, value))
            }
            Told::Cancel(reply) if self.driver.is_cancel_acked() => {
                let _ = reply.send(Ok(()));
                None
            }
            Told::Cancel(reply) => {
                self.cancelling.push(reply);
                Some(Event::CancelRequested)
            }
        }
    }

    /// What a question becomes whose handler panicked.
    fn panicked(&self, ended: Result<(), JoinError>) -> Option<Event> {
        let id = ended.err().filter(JoinError::is_panic)?.id();
        let key = self.questions.iter().find(|(_, question)| question.id() == id)?.0.clone();
        let request = self.driver.state().and_then(|state| state.input_requests.get(&key));
        let method = request.map(|request| request.method.clone()).unwrap_or_default();
        Some(Event::AskFailed(key, ClientError::Handler { method, message: "it panicked".to_owned() }))
    }

    fn step(&mut self, event: Event) {
        self.step_once(event);
        if self.driver.has_seen() {
            for (key, value, reply) in std::mem::take(&mut self.early) {
                if let Some(event) = self.told(Told::Answer(key, value, reply)) {
                    self.step_once(event);
                }
            }
        }
    }

    fn step_once(&mut self, event: Event) {
        if matches!(event, Event::CancelAcked) {
            self.cancelled(&Ok(()));
        }
        let now = self.now();
        let commands = self.driver.step(event, now);
        self.note();
        for command in commands {
            self.run_command(command);
        }
    }

    /// Keeps the ticket up to date.
    fn note(&self) {
        let ticket = &mut locked(&self.view).ticket;
        ticket.answered = self.driver.answered();
        ticket.ttl = self.driver.ttl().map(millis);
        if ticket.last.as_ref() != self.driver.state() {
            ticket.last = self.driver.state().cloned();
        }
    }

    fn run_command(&mut self, command: Command) {
        match command {
            Command::Poll => self.poll(),
            Command::Update(answers) => self.update(answers),
            Command::Cancel => self.cancel(),
            Command::Ask(key, request) => self.ask(key, request),
            Command::CloseQuestion(key) => self.close_question(&key),
            Command::Settled(key, settled) => {
                for reply in self.answering.remove(&key).into_iter().flatten() {
                    let _ = reply.send(settled.clone());
                }
            }
            Command::Listen => self.listen(),
            Command::Show(state) => {
                let mut view = locked(&self.view);
                if view.queue.len() >= MAX_WAITING {
                    view.queue.pop_front();
                }
                view.queue.push_back(*state);
                view.wake();
            }
            Command::Done(outcome) => self.finish(*outcome),
        }
    }

    fn finish(&mut self, outcome: Result<Outcome, ClientError>) {
        let outcome = outcome.and_then(|outcome| match outcome {
            Outcome::Completed(result) => tool_result(Value::Object(result)),
            _ => Err(ClientError::Cancelled),
        });
        self.cancelled(&match &outcome {
            Ok(_) | Err(ClientError::Cancelled | ClientError::Failed { .. }) => Ok(()),
            Err(error) => Err(error.clone()),
        });
        self.outcome.send_replace(Some(outcome));
        let mut view = locked(&self.view);
        view.ended = true;
        view.wake();
    }

    fn cancelled(&mut self, outcome: &Result<(), ClientError>) {
        for reply in self.cancelling.drain(..) {
            let _ = reply.send(outcome.clone());
        }
    }

    fn poll(&mut self) {
        let (wire, id, events) = (self.wire.clone(), self.task_id.clone(), self.events.clone());
        self.work.spawn(async move {
            let event = match wire.task_request("tasks/get", json!({ "taskId": id })).await {
                Ok(task) => Event::Polled(read_answer(&id, &task).map(Box::new)),
                Err(failure) => Event::PollFailed(failure),
            };
            let _ = events.send(event);
        });
    }

    fn update(&mut self, answers: Vec<(String, Value)>) {
        let (wire, id, events) = (self.wire.clone(), self.task_id.clone(), self.events.clone());
        self.work.spawn(async move {
            let responses: Map<String, Value> = answers.into_iter().collect();
            let params = json!({ "taskId": id, "inputResponses": responses });
            let event = match acknowledged(wire.task_request("tasks/update", params).await) {
                Ok(()) => Event::UpdateAcked,
                Err(failure) => Event::UpdateFailed(failure),
            };
            let _ = events.send(event);
        });
    }

    fn cancel(&mut self) {
        let (wire, id, events) = (self.wire.clone(), self.task_id.clone(), self.events.clone());
        self.work.spawn(async move {
            let event = match acknowledged(wire.task_request("tasks/cancel", json!({ "taskId": id })).await) {
                Ok(()) => Event::CancelAcked,
                Err(failure) => Event::CancelFailed(failure),
            };
            let _ = events.send(event);
        });
    }

    fn ask(&mut self, key: String, request: InputRequest) {
        let (wire, events, asked) = (self.wire.clone(), self.events.clone(), key.clone());
        let question = self.work.spawn(async move {
            let event = match wire.ask(&asked, &request).await {
                Ok(answer) => Event::Answered(asked, answer),
                Err(error) => Event::AskFailed(asked, error),
            };
            let _ = events.send(event);
        });
        self.questions.insert(key, question);
    }

    /// Drops the handler's future, by which it learns that nobody wants the answer any more.
    fn close_question(&mut self, key: &str) {
        if let Some(question) = self.questions.remove(key) {
            question.abort();
        }
    }

    fn listen(&mut self) {
        let (wire, id, events) = (self.wire.clone(), self.task_id.clone(), self.events.clone());
        self.work.spawn(async move {
            let again = listen(&wire, &id, &events).await;
            let _ = events.send(Event::ListenDown(again));
        });
    }
}

/// Follows one stream to its end; whether it is worth opening again. It counts as open from the first push on: rmcp drops
/// from the acknowledgement which tasks the server agreed to.
async fn listen(wire: &Wire, id: &str, events: &mpsc::UnboundedSender<Event>) -> bool {
    let mut pushed = wire.routes.subscribe(id);
    let Ok(mut stream) = wire.listen(id).await else { return false };
    let mut up = false;
    loop {
        tokio::select! {
            Ok(()) = pushed.changed() => {
                let Some(state) = pushed.borrow_and_update().clone() else { continue };
                if !std::mem::replace(&mut up, true) {
                    let _ = events.send(Event::ListenUp);
                }
                let _ = events.send(Event::Notified(Box::new(state)));
            }
            ended = stream.response() => return up || !matches!(ended, Err(rmcp::ServiceError::McpError(_)) | Ok(_)),
        }
    }
}

/// A task that is the one that was asked for.
fn read_answer(id: &str, task: &Value) -> Result<TaskState, String> {
    check_type(task)?;
    let state = TaskState::read(task)?;
    if state.task_id == id {
        Ok(state)
    } else {
        Err(format!("asked for `{id}`, the server answers `{}`", state.task_id))
    }
}

/// An acknowledgement says nothing but that it is one.
fn acknowledged(answer: Result<Value, Failure>) -> Result<(), Failure> {
    let lost = |reason| Failure::Lost { retry_after: None, error: ClientError::InvalidResponse(reason) };
    check_type(&answer?).map_err(lost)
}

/// RES-02, RES-04: the type of a result may be left out, and some say `task` of a task.
fn check_type(result: &Value) -> Result<(), String> {
    match &result["resultType"] {
        Value::Null => Ok(()),
        Value::String(kind) if kind == "complete" || kind == "task" => Ok(()),
        kind => Err(format!("{kind} is no `resultType` of such an answer")),
    }
}

async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
