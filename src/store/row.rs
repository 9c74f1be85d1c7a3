//! The rows of durable stores: what of a [`TaskRecord`] has a column of its own, and how the rest is written down.
//!
//! A task is one row, and one payload that may be large: its arguments, and the result or reported error of a settled one.
//! A payload is written when the task is created and when it settles, and not in between, so that a status message does
//! not write megabytes anew. Columns are what queries need; `head` is the small rest; `body` is what
//! came from the client or from the tool, and like the payload it is sealed if there are keys (see [`Seal`]).
//!
//! Reading never panics and never guesses: a row that was not written here is [`Corrupt`].

use std::{borrow::Cow, sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use self::text::Text;
use crate::{
    clock::UnixMillis,
    error::StoreError,
    input::{InputEntry, InputKey, InputKinds, InputLog, InputState, RequestHash},
    principal::Principal,
    store::seal::{Seal, SealError},
    task::{
        Epoch, Failure, IdempotencyKey, Journal, OnCancel, OnRestart, Progress, Rev, Settlement, Step, Target,
        TaskRecord, TaskState,
    },
    task_id::TaskId,
};

mod text;

#[cfg(test)]
mod tests;

/// The version of `head` and `body` that is written. Older ones are read, newer ones refused.
const VERSION: u32 = 1;

/// Names of the sealed values: a value that is moved to another column, or to another task, does not open there.
const BODY: &str = "body";
const PAYLOAD: &str = "payload";

/// A row, without the payload and without what a store adds (who holds the lease, and until when).
///
/// Texts are [`escape`]d: PostgreSQL holds no NUL. Times are milliseconds, of which `i64::MAX` is never.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub id: TaskId,
    pub principal: String,
    pub method: String,
    pub name: String,
    pub version: String,
    /// The text of the idempotency key.
    pub key: Option<String>,
    pub created_at: i64,
    /// When time changes the task next; of an open task its deadline.
    pub changes_at: i64,
    /// The word of the status, for operators: it is not read back.
    pub status: &'static str,
    pub settled: bool,
    pub cancel_requested: bool,
    pub rev: i64,
    pub epoch: i64,
    pub head: Vec<u8>,
    pub body: Option<Vec<u8>>,
}

/// A row that cannot be read back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Corrupt {
    /// A newer version of this crate wrote it.
    #[error("the row of task {id} has version {version}, and {VERSION} is the newest that is known")]
    Newer { id: TaskId, version: u32 },
    /// A part of it does not hold what it should.
    #[error("the row of task {id} has a wrong `{part}`")]
    Part { id: TaskId, part: &'static str },
    /// A part of it is no JSON of the right form.
    #[error("the row of task {id} has an unreadable `{part}`")]
    Unreadable {
        id: TaskId,
        part: &'static str,
        #[source]
        cause: serde_json::Error,
    },
    /// It cannot be opened with the keys at hand.
    #[error(transparent)]
    Sealed(#[from] SealError),
}

impl From<Corrupt> for StoreError {
    fn from(corrupt: Corrupt) -> Self {
        Self::Unavailable { cause: corrupt.into() }
    }
}

impl From<SealError> for StoreError {
    fn from(error: SealError) -> Self {
        Self::Unavailable { cause: error.into() }
    }
}

/// What has no column and is no secret.
#[derive(Serialize, Deserialize)]
struct Head {
    v: u32,
    updated: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ttl: Option<Span>,
    grace: Span,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    poll: Option<Span>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    progress: Option<(u64, u64)>,
    state: Outcome,
    declared: u8,
    /// Whether cancellation is a signal.
    #[serde(default, skip_serializing_if = "is_false")]
    signal: bool,
    /// How often it may be started in all, if more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rerun: Option<u32>,
    attempt: u32,
    /// The fingerprint beside the idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<u64>,
    /// Whether there is a payload.
    payload: bool,
    /// How many bytes of a settled task's payload are its arguments; what follows is what it ended with.
    #[serde(default, skip_serializing_if = "is_zero")]
    arguments: usize,
}

/// Seconds and nanoseconds: a duration is read back as it was.
#[derive(Serialize, Deserialize)]
struct Span(u64, u32);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Open,
    Completed,
    Reported,
    Panicked,
    TooLarge(u64),
    Interrupted,
    Expired,
    Cancelled,
}

