//! Tasks of a server, over one session: the only file that talks to a server about them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use mcp_tasks::clock::BoxFuture;
use rmcp::{
    ClientHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, ErrorCode, GetTaskParams, InputResponses,
        UpdateTaskParams,
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
    match session.get_task(GetTaskParams::new(id)).await {
        Ok(task) => value(&task).map(Some),
        Err(ServiceError::McpError(error)) if error.code == ErrorCode::INVALID_PARAMS => Ok(None),
        Err(error) => Err(lost(error)),
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

fn lost(error: ServiceError) -> Problem {
    match error {
        ServiceError::McpError(error) => {
            Problem::new(format!("the server refuses: {} ({})", error.message, error.code.0))
        }
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
}

/// A question that is before the person.
struct Asking {
    key: String,
    answer: BoxFuture<'static, Result<Value, Problem>>,
}

impl<'a, H: ClientHandler> Follow<'a, H> {
    pub fn new(session: &'a Session<H>, id: &str, person: Option<Person>, ticket: Ticket) -> Self {
        Self { session, id: id.to_owned(), person, ticket, last: None, next: Instant::now(), asking: None }
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
                answer = answered(&mut self.asking) => self.send(answer?).await?,
                () = tokio::time::sleep_until(self.next.into()) => {
                    let Some(state) = get(self.session, &self.id).await? else { return Ok(None) };
                    let interval = state["pollIntervalMs"].as_u64().unwrap_or(1_000).clamp(20, 60_000);
                    self.next = Instant::now() + Duration::from_millis(interval);
                    if self.last.as_ref() != Some(&state) {
                        self.last = Some(state.clone());
                        return Ok(Some(state));
                    }
                }
            }
        }
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

    async fn send(&mut self, answer: Value) -> Result<(), Problem> {
        let Some(asking) = self.asking.take() else { return Ok(()) };
        self.ticket.answered.insert(asking.key.clone());
        update(self.session, &self.id, BTreeMap::from([(asking.key, answer)])).await
    }
}

/// The answer to a question that is before the person; never, if there is none.
async fn answered(asking: &mut Option<Asking>) -> Result<Value, Problem> {
    match asking {
        Some(asking) => asking.answer.as_mut().await,
        None => std::future::pending().await,
    }
}
