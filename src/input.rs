//! Input requests: their keys, which of them are outstanding, and which answer belongs to which question. Pure.
//!
//! Guarantees: a key is used for one request over a task's whole life (UPD-04); a request takes at most one answer
//! (UPD-06); a key that is not outstanding takes none (UPD-02).

use std::{borrow::Borrow, fmt, sync::Arc};

use bytes::Bytes;

/// The key of an input request, as in `inputRequests` and `inputResponses`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputKey(Arc<str>);

impl InputKey {
    /// The key of this text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for InputKey {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for InputKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InputKey({:?})", self.as_str())
    }
}

impl fmt::Display for InputKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an input request asks the client to do; the client must have declared that it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InputKind {
    /// Show a form to the user.
    FormElicitation,
    /// Send the user to an address.
    UrlElicitation,
    /// Sample from the client's model.
    Sampling,
    /// List the client's roots.
    Roots,
}

/// A set of [`InputKind`]s: what the client declared with the request that made the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InputKinds(u8);

impl InputKinds {
    /// None: the client can be asked nothing.
    pub const NONE: Self = Self(0);

    /// All kinds there are.
    pub const ALL: Self = Self::NONE
        .with(InputKind::FormElicitation)
        .with(InputKind::UrlElicitation)
        .with(InputKind::Sampling)
        .with(InputKind::Roots);

    /// This set and `kind`.
    #[must_use]
    pub const fn with(self, kind: InputKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    /// The set as a number, for a store to write down.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The set of this number; bits that mean nothing are left out.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Whether `kind` is in the set.
    pub const fn contains(self, kind: InputKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// A question as the tool puts it, before it has a key.
///
/// After a restart the tool runs again from its start and asks again. A question is the same as an earlier one if name,
/// ordinal and request are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The tool's name for the question.
    pub name: Arc<str>,
    /// How many questions of that name this run of the tool has asked, this one included: 1 for the first.
    pub ordinal: u32,
    /// The request, as JSON text; opaque here.
    pub request: Bytes,
}

/// A fingerprint of a request's text (FNV-1a, 64 bits; the same on every machine).
///
/// It guards against a tool that was edited between two runs, not against an adversary: whoever could forge one would
/// only give the same answer to two questions of a task of his own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestHash(pub u64);

impl RequestHash {
    /// The fingerprint of `request`.
    pub fn of(request: &[u8]) -> Self {
        Self(
            request
                .iter()
                .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)),
        )
    }
}

/// How far an input request has come. Only an outstanding one changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputState {
    /// The client has yet to answer.
    Outstanding {
        /// The request, as JSON text.
        request: Bytes,
    },
    /// The client has answered.
    Answered {
        /// The response, as JSON text.
        response: Bytes,
    },
    /// The tool no longer waits for the answer, or asks something else in its place.
    Withdrawn,
}

/// One input request of a task's life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputEntry {
    /// The key on the wire: the name, or `name#2`, `name#3`, ...
    pub key: InputKey,
    /// The tool's name for the question.
    pub name: Arc<str>,
    /// Which question of that name, counted within one run of the tool.
    pub ordinal: u32,
    /// Fingerprint of the request.
    pub hash: RequestHash,
    /// How far it has come.
    pub state: InputState,
}

/// All input requests of a task's life, in the order they were first asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InputLog {
    entries: Vec<InputEntry>,
}

impl InputLog {
    /// A log without entries.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// A log of these entries: for reading back what a store has kept.
    pub fn from_entries(entries: Vec<InputEntry>) -> Self {
        Self { entries }
    }

    /// Adds a question that was answered before there was a task (NEW-02).
    pub(crate) fn answered_before(&mut self, question: &Question, response: Bytes) {
        if self.ask(question) {
            let asked = self.entries.last_mut();
            close(asked, InputState::Answered { response });
        }
    }

    /// The answer to `question`, if it was asked and answered.
    pub fn answer_to(&self, question: &Question) -> Option<&Bytes> {
        match &self.paired(question)?.state {
            InputState::Answered { response } => Some(response),
            _ => None,
        }
    }

    /// Every input request there was.
    pub fn entries(&self) -> &[InputEntry] {
        &self.entries
    }

    /// Keys and requests that wait for an answer (GET-02).
    pub fn outstanding(&self) -> impl Iterator<Item = (&InputKey, &Bytes)> {
        self.entries.iter().filter_map(|entry| match &entry.state {
            InputState::Outstanding { request } => Some((&entry.key, request)),
            _ => None,
        })
    }

    /// The entry of `key`, if that key was ever issued.
    pub fn get(&self, key: &str) -> Option<&InputEntry> {
        self.entries.iter().find(|entry| entry.key.as_str() == key)
    }

    /// The entry that `question` is paired with, if it was asked: the same name, ordinal and request, not withdrawn.
    pub fn paired(&self, question: &Question) -> Option<&InputEntry> {
        let hash = RequestHash::of(&question.request);
        self.latest(question).filter(|entry| entry.hash == hash && entry.state != InputState::Withdrawn)
    }