/// What came from the client or the tool, but for the payload.
#[derive(Serialize, Deserialize, Default)]
struct Body<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<Cow<'a, str>>,
    /// The message of a reported error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<Input<'a>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    steps: Vec<(Cow<'a, str>, Text<'a>)>,
}

#[derive(Serialize, Deserialize)]
struct Input<'a> {
    key: Cow<'a, str>,
    name: Cow<'a, str>,
    ordinal: u32,
    hash: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Text<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    response: Option<Text<'a>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// The row of a task.
///
/// # Errors
/// Only if it cannot be sealed.
pub(crate) fn encode(record: &TaskRecord, seal: &Seal) -> Result<Row, SealError> {
    let body = Body::of(record).map(|body| seal.seal(record.id, BODY, &json(&body))).transpose()?;
    Ok(Row {
        id: record.id,
        principal: escape(record.principal.as_str()).into_owned(),
        method: escape(&record.target.method).into_owned(),
        name: escape(&record.target.name).into_owned(),
        version: escape(&record.target.version).into_owned(),
        key: record.key.as_ref().map(|key| escape(&key.text).into_owned()),
        created_at: millis(record.created_at),
        changes_at: millis(record.changes_at()),
        status: record.status().as_str(),
        settled: record.is_settled(),
        cancel_requested: record.cancel_requested,
        rev: count(record.rev.0),
        epoch: count(record.epoch.0),
        head: json(&Head::of(record)),
        body,
    })
}

/// The payload of a task: what stands beside its row.
///
/// # Errors
/// Only if it cannot be sealed.
pub(crate) fn encode_payload(record: &TaskRecord, seal: &Seal) -> Result<Option<Vec<u8>>, SealError> {
    payload(record).map(|payload| seal.seal(record.id, PAYLOAD, &payload)).transpose()
}

/// Whether the payload has to be written when `new` takes the place of `old`.
pub(crate) fn payload_differs(old: &TaskRecord, new: &TaskRecord) -> bool {
    old.is_settled() != new.is_settled()
}

/// The task of a row and its payload.
///
/// # Errors
/// If it was not written by [`encode`] and [`encode_payload`], or is sealed with a key that is not at hand.
pub(crate) fn decode(row: Row, payload: Option<Vec<u8>>, seal: &Seal) -> Result<Arc<TaskRecord>, Corrupt> {
    let id = row.id;
    let wrong = |part| Corrupt::Part { id, part };
    let head: Head = parse(id, "head", &row.head)?;
    if head.v > VERSION {
        return Err(Corrupt::Newer { id, version: head.v });
    }
    let payload = match payload {
        Some(sealed) if head.payload => seal.open(id, PAYLOAD, sealed)?,
        None if !head.payload => Bytes::new(),
        _ => return Err(wrong("payload")),
    };
    let body = row.body.map(|sealed| seal.open(id, BODY, sealed)).transpose()?;
    let body: Body<'_> = body.as_ref().map(|text| parse(id, "body", text)).transpose()?.unwrap_or_default();
    let inputs = body.inputs.into_iter().map(Input::entry).collect::<Option<_>>().ok_or(wrong("inputs"))?;
    let steps =
        body.steps.into_iter().map(|(key, value)| Step { key: key.into(), value: value.into_bytes() }).collect();
    let split = if matches!(head.state, Outcome::Open) { payload.len() } else { head.arguments };
    if split > payload.len() {
        return Err(wrong("arguments"));
    }
    let (arguments, outcome) = (payload.slice(..split), payload.slice(split..));
    let key = match (row.key, head.call) {
        (Some(text), Some(call)) => Some(IdempotencyKey { text: unescape(&text).into(), call: RequestHash(call) }),
        (None, None) => None,
        _ => return Err(wrong("key")),
    };
    Ok(Arc::new(TaskRecord {
        id,
        principal: Principal::new(unescape(&row.principal)),
        key,
        target: Arc::new(Target::new(&unescape(&row.method), &unescape(&row.name), &unescape(&row.version))),
        created_at: from_millis(row.created_at).ok_or(wrong("created_at"))?,
        last_updated_at: UnixMillis::new(head.updated),
        ttl: optional(head.ttl).ok_or(wrong("ttl"))?,
        grace: head.grace.duration().ok_or(wrong("grace"))?,
        poll_interval: optional(head.poll).ok_or(wrong("poll"))?,
        status_message: body.message.map(Into::into),
        progress: head.progress.map(|(done, total)| Progress { done, total }),
        state: head.state.state(outcome, body.error.map(Into::into)).ok_or(wrong("state"))?,
        journal: Journal::new(arguments, InputLog::from_entries(inputs), steps),
        declared: InputKinds::from_bits(head.declared),
        on_cancel: if head.signal { OnCancel::Signal } else { OnCancel::Drop },
        on_restart: head.rerun.map_or(OnRestart::Fail, |max_attempts| OnRestart::Rerun { max_attempts }),
        cancel_requested: row.cancel_requested,
        attempt: head.attempt,
        rev: Rev(row.rev.try_into().map_err(|_| wrong("rev"))?),
        epoch: Epoch(row.epoch.try_into().map_err(|_| wrong("epoch"))?),
    }))
}

