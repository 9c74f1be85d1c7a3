//! What an operator is told: values, which are the JSON of `--json` as they stand.
//!
//! Names are those of the wire where it has the same thing.

use mcp_tasks::{
    clock::UnixMillis,
    input::{InputEntry, InputState},
    store::admin::{Position, Stats},
    task::{Failure, OnCancel, OnRestart, Settlement, TaskRecord, TaskState, TaskStatus},
    task_id::TaskId,
};
use serde::Serialize;
use serde_json::Value;

use crate::text;

/// A task, in short.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub task_id: String,
    pub status: &'static str,
    pub tool: String,
    pub version: String,
    pub method: String,
    pub principal: String,
    pub created_at: String,
    pub last_updated_at: String,
    /// When it was created, in milliseconds since the Unix epoch.
    #[serde(skip)]
    pub created: UnixMillis,
    #[serde(skip)]
    pub gone: UnixMillis,
    pub ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    pub attempt: u32,
    pub cancel_requested: bool,
}

/// How far a tool says it has come.
#[derive(Debug, Serialize)]
pub struct Progress {
    pub done: u64,
    pub total: u64,
}

/// Some tasks, and where the rest begins.
#[derive(Debug, Serialize)]
pub struct Page {
    pub tasks: Vec<Summary>,
    /// What `--after` takes; `None` if these are all.
    pub next: Option<String>,
}

/// All that is known of a task.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Detail {
    #[serde(flatten)]
    pub summary: Summary,
    pub poll_interval_ms: Option<u64>,
    pub on_cancel: &'static str,
    pub on_restart: String,
    pub rev: u64,
    pub epoch: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
}

/// An input request.
#[derive(Debug, Serialize)]
pub struct Input {
    pub key: String,
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
}

/// A recorded step.
#[derive(Debug, Serialize)]
pub struct Step {
    pub key: String,
    pub value: Value,
}

/// What came of a wish to cancel.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    pub task_id: String,
    pub status: &'static str,
    /// Whether the tool was told, and settles the task in its own time.
    pub cancel_requested: bool,
    /// Whether it had ended before, so that nothing has changed.
    pub had_ended: bool,
}

/// What came of a retry.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Retried {
    pub task_id: String,
    pub how: How,
    /// The task that runs now: the same, or a new one.
    pub runs_as: String,
}

/// How a task is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum How {
    /// The right to run it was taken from its worker; the next free worker takes it.
    TakenFromItsWorker,
    /// A new task does the same.
    NewTask,
}

/// How many are gone.
#[derive(Debug, Serialize)]
pub struct Purged {
    pub removed: usize,
}

/// How a store stands.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Numbers {
    pub tools: Vec<ToolNumbers>,
    pub unclaimed: u64,
    pub oldest_unclaimed_at: Option<String>,
    #[serde(skip)]
    pub oldest_unclaimed: Option<UnixMillis>,
    pub leased: u64,
    pub overdue: u64,
    pub bytes: Option<u64>,
}

/// How many tasks of a tool there are in each status.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct ToolNumbers {
    pub tool: String,
    pub working: u64,
    pub input_required: u64,
    pub completed: u64,
    pub failed: u64,
    pub cancelled: u64,
}

impl Summary {
    pub fn of(record: &TaskRecord) -> Self {
        let gone = record.gone_at();
        Self {
            task_id: record.id.to_string(),
            status: record.status().as_str(),
            tool: record.target.name.to_string(),
            version: record.target.version.to_string(),
            method: record.target.method.to_string(),
            principal: record.principal.to_string(),
            created_at: text::moment(record.created_at),
            last_updated_at: text::moment(record.last_updated_at),
            created: record.created_at,
            gone,
            ttl_ms: record.ttl.map(millis),
            gone_at: (gone != UnixMillis::NEVER).then(|| text::moment(gone)),
            status_message: record.status_message.as_deref().map(str::to_owned),
            progress: record.progress.map(|p| Progress { done: p.done, total: p.total }),
            attempt: record.attempt,
            cancel_requested: record.cancel_requested,
        }
    }
}

