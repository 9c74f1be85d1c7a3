//! Tasks of a server, over one session: the only file that knows the client library.
//!
//! What goes out of here are tasks as JSON, in the words of the wire, as scripts read them.

use std::{error::Error, time::Duration};

use mcp_tasks::client::{
    Called as Answer, Cause, ClientError, ClientOptions, FollowOptions, Input, Outcome, TaskClient, TaskHandle,
    TaskState,
};
use rmcp::{
    RoleClient, ServiceError,
    model::{CallToolRequestParams, Tool},
    transport::{DynamicTransportError, IntoTransport},
};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub use mcp_tasks::client::Ticket;

use crate::{connect, exit::Problem, person::Person, tickets::Place};

/// How long a server on stdio may take to end.
const FAREWELL: Duration = Duration::from_secs(8);

/// A session with a server.
#[derive(Debug, Clone)]
pub struct Session {
    client: TaskClient,
    person: Person,
}

/// What a call came to.
pub enum Called {
    /// A result at once.
    Result(Value),
    /// An error of the protocol at once.
    Error(Value),
    /// A question at once, and nobody here to answer it.
    Asked(Value),
    /// A task.
    Task(Follow),
}

impl Session {
    /// Opens a session over a transport. Questions of the server go to `person`.
    ///
    /// # Errors
    /// If the server does not answer as one.
    pub async fn open<T, E, A>(place: &Place, transport: T, person: Person) -> Result<Self, Problem>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: Error + Send + Sync + 'static,
    {
        let (Place::Url(server) | Place::Stdio(server)) = place;
        let options = ClientOptions::default().with_server(server);
        let client = TaskClient::connect_with(person.clone(), transport, options).await;
        Ok(Self { client: client.map_err(|error| connect::unreachable(place, error))?, person })
    }

    /// What the server said of itself, and whether it offers tasks.
    pub fn server(&self) -> (Value, String, bool) {
        let info = self.client.peer().peer_info();
        let name = info.as_ref().and_then(|info| serde_json::to_value(&info.server_info).ok());
        let version = info.map_or_else(String::new, |info| info.protocol_version.to_string());
        (name.unwrap_or_default(), version, self.client.offers_tasks())
    }

    /// The server's tools.
    ///
    /// # Errors
    /// If it does not list them.
    pub async fn tools(&self) -> Result<Vec<Tool>, Problem> {
        let tools = self.client.peer().list_all_tools().await;
        tools.map_err(|error| Problem::new("the server does not list its tools").because(plain(Cause::new(error))))
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// If there is no answer.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<Called, Problem> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        match self.client.call_tool_task_with(params, self.options()).await {
            Ok(Answer::Result(result)) => Ok(Called::Result(value(&result)?)),
            Ok(Answer::Task(handle)) => Ok(Called::Task(Follow(handle))),
            Err(ClientError::Rpc { code, message, data }) => Ok(Called::Error(error(code, &message, data.as_deref()))),
            Err(problem) => match self.person.unanswered() {
                Some(question) => Ok(Called::Asked(question)),
                None => Err(lost(problem)),
            },
        }
    }

    /// Follows a task, from where `ticket` is.
    ///
    /// # Errors
    /// If the ticket is not of this server.
    pub fn follow(&self, ticket: Ticket) -> Result<Follow, Problem> {
        self.client.resume_with(ticket, self.options()).map(Follow).map_err(lost)
    }

    /// A ticket for a task of which only the id is known.
    pub fn ticket(&self, id: &str) -> Ticket {
        Ticket::new(self.client.server(), id)
    }

    /// The task as it stands; `None` if it is gone (GET-03).
    ///
    /// # Errors
    /// If there is no answer.
    pub async fn get(&self, id: &str) -> Result<Option<Value>, Problem> {
        match self.client.get_task(id).await {
            Ok(task) => Ok(Some(wire(&task))),
            Err(ClientError::NotFound | ClientError::Expired) => Ok(None),
            Err(error) => Err(lost(error)),
        }
    }

    /// Answers a question of a task, and waits until the server has the answer.
    ///
    /// # Errors
    /// If the server does not take it.
    pub async fn answer(&self, ticket: Ticket, key: &str, response: Value) -> Result<Ticket, Problem> {
        let options = FollowOptions::default().with_input(Input::Manual).with_poll_only();
        let handle = self.client.resume_with(ticket, options).map_err(lost)?;
        handle.answer(key, response).await.map_err(lost)?;
        Ok(handle.detach())
    }

    /// Asks for a task to be cancelled.
    ///
    /// # Errors
    /// If the server does not take it.
    pub async fn cancel(&self, id: &str) -> Result<(), Problem> {
        self.client.cancel_task(id).await.map_err(lost)
    }

    /// Ends the session, and waits for a server that was started here to end.
    pub async fn close(self) {
        self.client.close();
        let gone = async {
            while !self.client.peer().is_transport_closed() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        // One that does not end is left to the operating system.
        let _ = tokio::time::timeout(FAREWELL, gone).await;
    }

    /// Without a person questions are shown and not asked.
    fn options(&self) -> FollowOptions {
        let input = if self.person.is_there() { Input::Handler } else { Input::Manual };
        FollowOptions::default().with_input(input)
    }
}