/// A payload in its place: in the row, or apart from it if it has more than `limit` bytes.
pub(crate) fn placed(payload: Option<Vec<u8>>, limit: usize) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    match payload {
        Some(large) if large.len() > limit => (None, Some(large)),
        small => (small, None),
    }
}

/// A time as it stands in a column. Far off is never.
pub(crate) fn millis(time: UnixMillis) -> i64 {
    i64::try_from(time.get()).unwrap_or(i64::MAX)
}

/// The time of a column; `None` if it is before the epoch.
pub(crate) fn from_millis(millis: i64) -> Option<UnixMillis> {
    match millis {
        i64::MAX => Some(UnixMillis::NEVER),
        _ => u64::try_from(millis).ok().map(UnixMillis::new),
    }
}

/// A text as it stands in a column: without NUL, and still told apart from every other text.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if text.contains(['\\', '\0']) {
        Cow::Owned(text.replace('\\', "\\\\").replace('\0', "\\0"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The text of a column.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(char) = chars.next() {
        match char {
            '\\' => plain.push(chars.next().map_or('\\', |escaped| if escaped == '0' { '\0' } else { escaped })),
            _ => plain.push(char),
        }
    }
    Cow::Owned(plain)
}

/// Counters start at 0 and are raised by 1: they end before this does.
fn count(counter: u64) -> i64 {
    i64::try_from(counter).unwrap_or(i64::MAX)
}

/// What is large: the arguments, and what the task ended with.
fn payload(record: &TaskRecord) -> Option<Cow<'_, [u8]>> {
    let arguments = record.journal.arguments();
    match (outcome(&record.state), arguments.is_empty()) {
        (None, true) => None,
        (None, false) => Some(arguments.into()),
        (Some(outcome), true) => Some(outcome.into()),
        (Some(outcome), false) => Some([arguments, outcome].concat().into()),
    }
}