    /// Puts `question`: pairs it with what was asked before, or issues a fresh key. True if a key was issued.
    ///
    /// A question that has changed since supersedes the earlier one, whose key is never used again (UPD-04).
    pub(crate) fn ask(&mut self, question: &Question) -> bool {
        if self.paired(question).is_some() {
            return false;
        }
        self.withdraw(&question.name, question.ordinal);
        self.entries.push(InputEntry {
            key: self.fresh_key(question),
            name: Arc::clone(&question.name),
            ordinal: question.ordinal,
            hash: RequestHash::of(&question.request),
            state: InputState::Outstanding { request: question.request.clone() },
        });
        true
    }

    /// Takes the answer for `key`. False, and nothing changes, if the key is not outstanding (UPD-02, UPD-06).
    pub(crate) fn answer(&mut self, key: &InputKey, response: &Bytes) -> bool {
        let asked = self.entries.iter_mut().find(|entry| entry.key == *key);
        close(asked, InputState::Answered { response: response.clone() })
    }

    /// Takes back a question. False, and nothing changes, if it is not outstanding.
    pub(crate) fn withdraw(&mut self, name: &str, ordinal: u32) -> bool {
        let asked = self.entries.iter_mut().rev().find(|entry| *entry.name == *name && entry.ordinal == ordinal);
        close(asked, InputState::Withdrawn)
    }

    /// Takes back every outstanding request.
    pub(crate) fn withdraw_all(&mut self) {
        for entry in &mut self.entries {
            close(Some(entry), InputState::Withdrawn);
        }
    }

    fn latest(&self, question: &Question) -> Option<&InputEntry> {
        self.entries.iter().rev().find(|entry| entry.name == question.name && entry.ordinal == question.ordinal)
    }

    /// The first of `name`, `name#2`, ... from the question's ordinal on that was never issued.
    fn fresh_key(&self, question: &Question) -> InputKey {
        (question.ordinal..)
            .map(|n| {
                if n <= 1 {
                    InputKey(Arc::clone(&question.name))
                } else {
                    InputKey::new(format!("{}#{n}", question.name))
                }
            })
            .find(|key| self.get(key.as_str()).is_none())
            .unwrap_or_else(|| unreachable!("a log has fewer entries than there are ordinals"))
    }
}

/// Moves an outstanding entry on. False, and nothing changes, if it is not outstanding.
fn close(entry: Option<&mut InputEntry>, state: InputState) -> bool {
    match entry {
        Some(entry) if matches!(entry.state, InputState::Outstanding { .. }) => {
            entry.state = state;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(name: &str, ordinal: u32, request: &'static str) -> Question {
        Question { name: name.into(), ordinal, request: Bytes::from_static(request.as_bytes()) }
    }

    /// Asks in order; prints the keys, `=` before one that was paired with an earlier question.
    fn keys(log: &mut InputLog, questions: &[Question]) -> String {
        let asked: Vec<String> = questions
            .iter()
            .map(|q| {
                let fresh = log.ask(q);
                let key = &log.paired(q).expect("an asked question is paired").key;
                format!("{}{key}", if fresh { "" } else { "=" })
            })
            .collect();
        asked.join(" ")
    }

    /// Case 12, UPD-04: the same question twice has two keys, and the answer to the first leaves the second open.
    #[test]
    fn each_ask_has_a_key_of_its_own() {
        let mut log = InputLog::default();
        assert_eq!(keys(&mut log, &[question("name", 1, "q"), question("name", 2, "q")]), "name name#2");
        assert!(log.answer(&InputKey::new("name"), &Bytes::from_static(b"1")));
        assert!(!log.answer(&InputKey::new("name"), &Bytes::from_static(b"2")));
        assert_eq!(log.outstanding().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["name#2"]);
    }

    /// UPD-04: a replay pairs name, ordinal and request; a changed question gets a fresh key and supersedes the old one.
    #[test]
    fn a_replay_pairs_the_same_question_and_no_other() {
        let mut log = InputLog::default();
        assert_eq!(keys(&mut log, &[question("a", 1, "x"), question("a", 2, "y")]), "a a#2");
        assert!(log.answer(&InputKey::new("a"), &Bytes::from_static(b"1")));
        assert_eq!(keys(&mut log, &[question("a", 1, "x"), question("a", 2, "other")]), "=a a#3");
        assert_eq!(log.outstanding().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["a#3"]);
        assert!(!log.answer(&InputKey::new("a#2"), &Bytes::from_static(b"late")));
    }

    /// UPD-04: names that look like keys of other names do not share a key.
    #[test]
    fn keys_are_unique_whatever_the_names() {
        let mut log = InputLog::default();
        assert_eq!(
            keys(&mut log, &[question("a#2", 1, "x"), question("a", 1, "x"), question("a", 2, "x")]),
            "a#2 a a#3"
        );
    }

    #[test]
    fn a_withdrawn_question_asked_again_gets_a_fresh_key() {
        let mut log = InputLog::default();
        assert_eq!(keys(&mut log, &[question("a", 1, "x")]), "a");
        assert!(log.withdraw("a", 1));
        assert_eq!(keys(&mut log, &[question("a", 1, "x")]), "a#2");
    }
}
