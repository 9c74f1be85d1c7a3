//! `ToolOptions`: what `#[task_tool(..)]` says about the tasks of a tool, and `CallInfo`, from which `when` decides.

use std::{fmt, time::Duration};

use serde::de::DeserializeOwned;

use crate::{
    principal::Principal,
    task::{self, OnCancel},
    types::support::JsonObject,
};

/// Who gets a task for a call of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskMode {
    /// A task for clients that declare tasks, a plain result for others (CAP-07).
    #[default]
    Optional,
    /// A task for clients that declare tasks, an error for others (CAP-05).
    Required,
}

/// What happens to a running task when the server restarts. Obeyed by durable stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnRestart {
    /// It ends as failed; the tool runs at most once.
    #[default]
    Fail,
    /// The tool runs again from its start.
    Rerun,
}

/// How often a tool is started in all, for one call, where it runs again after a restart and says no other number.
pub const MAX_ATTEMPTS: u32 = 5;

/// A call, as the fn of `when = ..` sees it before anything runs.
///
/// ```
/// use mcp_tasks::{CallInfo, task_tool};
///
/// fn is_large(call: &CallInfo) -> bool {
///     call.argument::<u64>("rows").is_some_and(|rows| rows > 10_000)
/// }
///
/// /// Exports rows; a small export is answered at once.
/// #[task_tool(when = is_large)]
/// async fn export(rows: u64) -> u64 {
///     rows
/// }
/// # let principal = mcp_tasks::principal::Principal::local();
/// # let arguments = serde_json::json!({"rows": 20_000}).as_object().cloned().unwrap();
/// assert!(is_large(&CallInfo::new("export", &arguments, &principal)));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CallInfo<'a> {
    name: &'a str,
    arguments: &'a JsonObject,
    principal: &'a Principal,
    answers: bool,
}

impl<'a> CallInfo<'a> {
    /// A call of the tool `name`.
    pub const fn new(name: &'a str, arguments: &'a JsonObject, principal: &'a Principal) -> Self {
        Self { name, arguments, principal, answers: false }
    }

    /// The same call, with or without answers to questions of an earlier round.
    #[must_use]
    pub const fn with_answers(mut self, answers: bool) -> Self {
        self.answers = answers;
        self
    }

    /// Whether the client has called before, was asked something, and calls again with the answers (NEW-02).
    ///
    /// A tool whose `when` is this asks its questions before there is a task, and does its work as one: the fn runs inside
    /// the request up to its first question, and again from its start, as a task, once the answers are there.
    pub const fn has_answers(&self) -> bool {
        self.answers
    }

    /// The tool's name.
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// The arguments as they came. They fit the tool: others never get this far (ERR-04).
    pub const fn arguments(&self) -> &'a JsonObject {
        self.arguments
    }

    /// One argument, if it was given and is a `T`.
    pub fn argument<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.arguments.get(name)?).ok()
    }

    /// Who calls.
    pub const fn principal(&self) -> &'a Principal {
        self.principal
    }
}

/// Decides, from a call, whether it becomes a task.
pub type When = fn(&CallInfo<'_>) -> bool;

/// The options of one tool. [`new`](Self::new) has the defaults of `#[task_tool]`.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolOptions {
    /// How long a task is kept, from its creation; `None` is for ever.
    pub ttl: Option<Duration>,
    /// How often the client should poll.
    pub poll_interval: Duration,
    /// Who gets a task.
    pub mode: TaskMode,
    /// Which calls become tasks; all, if not said.
    pub when: Option<When>,
    /// How long a call runs inside its request before it becomes a task; a task from the start, if not said.
    pub promote_after: Option<Duration>,
    /// What cancellation does.
    pub on_cancel: OnCancel,
    /// What a restart does.
    pub on_restart: OnRestart,
    /// How often the tool is started in all for one call, with [`OnRestart::Rerun`]; then its task fails.
    pub max_attempts: u32,
    /// The version of the tool's code. A lost task is run again by the version that it was created with, and no other:
    /// old and new programs can share one store, and each takes up its own. Raise it when the new code would not go well
    /// with the arguments, answers and steps that the old code recorded.
    pub version: &'static str,
    /// How many calls run at once; the server's limit, if not said.
    pub max_running: Option<u32>,
}

impl ToolOptions {
    /// The defaults: an hour to live, a poll a second, a task from the start for clients that declare tasks.
    pub const fn new() -> Self {
        Self {
            ttl: Some(Duration::from_secs(3600)),
            poll_interval: Duration::from_secs(1),
            mode: TaskMode::Optional,
            when: None,
            promote_after: None,
            on_cancel: OnCancel::Drop,
            on_restart: OnRestart::Fail,
            max_attempts: MAX_ATTEMPTS,
            version: "",
            max_running: None,
        }
    }

    /// Sets how long a task is kept.
    #[must_use]
    pub const fn ttl_ms(mut self, ms: u64) -> Self {
        self.ttl = Some(Duration::from_millis(ms));
        self
    }