/// The result or the reported error.
fn outcome(state: &TaskState) -> Option<&[u8]> {
    match state {
        TaskState::Settled(Settlement::Completed(result)) => Some(result),
        TaskState::Settled(Settlement::Failed(failure)) => match &**failure {
            Failure::Reported { error, .. } => Some(error),
            _ => None,
        },
        TaskState::Open | TaskState::Settled(Settlement::Cancelled) => None,
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Maps with keys that are no texts are all that serde_json refuses, and there are none here.
    serde_json::to_vec(value).unwrap_or_default()
}

fn parse<'a, T: Deserialize<'a>>(id: TaskId, part: &'static str, text: &'a [u8]) -> Result<T, Corrupt> {
    serde_json::from_slice(text).map_err(|cause| Corrupt::Unreadable { id, part, cause })
}

impl Head {
    fn of(record: &TaskRecord) -> Self {
        Self {
            v: VERSION,
            updated: record.last_updated_at.get(),
            ttl: record.ttl.map(Span::of),
            grace: Span::of(record.grace),
            poll: record.poll_interval.map(Span::of),
            progress: record.progress.map(|progress| (progress.done, progress.total)),
            state: Outcome::of(&record.state),
            declared: record.declared.bits(),
            signal: record.on_cancel == OnCancel::Signal,
            rerun: match record.on_restart {
                OnRestart::Fail => None,
                OnRestart::Rerun { max_attempts } => Some(max_attempts),
            },
            attempt: record.attempt,
            call: record.key.as_ref().map(|key| key.call.0),
            payload: outcome(&record.state).is_some() || !record.journal.arguments().is_empty(),
            arguments: if record.is_settled() { record.journal.arguments().len() } else { 0 },
        }
    }
}

impl Span {
    fn of(duration: Duration) -> Self {
        Self(duration.as_secs(), duration.subsec_nanos())
    }

    fn duration(self) -> Option<Duration> {
        (self.1 < 1_000_000_000).then(|| Duration::new(self.0, self.1))
    }
}

/// `None` if there is a span that is no duration.
fn optional(span: Option<Span>) -> Option<Option<Duration>> {
    span.map_or(Some(None), |span| span.duration().map(Some))
}

impl Outcome {
    fn of(state: &TaskState) -> Self {
        match state {
            TaskState::Open => Self::Open,
            TaskState::Settled(Settlement::Completed(_)) => Self::Completed,
            TaskState::Settled(Settlement::Cancelled) => Self::Cancelled,
            TaskState::Settled(Settlement::Failed(failure)) => match &**failure {
                Failure::Reported { .. } => Self::Reported,
                Failure::Panicked => Self::Panicked,
                Failure::ResultTooLarge { limit } => Self::TooLarge(*limit as u64),
                Failure::Interrupted => Self::Interrupted,
                Failure::Expired => Self::Expired,
            },
        }
    }

    fn state(self, payload: Bytes, message: Option<Arc<str>>) -> Option<TaskState> {
        let failure = match self {
            Self::Open => return Some(TaskState::Open),
            Self::Completed => return Some(TaskState::Settled(Settlement::Completed(payload))),
            Self::Cancelled => return Some(TaskState::Settled(Settlement::Cancelled)),
            Self::Reported => Failure::Reported { error: payload, message: message? },
            Self::Panicked => Failure::Panicked,
            Self::TooLarge(limit) => Failure::ResultTooLarge { limit: usize::try_from(limit).ok()? },
            Self::Interrupted => Failure::Interrupted,
            Self::Expired => Failure::Expired,
        };
        Some(TaskState::Settled(Settlement::failed(failure)))
    }
}

impl<'a> Body<'a> {
    /// `None` if there is nothing to be said.
    fn of(record: &'a TaskRecord) -> Option<Self> {
        let error = match &record.state {
            TaskState::Settled(Settlement::Failed(failure)) => match &**failure {
                Failure::Reported { message, .. } => Some(Cow::Borrowed(&**message)),
                _ => None,
            },
            _ => None,
        };
        let body = Self {
            message: record.status_message.as_deref().map(Cow::Borrowed),
            error,
            inputs: record.inputs().entries().iter().map(Input::of).collect(),
            steps: record
                .journal
                .steps()
                .iter()
                .map(|step| (Cow::Borrowed(&*step.key), Text::of(&step.value)))
                .collect(),
        };
        let empty = body.message.is_none() && body.error.is_none() && body.inputs.is_empty() && body.steps.is_empty();
        (!empty).then_some(body)
    }
}

impl<'a> Input<'a> {
    fn of(entry: &'a InputEntry) -> Self {
        let (request, response) = match &entry.state {
            InputState::Outstanding { request } => (Some(Text::of(request)), None),
            InputState::Answered { response } => (None, Some(Text::of(response))),
            InputState::Withdrawn => (None, None),
        };
        Self {
            key: entry.key.as_str().into(),
            name: Cow::Borrowed(&entry.name),
            ordinal: entry.ordinal,
            hash: entry.hash.0,
            request,
            response,
        }
    }

    fn entry(self) -> Option<InputEntry> {
        let state = match (self.request, self.response) {
            (Some(request), None) => InputState::Outstanding { request: request.into_bytes() },
            (None, Some(response)) => InputState::Answered { response: response.into_bytes() },
            (None, None) => InputState::Withdrawn,
            (Some(_), Some(_)) => return None,
        };
        Some(InputEntry {
            key: InputKey::new(self.key),
            name: self.name.into(),
            ordinal: self.ordinal,
            hash: RequestHash(self.hash),
            state,
        })
    }
}
