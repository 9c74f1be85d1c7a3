//! A visitor written by hand for the five kinds of task: what the generated reader is held against.

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::fmt;
use std::hint::black_box;

#[derive(Deserialize)]
struct Response {
    #[serde(rename = "jsonrpc")]
    version: Version,
    id: i64,
    result: DetailedTask,
}

#[derive(Deserialize)]
enum Version {
    #[serde(rename = "2.0")]
    Two,
}

#[expect(dead_code, reason = "read by nobody, but read from the message")]
struct Task {
    meta: Option<Value>,
    task_id: String,
    status_message: Option<String>,
    created_at: String,
    last_updated_at: String,
    ttl_ms: Option<u64>,
    poll_interval_ms: Option<u64>,
    extra: Map<String, Value>,
}

#[expect(dead_code, reason = "read by nobody, but read from the message")]
enum DetailedTask {
    Working(Task),
    InputRequired(Task, Value),
    Completed(Task, Box<RawValue>),
    Failed(Task, Value),
    Cancelled(Task),
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

enum Field {
    ResultType,
    Meta,
    TaskId,
    Status,
    StatusMessage,
    CreatedAt,
    LastUpdatedAt,
    TtlMs,
    PollIntervalMs,
    InputRequests,
    Result,
    Error,
    Other(String),
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldVisitor;

        impl Visitor<'_> for FieldVisitor {
            type Value = Field;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Field, E> {
                Ok(match name {
                    "resultType" => Field::ResultType,
                    "_meta" => Field::Meta,
                    "taskId" => Field::TaskId,
                    "status" => Field::Status,
                    "statusMessage" => Field::StatusMessage,
                    "createdAt" => Field::CreatedAt,
                    "lastUpdatedAt" => Field::LastUpdatedAt,
                    "ttlMs" => Field::TtlMs,
                    "pollIntervalMs" => Field::PollIntervalMs,
                    "inputRequests" => Field::InputRequests,
                    "result" => Field::Result,
                    "error" => Field::Error,
                    other => Field::Other(other.to_owned()),
                })
            }
        }

        deserializer.deserialize_identifier(FieldVisitor)
    }
}

impl<'de> Deserialize<'de> for DetailedTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TaskVisitor;

        impl<'de> Visitor<'de> for TaskVisitor {
            type Value = DetailedTask;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a task")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<DetailedTask, A::Error> {
                let mut meta = None;
                let mut task_id = None;
                let mut status = None;
                let mut status_message = None;
                let mut created_at = None;
                let mut last_updated_at = None;
                let mut ttl_ms = None;
                let mut poll_interval_ms = None;
                let mut input_requests = None;
                let mut result = None;
                let mut error = None;
                let mut extra = Map::new();
                while let Some(field) = map.next_key()? {
                    match field {
                        Field::ResultType => drop(map.next_value::<IgnoredAny>()?),
                        Field::Meta => meta = Some(map.next_value()?),
                        Field::TaskId => task_id = Some(map.next_value()?),
                        Field::Status => status = Some(map.next_value()?),
                        Field::StatusMessage => status_message = Some(map.next_value()?),
                        Field::CreatedAt => created_at = Some(map.next_value()?),
                        Field::LastUpdatedAt => last_updated_at = Some(map.next_value()?),
                        Field::TtlMs => ttl_ms = Some(map.next_value()?),
                        Field::PollIntervalMs => poll_interval_ms = Some(map.next_value()?),
                        Field::InputRequests => input_requests = Some(map.next_value()?),
                        Field::Result => result = Some(map.next_value()?),
                        Field::Error => error = Some(map.next_value()?),
                        Field::Other(name) => drop(extra.insert(name, map.next_value()?)),
                    }
                }
                let missing = A::Error::missing_field;
                let task = Task {
                    meta,
                    task_id: task_id.ok_or_else(|| missing("taskId"))?,
                    status_message,
                    created_at: created_at.ok_or_else(|| missing("createdAt"))?,
                    last_updated_at: last_updated_at.ok_or_else(|| missing("lastUpdatedAt"))?,
                    ttl_ms: ttl_ms.ok_or_else(|| missing("ttlMs"))?,
                    poll_interval_ms,
                    extra,
                };
                Ok(match status.ok_or_else(|| missing("status"))? {
                    Status::Working => DetailedTask::Working(task),
                    Status::InputRequired => {
                        DetailedTask::InputRequired(task, input_requests.ok_or_else(|| missing("inputRequests"))?)
                    }
                    Status::Completed => DetailedTask::Completed(task, result.ok_or_else(|| missing("result"))?),
                    Status::Failed => DetailedTask::Failed(task, error.ok_or_else(|| missing("error"))?),
                    Status::Cancelled => DetailedTask::Cancelled(task),
                })
            }
        }

        deserializer.deserialize_map(TaskVisitor)
    }
}

pub fn decode(line: &[u8]) -> u64 {
    let Response { version: Version::Two, id, result } = crate::read(black_box(line));
    black_box(id);
    match black_box(&result) {
        DetailedTask::Working(task) => task.task_id.len() as u64,
        _ => panic!("not a working task"),
    }
}
