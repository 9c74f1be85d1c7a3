//! Tasks of a server, over one session: the only file that talks to a server about them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use mcp_tasks::clock::BoxFuture;
use rmcp::{
    ClientHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, ErrorCode, GetTaskParams, GetTaskResult,
        InputResponses, UpdateTaskParams,
    },
    service::ServiceError,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{
    connect::Session,
    exit::Problem,
    person::{Person, Question},
};

/// What a call came to.
pub enum Called {
    /// A result at once.
    Result(Value),
    /// An error of the protocol at once.
    Error(Value),
    /// A question at once, and nobody here to answer it.
    Asked(Value),
    /// A task.
    Task(Value),
}

/// What is kept of a task that is not over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// The questions that were answered already (CLI-04).
    pub answered: BTreeSet<String>,
}

/// Calls a tool. Questions before there is a task are put to `person`.
pub async fn call<H: ClientHandler>(
    session: &Session<H>,
    tool: &str,
    arguments: Map<String, Value>,
    person: Option<&Person>,
) -> Result<Called, Problem> {
    let mut params = CallToolRequestParams::new(tool.to_owned());
    params.arguments = Some(arguments);
    loop {
        match session.call_tool_once(params.clone()).await {
            Ok(CallToolResponse::Complete(result)) => return Ok(Called::Result(value(&result)?)),
            Ok(CallToolResponse::Task(task)) => return Ok(Called::Task(value(&task)?)),
            Ok(CallToolResponse::InputRequired(asked)) => {
                let requests = value(&asked.input_requests.unwrap_or_default())?;
                let Some(person) = person else { return Ok(Called::Asked(requests)) };
                params.input_responses = Some(answers(person, &requests).await?);
                params.request_state = asked.request_state;
            }
            Ok(_) => return Err(Problem::new("the server's answer is of a kind that is not known")),
            Err(ServiceError::McpError(error)) => return Ok(Called::Error(value(&error)?)),
            Err(error) => return Err(lost(error)),
        }
    }
}

async fn answers(person: &Person, requests: &Value) -> Result<InputResponses, Problem> {
    let mut answers = BTreeMap::new();
    for (key, request) in requests.as_object().into_iter().flatten() {
        answers.insert(key.clone(), answer(person, request).await?);
    }
    Ok(answers)
}

async fn answer(person: &Person, request: &Value) -> Result<Value, Problem> {
    match (request["method"].as_str(), Question::of(&request["params"])) {
        (Some("elicitation/create"), Some(question)) => value(&person.answer(question).await?),
        (Some("roots/list"), _) => Ok(json!({"roots": []})),
        (method, _) => {
            Err(Problem::new(format!("the server asks what nobody here can answer: {}", method.unwrap_or("?"))))
        }
    }
}

/// The task as it stands; `None` if it is gone (GET-03).
pub async fn get<H: ClientHandler>(session: &Session<H>, id: &str) -> Result<Option<Value>, Problem> {
    fetch(session, id).await.map_err(lost)?.map(|task| value(&task)).transpose()
}

