//! How the program ends: a code that a script can tell the outcomes apart by.

use std::{error::Error, fmt, process::ExitCode};

/// The exit codes. [`HELP`] says the same to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The task completed, or the command did what it was asked.
    Done = 0,
    /// Something else went wrong.
    Trouble = 1,
    /// The command line made no sense. (clap ends with the same code.)
    Usage = 2,
    /// The task completed, and its result is the tool's own error (`isError`).
    ToolError = 3,
    /// The task failed.
    Failed = 4,
    /// The task was cancelled.
    Cancelled = 5,
    /// The task waits for an answer, and there is nobody here to give it.
    NeedsInput = 6,
    /// The task is gone: it expired, or never was.
    Expired = 7,
    /// The task goes on.
    Working = 8,
}

/// What `--help` says of the exit codes.
pub const HELP: &str = "\
Exit codes:
  0  the task completed, or the command did what it was asked
  1  something else went wrong, such as a server that cannot be reached
  2  the command line makes no sense
  3  the tool reported an error of its own
  4  the task failed
  5  the task was cancelled
  6  the task needs input, and there is no terminal to ask at
  7  the task is gone: it expired, or there never was such a task
  8  the task goes on: it is still working, or you left it with Ctrl-C (`call --detach` ends with 0)";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command did not do what it was asked: a sentence for the user, what to do about it, and what caused it.
#[derive(Debug)]
pub struct Problem {
    exit: Exit,
    sentence: String,
    hint: Option<String>,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl Problem {
    /// A problem of no kind of its own.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self { exit: Exit::Trouble, sentence: sentence.into(), hint: None, cause: None }
    }

    /// A command line that makes no sense.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(sentence) }
    }

    /// The same, ending with another code.
    pub fn exit(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    /// The same, with what to do about it.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same, with what caused it.
    pub fn because(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// What to do about it.
    pub fn what_to_do(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Problem {
    /// The sentence, and after colons the causes, each once.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)?;
        let mut said = self.sentence.clone();
        let mut cause = self.cause.as_deref().map(|cause| cause as &dyn Error);
        while let Some(error) = cause {
            let text = error.to_string();
            if !said.ends_with(&text) {
                write!(f, ": {text}")?;
            }
            said = text;
            cause = error.source();
        }
        Ok(())
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Self::new("the operating system refused").because(error)
    }
}

impl Exit {
    /// The code that a problem ends with.
    pub fn of(problem: &Problem) -> Self {
        problem.exit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_each_cause_once() {
        let inner = std::io::Error::other("no such file");
        let problem = Problem::new("cannot open the store: no such file").because(inner);
        assert_eq!(problem.to_string(), "cannot open the store: no such file");
        let problem = Problem::new("cannot open the store").because(std::io::Error::other("no such file"));
        assert_eq!(problem.to_string(), "cannot open the store: no such file");
    }

    #[test]
    fn help_lists_every_code() {
        for exit in [Exit::Done, Exit::Trouble, Exit::Usage, Exit::ToolError, Exit::Failed, Exit::Cancelled]
            .into_iter()
            .chain([Exit::NeedsInput, Exit::Expired, Exit::Working])
        {
            assert!(HELP.contains(&format!("\n  {}  ", exit as u8)), "{exit:?}");
        }
    }
}
