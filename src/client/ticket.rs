//! `Ticket`: what is needed to go on following a task after a crash or a restart.

use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use super::TaskState;

/// A task to be resumed (CLI-03): a small value that can be written down as JSON and read by a later version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Ticket {
    /// The server that has the task: see [`ClientOptions::server`](super::ClientOptions::server).
    pub server: String,
    /// The server's name for the task.
    pub task_id: String,
    /// When this client learned of the task, on this client's clock, in milliseconds of Unix time.
    pub created: u64,
    /// How long the server keeps the task from then on, in milliseconds; `None` is for as long as it likes.
    pub ttl: Option<u64>,
    /// The keys that have been answered, and are not asked or answered again.
    #[serde(default)]
    pub answered: BTreeSet<String>,
    /// The task as it was last seen.
    #[serde(default)]
    pub last: Option<TaskState>,
}

impl Ticket {
    /// A ticket for a task of which only the id is known, such as one that another process made.
    pub fn new(server: impl Into<String>, task_id: impl Into<String>) -> Self {
        Self {
            server: server.into(),
            task_id: task_id.into(),
            created: unix_ms(),
            ttl: None,
            answered: BTreeSet::new(),
            last: None,
        }
    }

    /// How long ago this client learned of the task. Nothing if its clock has been set back.
    pub fn age(&self) -> Duration {
        Duration::from_millis(unix_ms().saturating_sub(self.created))
    }

    /// Whether the task has ended or its time to live is over, so that the ticket is of no use.
    pub fn is_over(&self) -> bool {
        let expired = self.ttl.is_some_and(|ttl| self.age() > Duration::from_millis(ttl));
        expired || self.last.as_ref().is_some_and(TaskState::is_terminal)
    }
}

fn unix_ms() -> u64 {
    millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// A time as tickets have it.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
