//! `TaskState`: a task as its server last described it, read as leniently as a client may.

use std::time::Duration;

use indexmap::IndexMap;
use mcp_tasks_types::{ErrorObject, TaskStatus, Timestamp, support::JsonObject};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The key of `_meta` under which a server of this project's tells how far a task has come.
const PROGRESS: &str = "rs.mcp-tasks/progress";

/// The longest duration that the wire can say.
const LONGEST: f64 = 9_007_199_254_740_991.0;

/// A task as the server described it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskState {
    /// The server's name for the task.
    pub task_id: String,
    /// The status; one that is not known is kept as it came, and counts as not terminal.
    pub status: TaskStatus,
    /// What the server says about it to people.
    pub status_message: Option<String>,
    /// When the task was made, on the server's clock, as the server wrote it.
    pub created_at: String,
    /// When the task last changed, on the server's clock, as the server wrote it.
    pub last_updated_at: String,
    /// How long after its creation the server may forget it; `None` if it says no limit, or none that can be.
    pub ttl: Option<Duration>,
    /// How often the server wants to be asked, as it says; `None` if it does not, or says what cannot be (TSK-04).
    pub poll_interval: Option<Duration>,
    /// How far the task has come, from a server that tells (`_meta["rs.mcp-tasks/progress"]`).
    pub progress: Option<Progress>,
    /// The questions that are outstanding, under their keys. Empty unless the status is `input_required`.
    pub input_requests: IndexMap<String, InputRequest>,
    /// What came of the task.
    pub outcome: Option<Outcome>,
}

/// How far a task has come.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What is done, in units of the tool's.
    pub done: f64,
    /// What there is to do, in the same units.
    pub total: f64,
}

impl Progress {
    /// The share that is done, from 0 to 1; `None` where there is nothing to do.
    pub fn share(&self) -> Option<f64> {
        (self.total > 0.0).then(|| (self.done / self.total).clamp(0.0, 1.0))
    }
}

/// A request of the server's to the user, to the model, or for the roots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputRequest {
    /// `elicitation/create`, `sampling/createMessage`, `roots/list`, or whatever else the server asks for.
    pub method: String,
    /// The parameters as they came.
    #[serde(default)]
    pub params: Value,
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// With the result that the tool returned, as it came.
    Completed(JsonObject),
    /// With this error.
    Failed(ErrorObject),
    /// It was cancelled.
    Cancelled,
}

impl TaskState {
    /// Whether the task never changes again (TSK-08).
    pub fn is_terminal(&self) -> bool {
        self.outcome.is_some()
    }

    /// When the task last changed, in microseconds on the server's clock, if that can be read.
    pub(crate) fn changed_at(&self) -> Option<i64> {
        Timestamp::from(self.last_updated_at.as_str()).parse().ok().map(|moment| moment.as_microsecond())
    }

    /// Reads a task from a `CreateTaskResult`, an answer to `tasks/get` or a `notifications/tasks`.
    ///
    /// What is only about pace is taken as absent where it makes no sense, rather than losing a result over it (TSK-04,
    /// cases 21, 34, 37). What the status needs has to be there.
    ///
    /// # Errors
    /// What is missing, in words.
    pub fn read(value: &Value) -> Result<Self, String> {
        let task = value.as_object().ok_or("a task is an object")?;
        let task_id = text(task, "taskId").ok_or("`taskId` is missing")?.to_owned();
        let status = TaskStatus::from(text(task, "status").ok_or("`status` is missing")?);
        let outcome = outcome(task, &status)?;
        let input_requests = if status == TaskStatus::InputRequired { input_requests(task)? } else { IndexMap::new() };
        Ok(Self {
            task_id,
            status_message: text(task, "statusMessage").map(str::to_owned),
            created_at: text(task, "createdAt").unwrap_or_default().to_owned(),
            last_updated_at: text(task, "lastUpdatedAt").unwrap_or_default().to_owned(),
            ttl: duration(task, "ttlMs").filter(|ttl| !ttl.is_zero()),
            poll_interval: duration(task, "pollIntervalMs"),
            progress: task.get("_meta").and_then(|meta| Progress::deserialize(meta.get(PROGRESS)?).ok()),
            status,
            input_requests,
            outcome,
        })
    }

    /// Reads the task of a `CreateTaskResult`, which carries no payload: a status that would need one is only a hint there.
    ///
    /// # Errors
    /// What is missing, in words.
    pub fn read_created(value: &Value) -> Result<Self, String> {
        let mut task = value.clone();
        let fields = task.as_object_mut().ok_or("a task is an object")?;
        let terminal = matches!(text(fields, "status"), Some("completed" | "failed" | "cancelled" | "input_required"));
        if terminal {
            fields.insert("status".to_owned(), "working".into());
        }
        Self::read(&task)
    }
}

fn text<'a>(task: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    task.get(key)?.as_str()
}

fn outcome(task: &Map<String, Value>, status: &TaskStatus) -> Result<Option<Outcome>, String> {
    match status {
        TaskStatus::Completed => match task.get("result") {
            Some(Value::Object(result)) => Ok(Some(Outcome::Completed(result.clone()))),
            _ => Err("the task is completed, and `result` is missing".to_owned()),
        },
        TaskStatus::Failed => match task.get("error").map(ErrorObject::deserialize) {
            Some(Ok(error)) => Ok(Some(Outcome::Failed(error))),
            Some(Err(error)) => Err(format!("the task failed, and its `error` is none: {error}")),
            None => Err("the task failed, and `error` is missing".to_owned()),
        },
        TaskStatus::Cancelled => Ok(Some(Outcome::Cancelled)),
        _ => Ok(None),
    }
}

/// The questions; a task that says it has some and shows none is waited for.
fn input_requests(task: &Map<String, Value>) -> Result<IndexMap<String, InputRequest>, String> {
    match task.get("inputRequests") {
        None | Some(Value::Null) => Ok(IndexMap::new()),
        Some(requests) => read_requests(requests),
    }
}

/// Reads `inputRequests` (CLI-08).
///
/// # Errors
/// Which one is no request, in words.
pub(crate) fn read_requests(requests: &Value) -> Result<IndexMap<String, InputRequest>, String> {
    let requests = requests.as_object().ok_or("`inputRequests` is not an object")?;
    let read = |(key, request): (&String, &Value)| {
        InputRequest::deserialize(request)
            .map(|request| (key.clone(), request))
            .map_err(|error| format!("`inputRequests.{key}` is no request: {error}"))
    };
    requests.iter().map(read).collect()
}

/// A duration in whole milliseconds. What is no duration is logged and left out.
fn duration(task: &Map<String, Value>, key: &str) -> Option<Duration> {
    let value = task.get(key).filter(|value| !value.is_null())?;
    match value.as_f64() {
        Some(ms) if (0.0..=LONGEST).contains(&ms) && ms.fract() == 0.0 => {
            // Within the range that was checked, the conversion is exact.
            Some(Duration::from_millis(ms as u64))
        }
        _ => {
            tracing::warn!(%value, key, "the server gives a duration that is none");
            None
        }
    }
}
