//! `requestState`: what a server lets the client carry from one round of a call to the next (NEW-02).
//!
//! A tool that asks before there is a task is dropped at its question, and runs again from its start when the client calls
//! again with the answer. What was asked and answered so far travels with the client, so that any node can go on.
//!
//! Guarantees (SEC-05): a state is authenticated with HMAC-SHA256; it opens only for the principal, the tool and the
//! arguments that it was made for, and only for [`LIFETIME`]; whoever has the key can open it. It is **not** encrypted: the
//! client can read it, and it holds nothing that the client was not told or did not say. Within its lifetime it can be used
//! more than once, which makes the tool run again with the same answers; each such run is a call of its own.

use std::{collections::BTreeMap, fmt, sync::OnceLock, time::Duration};

use bytes::Bytes;
use rmcp::model::{CallToolRequestParams, InputRequest, RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::{
    clock::UnixMillis,
    elicit::validate_response,
    input::{InputKey, InputLog, Question, RequestHash},
    principal::Principal,
    protocol::ProtocolError,
    types::support::JsonObject,
};

/// How long a state can be used after it was made.
pub const LIFETIME: Duration = Duration::from_secs(3600);

/// What our states begin with. A tool of rmcp's may have states of its own, which are its own affair.
const PREFIX: &str = "mcp-tasks.";

/// The key that states are authenticated with.
#[derive(Clone)]
pub(crate) struct StateKey(RequestStateCodec);

/// A key of less than 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key has {0} bytes, fewer than 32")]
pub struct KeyTooShort(usize);

impl StateKey {
    /// A key of these bytes.
    pub fn new(key: &[u8]) -> Result<Self, KeyTooShort> {
        RequestStateCodec::try_new(key).map(Self).map_err(|_| KeyTooShort(key.len()))
    }

    /// The random key of this process.
    pub fn of_process() -> Self {
        static KEY: OnceLock<RequestStateCodec> = OnceLock::new();
        Self(KEY.get_or_init(random).clone())
    }
}

/// A random key.
///
/// # Panics
/// If the operating system gives no random bytes: a key that can be guessed would be worse.
fn random() -> RequestStateCodec {
    let mut key = [0; 32];
    getrandom::fill(&mut key).expect("the operating system gives random bytes");
    RequestStateCodec::new_unchecked(key)
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateKey")
    }
}

/// What a state is bound to.
#[derive(Debug)]
pub(crate) struct Binding(Vec<u8>);

impl Binding {
    /// The binding to a principal, a tool and its arguments; the order of the arguments' members does not matter.
    pub fn new(principal: &Principal, tool: &str, arguments: &JsonObject) -> Self {
        let mut sorted = Vec::new();
        write_sorted(&Value::Object(arguments.clone()), &mut sorted);
        let mut bytes = Vec::new();
        for part in [principal.as_str().as_bytes(), tool.as_bytes(), &sorted] {
            // With its length in front, so that nothing can move from one part to the next.
            bytes.extend_from_slice(&part.len().to_be_bytes());
            bytes.extend_from_slice(part);
        }
        Self(bytes)
    }

    /// The whole binding in one number: equal for equal calls.
    pub fn fingerprint(&self) -> RequestHash {
        RequestHash::of(&self.0)
    }
}

/// Writes a value so that equal values have equal texts.
fn write_sorted(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<_, _> = members.iter().collect();
            text.push(b'{');
            for (key, value) in sorted {
                text.extend_from_slice(Value::from(key.as_str()).to_string().as_bytes());
                text.push(b':');
                write_sorted(value, text);
                text.push(b',');
            }
            text.push(b'}');
        }
        Value::Array(items) => {
            text.push(b'[');
            for item in items {
                write_sorted(item, text);
                text.push(b',');
            }
            text.push(b']');
        }
        scalar => text.extend_from_slice(scalar.to_string().as_bytes()),
    }
}

/// The questions of a call so far, those that have answers and those that wait for them.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Rounds {
    answered: Vec<Asked>,
    waiting: Vec<Asked>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Asked {
    name: Box<str>,
    ordinal: u32,
    request: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    until: u64,
    rounds: Rounds,
}

impl Rounds {
    /// Whether a call continues an earlier one of ours.
    pub fn are_in(request: &CallToolRequestParams) -> bool {
        request.request_state.as_deref().is_some_and(|state| state.starts_with(PREFIX))
    }

