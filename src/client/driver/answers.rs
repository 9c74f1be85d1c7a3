//! Which questions were asked, which are answered, and which answers the server has.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What is known of one key, for as long as the task lives: a key is never used twice (UPD-04).
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    /// The user has been asked.
    Open,
    /// There is an answer that the server does not have, as far as is known.
    Pending { value: Value, was_sent: bool },
    /// It is on its way.
    Sent(Value),
    /// The server has it, or the question is over.
    Over,
}

/// All keys of a task that were ever seen by this client.
#[derive(Debug, Default)]
pub(super) struct Answers {
    keys: BTreeMap<String, Answer>,
    answered: BTreeSet<String>,
}

/// A question that the server no longer asks.
#[derive(Debug)]
pub(super) enum Gone {
    /// The user has not answered.
    Open(String),
    /// The user has answered, and the answer was never sent.
    Unsent(String),
    /// The user has answered, and the answer was sent and not acknowledged.
    Unacked(String),
}

impl Answers {
    /// The keys of an earlier run are neither asked nor answered again (CLI-03).
    pub fn remember(answered: BTreeSet<String>) -> Self {
        let keys = answered.iter().map(|key| (key.clone(), Answer::Over)).collect();
        Self { keys, answered }
    }

    /// The keys whose answers the server has.
    pub fn answered(&self) -> BTreeSet<String> {
        self.answered.clone()
    }

    /// Whether the key is not to be answered any more.
    pub fn is_answered(&self, key: &str) -> bool {
        !matches!(self.keys.get(key), None | Some(Answer::Open))
    }

    /// Whether the question is new; it is asked now if so.
    pub fn ask(&mut self, key: &str) -> bool {
        let new = !self.keys.contains_key(key);
        if new {
            self.keys.insert(key.to_owned(), Answer::Open);
        }
        new
    }

    /// Whether the user has been asked, and has not answered.
    pub fn is_open(&self, key: &str) -> bool {
        matches!(self.keys.get(key), Some(Answer::Open))
    }

    /// Keeps an answer until the server has it.
    pub fn answer(&mut self, key: String, value: Value) {
        self.keys.insert(key, Answer::Pending { value, was_sent: false });
    }

    /// Whether there is something to send.
    pub fn has_pending(&self) -> bool {
        self.keys.values().any(|answer| matches!(answer, Answer::Pending { .. }))
    }

    /// What to send; it counts as sent from now on.
    pub fn send(&mut self) -> Vec<(String, Value)> {
        let mut sent = Vec::new();
        for (key, answer) in &mut self.keys {
            if let Answer::Pending { value, .. } = answer {
                let value = value.take();
                sent.push((key.clone(), value.clone()));
                *answer = Answer::Sent(value);
            }
        }
        sent
    }

    /// What was sent has arrived: its keys.
    pub fn acked(&mut self) -> Vec<String> {
        let acked = self.end(|answer| matches!(answer, Answer::Sent(_)));
        self.answered.extend(acked.iter().cloned());
        acked
    }

    /// What was sent has to be sent again: its keys.
    pub fn unsend(&mut self) -> Vec<String> {
        let mut keys = Vec::new();
        for (key, answer) in &mut self.keys {
            if let Answer::Sent(value) = answer {
                *answer = Answer::Pending { value: value.take(), was_sent: true };
                keys.push(key.clone());
            }
        }
        keys
    }

    /// No answer that waits is ever sent: their keys (CLI-11).
    pub fn refused(&mut self) -> Vec<String> {
        self.end(|answer| matches!(answer, Answer::Pending { .. }))
    }

    /// Ends the questions that are not `outstanding`. An answer on its way is left: its acknowledgement is still to come.
    pub fn retain(&mut self, outstanding: impl Fn(&str) -> bool) -> Vec<Gone> {
        let mut gone = Vec::new();
        for (key, answer) in &mut self.keys {
            if outstanding(key) {
                continue;
            }
            match answer {
                Answer::Open => gone.push(Gone::Open(key.clone())),
                Answer::Pending { was_sent: false, .. } => gone.push(Gone::Unsent(key.clone())),
                Answer::Pending { was_sent: true, .. } => gone.push(Gone::Unacked(key.clone())),
                Answer::Sent(_) | Answer::Over => continue,
            }
            *answer = Answer::Over;
        }
        gone
    }

    /// The key is answered, though nobody acknowledged it.
    pub fn settle(&mut self, key: String) {
        self.answered.insert(key);
    }

    fn end(&mut self, which: impl Fn(&Answer) -> bool) -> Vec<String> {
        let mut ended = Vec::new();
        for (key, answer) in &mut self.keys {
            if which(answer) {
                *answer = Answer::Over;
                ended.push(key.clone());
            }
        }
        ended
    }
}
