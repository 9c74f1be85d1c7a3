//! Which requests are answered here, and the checks on them before anybody acts (HTTP-02). Pure.

use std::{borrow::Cow, error::Error};

use ::http::HeaderMap;
use rmcp::model::ProtocolVersion;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    http::headers,
    principal::Principal,
    protocol::{
        Caller, Declared, Envelope, LISTEN, Listen, MalformedMessage, ProtocolError, TASKS_SINCE, is_tasks_method,
    },
};

/// What a body is to the layer.
pub(super) enum Message<'a> {
    Ours(Box<Request<'a>>),
    /// About tasks, by the id and method, under a version that does not have them (LEG-01).
    Legacy(&'a str, Cow<'a, str>),
    /// It would be answered here, by this id, if it said that it is a message of JSON-RPC 2.0.
    NotJsonRpc(&'a str),
    /// rmcp's to answer or to refuse.
    Foreign,
    /// JSON, but no message: a key is given twice, or is of the wrong kind.
    Malformed,
}

/// A request that is answered here.
pub(super) struct Request<'a> {
    /// JSON text.
    pub id: &'a str,
    pub params: &'a [u8],
    pub declared: Declared,
    pub kind: Kind<'a>,
}

pub(super) enum Kind<'a> {
    Tasks(Cow<'a, str>),
    Listen(Result<Listen, ProtocolError>),
}

impl<'a> Message<'a> {
    /// Only an object is a message of this protocol; a list is not read as one by position.
    pub fn read(body: &'a [u8], headers: &HeaderMap) -> Self {
        if body.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Self::Foreign;
        }
        match Envelope::read(body) {
            Ok(envelope) => Self::of(envelope, headers),
            Err(error) if is_json(&error) => Self::Malformed,
            Err(_) => Self::Foreign,
        }
    }

    fn of(envelope: Envelope<'a>, headers: &HeaderMap) -> Self {
        let is_jsonrpc = envelope.is_jsonrpc();
        let Some(request) = Request::of(envelope) else { return Self::Foreign };
        match (request.era(headers), request) {
            (Era::Unknown, _) => Self::Foreign,
            (_, request) if !is_jsonrpc => Self::NotJsonRpc(request.id),
            (Era::Tasks, request) => Self::Ours(Box::new(request)),
            (Era::Legacy, Request { id, kind: Kind::Tasks(method), .. }) => Self::Legacy(id, method),
            (Era::Legacy, _) => Self::Foreign,
        }
    }
}

/// What the version of a request means for tasks.
enum Era {
    /// It has them.
    Tasks,
    /// It is known not to have them.
    Legacy,
    /// Nobody knows the version: rmcp's to refuse.
    Unknown,
}

/// What is no JSON at all is left to rmcp, which cannot read it either.
fn is_json(error: &MalformedMessage) -> bool {
    error.source().and_then(|cause| cause.downcast_ref::<serde_json::Error>()).is_some_and(serde_json::Error::is_data)
}

impl<'a> Request<'a> {
    fn of(envelope: Envelope<'a>) -> Option<Self> {
        let (_, id) = envelope.as_request().filter(|(_, id)| is_request_id(id))?;
        let params = envelope.params();
        let kind = Kind::of(envelope.method?, params)?;
        Some(Self { id, params, declared: Declared::read(params), kind })
    }

    /// Header and body may disagree, which is refused later if one of them says that there are tasks.
    fn era(&self, headers: &HeaderMap) -> Era {
        let said = [headers::version(headers), self.declared.version.as_deref()];
        if said.contains(&Some(TASKS_SINCE)) {
            return Era::Tasks;
        }
        let known = |version: &str| ProtocolVersion::KNOWN_VERSIONS.iter().any(|known| known.as_str() == version);
        if said.into_iter().flatten().all(|version| version < TASKS_SINCE && known(version)) {
            Era::Legacy
        } else {
            Era::Unknown
        }
    }

    fn method(&self) -> &str {
        match &self.kind {
            Kind::Tasks(method) => method,
            Kind::Listen(_) => LISTEN,
        }
    }

    /// Headers first, then whether the request says all that one of this version must say of its client.
    pub fn check(&self, headers: &HeaderMap) -> Result<(), ProtocolError> {
        let (method, version) = (self.method(), self.declared.version.as_deref());
        let task_id = task_id(method, self.params);
        let body = headers::Body { version, method, task_id: task_id.as_deref() };
        headers::check(headers, &body)
    }

    /// Without version and capabilities in `_meta` it is no request of this version.
    pub fn is_complete(&self) -> bool {
        self.declared.complete
    }

    pub fn caller<'b>(&'b self, principal: &'b Principal) -> Caller<'b> {
        Caller { version: self.declared.version.as_deref(), declares_tasks: self.declared.tasks, principal }
    }
}

impl<'a> Kind<'a> {
    fn of(method: Cow<'a, str>, params: &[u8]) -> Option<Self> {
        if is_tasks_method(&method) {
            return Some(Self::Tasks(method));
        }
        if method != LISTEN {
            return None;
        }
        match Listen::read(params) {
            Ok(listen) => listen.map(|listen| Self::Listen(Ok(listen))),
            Err(error) => Some(Self::Listen(Err(error))),
        }
    }
}

/// The task that the header `Mcp-Name` must name; `None` where the method has no such header, or the body no such text,
/// which is refused with the other parameters.
fn task_id<'a>(method: &str, params: &'a [u8]) -> Option<Cow<'a, str>> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(rename = "taskId", borrow)]
        task_id: Option<&'a RawValue>,
    }
    if !matches!(method, "tasks/get" | "tasks/update" | "tasks/cancel") {
        return None;
    }
    let params: Params<'a> = serde_json::from_slice(params).ok()?;
    serde_json::from_str(params.task_id?.get()).ok().map(|Text(text)| text)
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A text or an integer; anything else is not repeated to anybody.
fn is_request_id(id: &str) -> bool {
    let digits = id.strip_prefix('-').unwrap_or(id);
    id.starts_with('"') || !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The body of a listen without its `taskIds`: what rmcp is asked for the other kinds. `None` if it is no such body.
pub(super) fn without_task_ids(body: &[u8]) -> Option<Vec<u8>> {
    let mut message: serde_json::Value = serde_json::from_slice(body).ok()?;
    message.pointer_mut("/params/notifications")?.as_object_mut()?.shift_remove("taskIds")?;
    serde_json::to_vec(&message).ok()
}