    /// Opens the state of a call, and takes the answers that came with it. Those to keys that nobody asked for are ignored.
    ///
    /// # Errors
    /// `-32602` if the state was not made here for this call, or too long ago (SEC-05); or if an answer does not fit its
    /// question, as for `tasks/update` (UPD-07).
    pub fn open(
        key: &StateKey,
        binding: &Binding,
        request: &CallToolRequestParams,
        now: UnixMillis,
    ) -> Result<Self, ProtocolError> {
        let invalid = || ProtocolError::invalid_params("`requestState` is not valid for this call");
        let state =
            request.request_state.as_deref().and_then(|state| state.strip_prefix(PREFIX)).ok_or_else(invalid)?;
        let opened = key.0.open_with(state, &binding.0).map_err(|_| invalid())?;
        let sealed: Sealed = serde_json::from_slice(&opened).map_err(|_| invalid())?;
        if now >= UnixMillis::new(sealed.until) {
            return Err(ProtocolError::invalid_params("`requestState` has expired"));
        }
        let mut rounds = sealed.rounds;
        rounds.take(request)?;
        Ok(rounds)
    }

    fn take(&mut self, request: &CallToolRequestParams) -> Result<(), ProtocolError> {
        let mut unfit = BTreeMap::new();
        for mut asked in std::mem::take(&mut self.waiting) {
            let key = asked.key();
            let Some(response) = request.input_responses.as_ref().and_then(|all| all.get(key.as_str())) else {
                continue;
            };
            match asked.answer(response) {
                Ok(()) => self.answered.push(asked),
                Err(why) => {
                    unfit.insert(key, why);
                }
            }
        }
        if unfit.is_empty() { Ok(()) } else { Err(ProtocolError::invalid_input_response(&unfit)) }
    }

    /// Whether nothing was answered yet.
    pub fn is_empty(&self) -> bool {
        self.answered.is_empty()
    }

    /// The same, with these questions waiting for their answers.
    pub fn ask(mut self, questions: Vec<Question>) -> Self {
        self.waiting = questions.into_iter().filter_map(Asked::new).collect();
        self
    }

    /// What the client is asked now, under keys of these rounds' own (NEW-02).
    pub fn requests(&self) -> Result<BTreeMap<String, InputRequest>, serde_json::Error> {
        let request = |asked: &Asked| Ok((asked.key().as_str().to_owned(), serde_json::from_str(asked.request.get())?));
        self.waiting.iter().map(request).collect()
    }

    /// The answers, as a task keeps them.
    pub fn answered(&self) -> InputLog {
        let mut log = InputLog::new();
        for asked in &self.answered {
            if let Some(response) = &asked.response {
                log.answered_before(&asked.question(), bytes(response));
            }
        }
        log
    }

    /// The state that the client brings back.
    pub fn seal(self, key: &StateKey, binding: &Binding, now: UnixMillis) -> String {
        let sealed = Sealed { until: now.plus(LIFETIME).get(), rounds: self };
        // Texts and numbers always have a JSON form.
        let text = serde_json::to_vec(&sealed).unwrap_or_default();
        format!("{PREFIX}{}", key.0.seal_with(&text, &SealOptions::new().associated_data(&binding.0)))
    }
}

impl Asked {
    /// `None` if the request is no JSON, which only a tool that asks something made up can bring about.
    fn new(question: Question) -> Option<Self> {
        let request = serde_json::from_slice(&question.request).ok()?;
        Some(Self { name: (*question.name).into(), ordinal: question.ordinal, request, response: None })
    }

    fn key(&self) -> InputKey {
        match self.ordinal {
            0 | 1 => InputKey::new(&*self.name),
            n => InputKey::new(format!("{}#{n}", self.name)),
        }
    }

    fn question(&self) -> Question {
        Question { name: (*self.name).into(), ordinal: self.ordinal, request: bytes(&self.request) }
    }

    fn answer(&mut self, response: &Value) -> Result<(), String> {
        let response = RawValue::from_string(response.to_string()).map_err(|error| error.to_string())?;
        validate_response(&bytes(&self.request), &bytes(&response))?;
        self.response = Some(response);
        Ok(())
    }
}

fn bytes(raw: &RawValue) -> Bytes {
    Bytes::copy_from_slice(raw.get().as_bytes())
}

#[cfg(test)]
mod tests;
