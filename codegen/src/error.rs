//! What went wrong with an input, where it stands, and what to do about it.
//!
//! Every fault of an input is a [`Problem`]: a file, a JSON pointer into it, a sentence, and, where there is one, a way
//! out. Stages collect problems and hand them on together, so that a person mends a file once and not fault by fault.

use std::fmt;

/// One fault of one input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Problem {
    /// The file as the caller named it.
    pub file: String,
    /// JSON pointer (RFC 6901) to the place; empty for the whole document.
    pub pointer: String,
    /// What is wrong, as a sentence without a full stop.
    pub message: String,
    /// What to do about it, where that can be said.
    pub help: Option<String>,
}

impl Problem {
    /// A problem at `pointer` in `file`.
    pub fn new(file: impl Into<String>, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), pointer: pointer.into(), message: message.into(), help: None }
    }

    /// The same problem with a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}: {}", self.file, self.pointer, self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// Why nothing was generated: at least one [`Problem`], in the order of files and pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    problems: Vec<Problem>,
}

impl Error {
    /// All faults that were found.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let newline = if index == 0 { "" } else { "\n" };
            write!(f, "{newline}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Collects the problems of a stage.
#[derive(Debug, Default)]
pub(crate) struct Problems(Vec<Problem>);

impl Problems {
    /// Notes a problem and goes on.
    pub(crate) fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Takes the value of a step, or notes its problems and goes on without.
    pub(crate) fn take<T>(&mut self, step: Result<T, Error>) -> Option<T> {
        step.map_err(|error| self.0.extend(error.problems)).ok()
    }

    /// The stage's value if nothing was noted.
    pub(crate) fn finish<T>(mut self, value: T) -> Result<T, Error> {
        if self.0.is_empty() {
            return Ok(value);
        }
        self.0.sort();
        self.0.dedup();
        Err(Error { problems: self.0 })
    }
}