    /// Keeps tasks for ever.
    #[must_use]
    pub const fn unlimited_ttl(mut self) -> Self {
        self.ttl = None;
        self
    }

    /// Sets how often the client should poll.
    #[must_use]
    pub const fn poll_interval_ms(mut self, ms: u64) -> Self {
        self.poll_interval = Duration::from_millis(ms);
        self
    }

    /// Sets who gets a task.
    #[must_use]
    pub const fn mode(mut self, mode: TaskMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets which calls become tasks.
    #[must_use]
    pub const fn when(mut self, when: When) -> Self {
        self.when = Some(when);
        self
    }

    /// Sets how long a call runs inside its request.
    #[must_use]
    pub const fn promote_after_ms(mut self, ms: u64) -> Self {
        self.promote_after = Some(Duration::from_millis(ms));
        self
    }

    /// Sets what cancellation does.
    #[must_use]
    pub const fn on_cancel(mut self, on_cancel: OnCancel) -> Self {
        self.on_cancel = on_cancel;
        self
    }

    /// Sets what a restart does.
    #[must_use]
    pub const fn on_restart(mut self, on_restart: OnRestart) -> Self {
        self.on_restart = on_restart;
        self
    }

    /// Sets how often the tool is started in all.
    #[must_use]
    pub const fn max_attempts(mut self, max_attempts: u32) -> Self {
        self.max_attempts = max_attempts;
        self
    }

    /// Sets the version of the tool's code.
    #[must_use]
    pub const fn version(mut self, version: &'static str) -> Self {
        self.version = version;
        self
    }

    /// Sets how many calls run at once.
    #[must_use]
    pub const fn max_running(mut self, max_running: u32) -> Self {
        self.max_running = Some(max_running);
        self
    }

    /// What a restart does to a task.
    pub(crate) const fn restart(&self) -> task::OnRestart {
        match self.on_restart {
            OnRestart::Fail => task::OnRestart::Fail,
            OnRestart::Rerun => task::OnRestart::Rerun { max_attempts: self.max_attempts },
        }
    }

    /// Makes sure that the options go together.
    ///
    /// # Errors
    /// The first thing that is wrong. `#[task_tool]` refuses the same when it is compiled.
    pub fn check(&self) -> Result<(), InvalidOptions> {
        let always = self.mode == TaskMode::Required;
        let wrong = [
            (self.ttl == Some(Duration::ZERO), InvalidOptions::Zero("ttl")),
            (self.poll_interval.is_zero(), InvalidOptions::Zero("poll_interval")),
            (self.promote_after == Some(Duration::ZERO), InvalidOptions::Zero("promote_after")),
            (self.max_running == Some(0), InvalidOptions::Zero("max_running")),
            (self.max_attempts == 0, InvalidOptions::Zero("max_attempts")),
            (always && self.promote_after.is_some(), InvalidOptions::RequiredWith("promote_after")),
            (always && self.when.is_some(), InvalidOptions::RequiredWith("when")),
        ];
        wrong.into_iter().find(|(found, _)| *found).map_or(Ok(()), |(_, error)| Err(error))
    }
}

impl Default for ToolOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ToolOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolOptions")
            .field("ttl", &self.ttl)
            .field("poll_interval", &self.poll_interval)
            .field("mode", &self.mode)
            .field("when", &self.when.is_some())
            .field("promote_after", &self.promote_after)
            .field("on_cancel", &self.on_cancel)
            .field("on_restart", &self.on_restart)
            .field("max_attempts", &self.max_attempts)
            .field("version", &self.version)
            .field("max_running", &self.max_running)
            .finish()
    }
}

/// Options that do not go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidOptions {
    /// Something is zero that cannot be (case 21).
    #[error("`{0}` is zero")]
    Zero(&'static str),
    /// A tool that only runs as a task is told when not to.
    #[error("`mode = \"required\"` and `{0}` contradict each other")]
    RequiredWith(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case 21: a time to live of zero is refused when the tool is built; so is whatever cannot hold at once.
    #[test]
    fn options_that_do_not_go_together_are_refused() {
        let required = ToolOptions::new().mode(TaskMode::Required);
        let check = |options: &ToolOptions| options.check().err().map(|error| error.to_string());
        assert_eq!(check(&ToolOptions::new()), None);
        assert_eq!(check(&required), None);
        assert_eq!(check(&ToolOptions::new().ttl_ms(0)).as_deref(), Some("`ttl` is zero"));
        assert_eq!(check(&ToolOptions::new().poll_interval_ms(0)).as_deref(), Some("`poll_interval` is zero"));
        assert_eq!(check(&ToolOptions::new().max_running(0)).as_deref(), Some("`max_running` is zero"));
        let contradiction = check(&required.promote_after_ms(5));
        assert_eq!(contradiction.as_deref(), Some("`mode = \"required\"` and `promote_after` contradict each other"));
    }
}
