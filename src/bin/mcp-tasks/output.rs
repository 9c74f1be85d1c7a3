//! `Output`: where the program writes, and whether that is for people or for scripts.
//!
//! Standard output has what was asked for; notes, questions and problems go to standard error.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde_json::json;

use crate::exit::Problem;

/// How to write.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Whether each thing is a line of JSON.
    pub json: bool,
    /// Whether a person can be asked: standard input and standard error are a terminal.
    pub interactive: bool,
    /// Whether standard output is a terminal, so that tables may have lines and colours.
    pub terminal: bool,
}

impl Output {
    /// How this process was started; `json` is what the user asked for.
    pub fn standard(json: bool) -> Self {
        Self {
            json,
            interactive: !json && io::stdin().is_terminal() && io::stderr().is_terminal(),
            terminal: !json && io::stdout().is_terminal(),
        }
    }

    /// Writes a value: as one line of JSON, or in the words of `people`.
    pub fn value<T: Serialize>(&self, value: &T, people: impl FnOnce(&T) -> String) -> Result<(), Problem> {
        let text = if self.json {
            serde_json::to_string(value).map_err(|error| Problem::new("cannot write JSON").because(error))?
        } else {
            people(value)
        };
        Self::line(&text)
    }

    /// Writes a line to standard output. A reader that has gone ends the program quietly, as `| head` expects.
    pub fn line(text: &str) -> Result<(), Problem> {
        let mut out = io::stdout().lock();
        match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
            written => Ok(written?),
        }
    }

    /// Tells people something beside what they asked for; scripts are not told.
    pub fn note(&self, text: &str) {
        if !self.json {
            // Whoever closed standard error does not want to know.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }

    /// Says what went wrong.
    pub fn problem(&self, problem: &Problem) {
        let mut err = io::stderr().lock();
        let _ = if self.json {
            writeln!(err, "{}", json!({"error": problem.to_string(), "hint": problem.what_to_do()}))
        } else {
            writeln!(err, "error: {problem}").and_then(|()| match problem.what_to_do() {
                Some(hint) => writeln!(err, "hint: {hint}"),
                None => Ok(()),
            })
        };
    }
}