impl Detail {
    pub fn of(record: &TaskRecord) -> Self {
        let (result, error) = match &record.state {
            TaskState::Open | TaskState::Settled(Settlement::Cancelled) => (None, None),
            TaskState::Settled(Settlement::Completed(result)) => (Some(payload(result)), None),
            TaskState::Settled(Settlement::Failed(failure)) => (None, Some(failed(failure))),
        };
        let arguments = record.journal.arguments();
        Self {
            summary: Summary::of(record),
            poll_interval_ms: record.poll_interval.map(millis),
            on_cancel: match record.on_cancel {
                OnCancel::Drop => "drop",
                OnCancel::Signal => "signal",
            },
            on_restart: match record.on_restart {
                OnRestart::Fail => "fail".to_owned(),
                OnRestart::Rerun { max_attempts } => format!("rerun, at most {max_attempts} attempts"),
            },
            rev: record.rev.0,
            epoch: record.epoch.0,
            arguments: (!arguments.is_empty()).then(|| payload(arguments)),
            inputs: record.inputs().entries().iter().map(Input::of).collect(),
            steps: record.journal.steps().iter().map(Step::of).collect(),
            result,
            error,
        }
    }
}

impl Input {
    fn of(entry: &InputEntry) -> Self {
        let (state, request, response) = match &entry.state {
            InputState::Outstanding { request } => ("outstanding", Some(payload(request)), None),
            InputState::Answered { response } => ("answered", None, Some(payload(response))),
            InputState::Withdrawn => ("withdrawn", None, None),
        };
        Self { key: entry.key.to_string(), state, request, response }
    }
}

impl Step {
    fn of(step: &mcp_tasks::task::Step) -> Self {
        Self { key: step.key.to_string(), value: payload(&step.value) }
    }
}

impl Numbers {
    pub fn of(stats: &Stats) -> Self {
        let mut tools: Vec<ToolNumbers> = Vec::new();
        for ((tool, status), count) in &stats.tasks {
            if tools.last().is_none_or(|last| last.tool != **tool) {
                tools.push(ToolNumbers { tool: tool.to_string(), ..ToolNumbers::default() });
            }
            if let Some(last) = tools.last_mut() {
                *last.of_status(*status) += count;
            }
        }
        Self {
            tools,
            unclaimed: stats.unclaimed,
            oldest_unclaimed_at: stats.oldest_unclaimed.map(text::moment),
            oldest_unclaimed: stats.oldest_unclaimed,
            leased: stats.leased,
            overdue: stats.overdue,
            bytes: stats.bytes,
        }
    }
}

impl ToolNumbers {
    fn of_status(&mut self, status: TaskStatus) -> &mut u64 {
        match status {
            TaskStatus::Working => &mut self.working,
            TaskStatus::InputRequired => &mut self.input_required,
            TaskStatus::Completed => &mut self.completed,
            TaskStatus::Failed => &mut self.failed,
            TaskStatus::Cancelled => &mut self.cancelled,
        }
    }
}

/// The error that a client of the task reads.
fn failed(failure: &Failure) -> Value {
    match failure {
        Failure::Reported { error, .. } => payload(error),
        other => Value::String(other.message().to_string()),
    }
}

/// A payload: JSON as it is, and what is no JSON by its size, for it cannot be shown.
pub fn payload(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_else(|_| serde_json::json!({ "unreadableBytes": bytes.len() }))
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A position as `--after` takes it.
pub fn position(position: Position) -> String {
    format!("{}-{}", position.created_at.get(), position.id)
}

/// Reads a position that [`position`] wrote.
pub fn parse_position(text: &str) -> Result<Position, String> {
    let parsed = text.split_once('-').and_then(|(created, id)| {
        Some(Position { created_at: UnixMillis::new(created.parse().ok()?), id: id.parse::<TaskId>().ok()? })
    });
    parsed.ok_or_else(|| "a position is what an earlier list gave as `next`".to_owned())
}