async fn fetch<H: ClientHandler>(session: &Session<H>, id: &str) -> Result<Option<GetTaskResult>, ServiceError> {
    match session.get_task(GetTaskParams::new(id)).await {
        Ok(task) => Ok(Some(task)),
        Err(ServiceError::McpError(error)) if error.code == ErrorCode::INVALID_PARAMS => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sends answers.
pub async fn update<H: ClientHandler>(session: &Session<H>, id: &str, answers: InputResponses) -> Result<(), Problem> {
    session.update_task(UpdateTaskParams::new(id, answers)).await.map_err(lost)
}

/// Asks for a task to be cancelled.
pub async fn cancel<H: ClientHandler>(session: &Session<H>, id: &str) -> Result<(), Problem> {
    session.cancel_task(CancelTaskParams::new(id)).await.map_err(lost)
}

fn value<T: Serialize>(value: &T) -> Result<Value, Problem> {
    serde_json::to_value(value)
        .map_err(|error| Problem::new("the server's answer cannot be written as JSON").because(error))
}

/// Whether it may work the next time.
fn may_pass(error: &ServiceError) -> bool {
    matches!(error, ServiceError::TransportSend(_) | ServiceError::Timeout { .. }) && error.auth_challenge().is_none()
}

fn lost(error: ServiceError) -> Problem {
    match error {
        ServiceError::McpError(error) => {
            Problem::new(format!("the server refuses: {} ({})", error.message, error.code.0))
        }
        // The name of the transport's Rust type tells nobody anything.
        ServiceError::TransportSend(error) => Problem::new("the server was lost").because(error.error),
        other => Problem::new("the server was lost").because(other),
    }
}

/// A task that is followed.
pub struct Follow<'a, H: ClientHandler> {
    session: &'a Session<H>,
    id: String,
    /// Who answers its questions.
    person: Option<Person>,
    ticket: Ticket,
    last: Option<Value>,
    next: Instant,
    /// The question that is before the person.
    asking: Option<Asking>,
    /// Answers that the server has not acknowledged (case 16).
    unsent: InputResponses,
    /// How many requests in a row were lost.
    lost: u32,
}

/// How many requests in a row may be lost before the server is.
const PATIENCE: u32 = 8;

/// A question that is before the person.
struct Asking {
    key: String,
    answer: BoxFuture<'static, Result<Value, Problem>>,
}

impl<'a, H: ClientHandler> Follow<'a, H> {
    pub fn new(session: &'a Session<H>, id: &str, person: Option<Person>, ticket: Ticket) -> Self {
        Self {
            session,
            id: id.to_owned(),
            person,
            ticket,
            last: None,
            next: Instant::now(),
            asking: None,
            unsent: BTreeMap::new(),
            lost: 0,
        }
    }

    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// The next state that differs from the one before; `None` if the task is gone. Its questions are put to the person
    /// meanwhile: each once (CLI-04), and only for as long as the server asks.
    pub async fn next(&mut self) -> Result<Option<Value>, Problem> {
        loop {
            self.ask();
            tokio::select! {
                answer = answered(&mut self.asking) => self.answered(answer?),
                () = tokio::time::sleep_until(self.next.into()) => match self.turn().await {
                    Ok(None) => return Ok(None),
                    Ok(Some(task)) => {
                        self.lost = 0;
                        let state = value(&task)?;
                        let interval = state["pollIntervalMs"].as_u64().unwrap_or(1_000).clamp(20, 60_000);
                        self.next = Instant::now() + Duration::from_millis(interval);
                        if self.last.as_ref() != Some(&state) {
                            self.last = Some(state.clone());
                            return Ok(Some(state));
                        }
                    }
                    // Case 41: a network is allowed to fail for a while.
                    Err(error) if may_pass(&error) && self.lost < PATIENCE => {
                        self.lost += 1;
                        self.next = Instant::now() + Duration::from_millis(100 << self.lost.min(6));
                    }
                    Err(error) => return Err(lost(error)),
                },
            }
        }
    }

    /// Sends what is to be sent, and looks how the task stands.
    async fn turn(&mut self) -> Result<Option<GetTaskResult>, ServiceError> {
        if !self.unsent.is_empty() {
            self.session.update_task(UpdateTaskParams::new(self.id.as_str(), self.unsent.clone())).await?;
            self.unsent.clear();
        }
        fetch(self.session, &self.id).await
    }

    /// Puts the first question that was not answered yet to the person, and takes back one that is no longer asked.
    fn ask(&mut self) {
        let (Some(person), Some(state)) = (&self.person, &self.last) else { return };
        let outstanding = &state["inputRequests"];
        self.asking.take_if(|asking| outstanding.get(&asking.key).is_none());
        if self.asking.is_none() {
            let open = outstanding.as_object().into_iter().flatten();
            let first = open.into_iter().find(|(key, _)| !self.ticket.answered.contains(*key));
            self.asking = first.map(|(key, request)| {
                let (person, request) = (person.clone(), request.clone());
                let answer = async move { answer(&person, &request).await };
                Asking { key: key.clone(), answer: Box::pin(answer) }
            });
        }
    }

    /// Keeps an answer until it is sent, which is at once.
    fn answered(&mut self, answer: Value) {
        if let Some(asking) = self.asking.take() {
            self.ticket.answered.insert(asking.key.clone());
            self.unsent.insert(asking.key, answer);
            self.next = Instant::now();
        }
    }
}

/// The answer to a question that is before the person; never, if there is none.
async fn answered(asking: &mut Option<Asking>) -> Result<Value, Problem> {
    match asking {
        Some(asking) => asking.answer.as_mut().await,
        None => std::future::pending().await,
    }
}
