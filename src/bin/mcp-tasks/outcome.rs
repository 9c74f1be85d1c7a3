//! `Outcome`: how a call or a task ended, or where it stands; as JSON, for people, and as an exit code.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use crate::{
    exit::{Exit, Problem},
    output::Output,
    result::{self, Saver},
    text,
};

/// Where a call or a task stands when the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    Completed,
    ToolError,
    Failed,
    Cancelled,
    NeedsInput,
    Expired,
    Working,
}

/// The last line of `--json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    pub event: &'static str,
    pub outcome: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// Where the files of the result were kept, as the user wished.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PathBuf>,
}

impl Outcome {
    fn new(outcome: Kind, task_id: Option<&str>) -> Self {
        Self {
            event: "end",
            outcome,
            task_id: task_id.map(str::to_owned),
            result: None,
            error: None,
            input_requests: None,
            status_message: None,
            files: Vec::new(),
        }
    }

    /// A result (TSK-07: an error of the tool's own is one, too).
    pub fn result(result: Value, task_id: Option<&str>) -> Self {
        let kind = if result["isError"] == true { Kind::ToolError } else { Kind::Completed };
        Self { result: Some(result), ..Self::new(kind, task_id) }
    }

    /// An error of the protocol.
    pub fn error(error: Value, task_id: Option<&str>) -> Self {
        Self { error: Some(error), ..Self::new(Kind::Failed, task_id) }
    }

    /// Questions that nobody here answers.
    pub fn asked(requests: Value, task_id: Option<&str>) -> Self {
        Self { input_requests: Some(requests), ..Self::new(Kind::NeedsInput, task_id) }
    }

    /// The task is gone.
    pub fn expired(task_id: &str) -> Self {
        Self::new(Kind::Expired, Some(task_id))
    }

    /// The task goes on.
    pub fn working(task_id: &str) -> Self {
        Self::new(Kind::Working, Some(task_id))
    }

    /// Where `task`, as on the wire, stands.
    pub fn of(task: &Value) -> Self {
        let id = task["taskId"].as_str();
        let outcome = match task["status"].as_str() {
            Some("completed") => Self::result(task["result"].clone(), id),
            Some("failed") => Self::error(task["error"].clone(), id),
            Some("cancelled") => Self::new(Kind::Cancelled, id),
            Some("input_required") => Self::asked(task["inputRequests"].clone(), id),
            _ => Self::new(Kind::Working, id),
        };
        Self { status_message: task["statusMessage"].as_str().map(str::to_owned), ..outcome }
    }

    /// The code that the program ends with.
    pub fn exit(&self) -> Exit {
        match self.outcome {
            Kind::Completed => Exit::Done,
            Kind::ToolError => Exit::ToolError,
            Kind::Failed => Exit::Failed,
            Kind::Cancelled => Exit::Cancelled,
            Kind::NeedsInput => Exit::NeedsInput,
            Kind::Expired => Exit::Expired,
            Kind::Working => Exit::Working,
        }
    }

    /// Whether there is nothing left to follow.
    pub fn is_over(&self) -> bool {
        !matches!(self.outcome, Kind::NeedsInput | Kind::Working)
    }

    /// Writes it: a result to standard output, what is no result beside it.
    pub fn write(mut self, output: &Output, saver: &mut Saver) -> Result<Exit, Problem> {
        if output.json {
            self.files = saver.keep(self.result.as_ref().unwrap_or(&Value::Null))?;
            output.value(&self, |_| String::new())?;
        } else {
            self.tell(output, saver)?;
        }
        Ok(self.exit())
    }

    fn tell(&self, output: &Output, saver: &mut Saver) -> Result<(), Problem> {
        let id = self.task_id.as_deref().unwrap_or_default();
        let result = self.result.as_ref().unwrap_or(&Value::Null);
        match self.outcome {
            Kind::Completed => Output::line(&result::render(result, saver, output.terminal)?)?,
            Kind::ToolError => {
                output.note("The tool reports an error:");
                output.note(&result::render(result, saver, false)?);
            }
            Kind::Failed => output.note(&self.failed()),
            Kind::Cancelled => output.note("The task was cancelled."),
            Kind::Expired => output.note("The task is gone: it expired, or there never was such a task."),
            Kind::NeedsInput => output.note(&self.asks(id)),
            Kind::Working => output.note(&format!("The task goes on. Follow it with: mcp-tasks watch {id}")),
        }
        Ok(())
    }

    fn failed(&self) -> String {
        let error = self.error.as_ref().unwrap_or(&Value::Null);
        let message = text::printable(error["message"].as_str().unwrap_or("no reason is given"));
        let data = error.get("data").map(|data| format!("\n{}", result::readable(data, false))).unwrap_or_default();
        format!("The call failed: {message} (error {}){data}", error["code"])
    }

    fn asks(&self, id: &str) -> String {
        let requests = self.input_requests.as_ref().and_then(Value::as_object);
        let questions = requests.into_iter().flatten().map(|(key, request)| {
            let message = request["params"]["message"].as_str().or(request["method"].as_str()).unwrap_or("?");
            format!("\n  {}: {}", text::brief(key, 60), text::printable(message))
        });
        let questions: String = questions.collect();
        if id.is_empty() {
            return format!("The server asks before it begins; call the tool at a terminal to answer:{questions}");
        }
        format!("The task needs input:{questions}\nAnswer it with: mcp-tasks answer {id}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// TSK-05, TSK-07: each end is told from each other.
    #[test]
    fn the_exit_code_tells_the_ends_apart() {
        let exit = |task: Value| Outcome::of(&task).exit();
        assert_eq!(exit(json!({"status": "completed", "result": {"content": []}})), Exit::Done);
        assert_eq!(exit(json!({"status": "completed", "result": {"isError": true}})), Exit::ToolError);
        assert_eq!(exit(json!({"status": "failed", "error": {"code": 1}})), Exit::Failed);
        assert_eq!(exit(json!({"status": "cancelled"})), Exit::Cancelled);
        assert_eq!(exit(json!({"status": "input_required", "inputRequests": {}})), Exit::NeedsInput);
        assert_eq!(exit(json!({"status": "working"})), Exit::Working);
        assert_eq!(exit(json!({"status": "paused"})), Exit::Working);
        assert_eq!(Outcome::expired("a").exit(), Exit::Expired);
    }

    /// Case 39: a failed task's error reaches the user with code, message and data.
    #[test]
    fn a_failure_is_told_whole() {
        let outcome = Outcome::error(json!({"code": -32001, "message": "no wood", "data": {"wood": 0}}), Some("a"));
        assert_eq!(outcome.failed(), "The call failed: no wood (error -32001)\nwood  0");
    }
}
