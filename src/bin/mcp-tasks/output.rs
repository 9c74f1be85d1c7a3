//! `Output`: where the program writes, and whether that is for people or for scripts.
//!
//! Standard output has what was asked for; notes, questions and problems go to standard error.
//!
//! Guarantee: whatever a server says goes through here, and none of it is a command to the terminal. In text for people
//! such characters become visible; in JSON they are escaped, which changes no value.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use serde_json::json;

use crate::{exit::Problem, text};

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
        if !self.json {
            return Self::line(&people(value));
        }
        let written = serde_json::to_string(value);
        let written = written.map_err(|error| Problem::new("cannot write JSON").because(error))?;
        asked_for(&text::escaped(&written))
    }

    /// Writes a line for people to standard output.
    pub fn line(told: &str) -> Result<(), Problem> {
        asked_for(&text::printable(told))
    }

    /// Writes a script of our own to standard output, as it is.
    pub fn script(text: &str) -> Result<(), Problem> {
        asked_for(text)
    }

    /// Tells people something beside what they asked for; scripts are not told.
    pub fn note(&self, told: &str) {
        if !self.json {
            beside(told);
        }
    }

    /// Says what went wrong.
    pub fn problem(&self, problem: &Problem) {
        let (sentence, hint) = (problem.to_string(), problem.what_to_do());
        if self.json {
            return raw(&format!("{}\n", text::escaped(&json!({"error": sentence, "hint": hint}).to_string())));
        }
        beside(&format!("error: {sentence}"));
        if let Some(hint) = hint {
            beside(&format!("hint: {hint}"));
        }
    }
}

/// Writes a line to standard output. A reader that has gone ends the program quietly, as `| head` expects.
fn asked_for(line: &str) -> Result<(), Problem> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", line.trim_end()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        written => Ok(written?),
    }
}

/// Writes a line for people to standard error, whoever says it.
pub fn beside(told: &str) {
    raw(&format!("{}\n", text::printable(told)));
}

/// Writes to standard error what may command the terminal: words of this program alone.
pub fn raw(words: &str) {
    let mut err = io::stderr().lock();
    // Whoever closed standard error does not want to know.
    let _ = err.write_all(words.as_bytes()).and_then(|()| err.flush());
}