/// A task that is followed.
#[derive(Debug)]
pub struct Follow(TaskHandle);

impl Follow {
    /// The task as it was last seen.
    pub fn task(&self) -> Option<Value> {
        self.0.state().as_ref().map(wire)
    }

    /// What is kept of it.
    pub fn ticket(&self) -> Ticket {
        self.0.ticket()
    }

    /// The next state; `None` if the task is gone. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// If the server was lost, or asks what nobody here can answer.
    pub async fn next(&mut self) -> Result<Option<Value>, Problem> {
        if let Some(state) = self.0.next_state().await {
            return Ok(Some(wire(&state)));
        }
        match self.0.result().await {
            Err(ClientError::Expired | ClientError::NotFound) => Ok(None),
            Err(error) => Err(lost(error)),
            Ok(result) => {
                Ok(Some(json!({"taskId": self.0.task_id(), "status": "completed", "result": value(&result)?})))
            }
        }
    }
}

/// A task as the wire has it, as far as it was read.
fn wire(task: &TaskState) -> Value {
    let mut wire = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        wire.extend(value.map(|value| (key.to_owned(), value)));
    };
    let text = |text: &str| (!text.is_empty()).then(|| Value::from(text));
    let millis =
        |duration: Option<Duration>| duration.map(|d| Value::from(u64::try_from(d.as_millis()).unwrap_or(u64::MAX)));
    put("taskId", Some(task.task_id.as_str().into()));
    put("status", serde_json::to_value(&task.status).ok());
    put("statusMessage", task.status_message.as_deref().map(Value::from));
    put("createdAt", text(&task.created_at));
    put("lastUpdatedAt", text(&task.last_updated_at));
    put("ttlMs", Some(millis(task.ttl).unwrap_or_default()));
    put("pollIntervalMs", millis(task.poll_interval));
    put("_meta", task.progress.map(|progress| {
        json!({ crate::live::PROGRESS: { "done": units(progress.done), "total": units(progress.total) } })
    }));
    if !task.input_requests.is_empty() {
        put("inputRequests", serde_json::to_value(&task.input_requests).ok());
    }
    match &task.outcome {
        Some(Outcome::Completed(result)) => put("result", Some(Value::Object(result.clone()))),
        Some(Outcome::Failed(error)) => put("error", serde_json::to_value(error).ok()),
        Some(Outcome::Cancelled) | None => {}
    }
    Value::Object(wire)
}

/// Units as most servers write them: whole ones as integers.
fn units(units: f64) -> Value {
    let whole = units.fract() == 0.0 && (0.0..1e15).contains(&units);
    // Within that range the conversion is exact.
    if whole { Value::from(units as u64) } else { Value::from(units) }
}

fn error(code: i64, message: &str, data: Option<&Value>) -> Value {
    let mut error = json!({ "code": code, "message": message });
    if let (Some(data), Some(error)) = (data, error.as_object_mut()) {
        error.insert("data".to_owned(), data.clone());
    }
    error
}

fn value<T: Serialize>(value: &T) -> Result<Value, Problem> {
    serde_json::to_value(value)
        .map_err(|error| Problem::new("the server's answer cannot be written as JSON").because(error))
}

fn lost(error: ClientError) -> Problem {
    match error {
        ClientError::Transport(cause) => Problem::new("the server was lost").because(plain(cause)),
        ClientError::AnswerRefused { message, data, .. } => {
            let details = data.map(|data| format!(": {data}")).unwrap_or_default();
            Problem::new(format!("the server does not take the answer: {message}{details}"))
        }
        other => Problem::new(other.to_string()),
    }
}

/// The cause without the name of the transport's Rust type, which tells nobody anything.
fn plain(cause: Cause) -> String {
    let error = cause.get();
    if let Some(ServiceError::TransportSend(error)) = error.downcast_ref() {
        return error.error.to_string();
    }
    error.downcast_ref::<DynamicTransportError>().map_or_else(|| error.to_string(), |error| error.error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a script reads is what the server wrote, as far as the client knows it.
    #[test]
    fn a_task_is_in_the_words_of_the_wire() {
        let failed = json!({
            "taskId": "a", "status": "failed", "statusMessage": "no", "createdAt": "2026-07-28T00:00:00Z",
            "lastUpdatedAt": "2026-07-28T00:00:01Z", "ttlMs": null, "pollIntervalMs": 100,
            "_meta": {"rs.mcp-tasks/progress": {"done": 1, "total": 2}},
            "error": {"code": -32001, "message": "no", "data": {"wood": 0}},
        });
        assert_eq!(wire(&TaskState::read(&failed).expect("a task")), failed);
        let asks = json!({
            "taskId": "a", "status": "input_required", "createdAt": "2026-07-28T00:00:00Z",
            "lastUpdatedAt": "2026-07-28T00:00:01Z", "ttlMs": 60_000,
            "inputRequests": {"name": {"method": "elicitation/create", "params": {"message": "Who?"}}},
        });
        assert_eq!(wire(&TaskState::read(&asks).expect("a task")), asks);
    }
}
