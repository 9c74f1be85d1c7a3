//! What all variants of a detailed task have in common.

use crate::{DetailedTask, GetTaskResult, Task, TaskStatus};
use serde_json::Value;

impl<P> DetailedTask<P> {
    /// Whether the task never changes again (TSK-08).
    pub fn is_terminal(&self) -> bool {
        TaskStatus::from(self.status()).is_terminal()
    }
}

impl<P> GetTaskResult<P> {
    /// Whether the task never changes again (TSK-08).
    pub fn is_terminal(&self) -> bool {
        TaskStatus::from(self.status()).is_terminal()
    }
}

impl<P> TryFrom<DetailedTask<P>> for Task {
    type Error = serde_json::Error;

    /// The task without what only its status brings: `inputRequests`, `result` and `error` are left behind.
    ///
    /// # Errors
    /// Only for a status that is not known, made by hand with members that no task has.
    fn try_from(task: DetailedTask<P>) -> Result<Self, serde_json::Error> {
        match task {
            DetailedTask::Working(task) => Ok(task.into()),
            DetailedTask::InputRequired(task) => Ok(task.into()),
            DetailedTask::Completed(task) => Ok(task.into()),
            DetailedTask::Failed(task) => Ok(task.into()),
            DetailedTask::Cancelled(task) => Ok(task.into()),
            DetailedTask::Other { status, mut fields } => {
                fields.insert("status".to_owned(), status.into());
                serde_json::from_value(Value::Object(fields))
            }
        }
    }
}
