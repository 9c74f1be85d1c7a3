//! Which requests are answered here, and the checks on them before anybody acts (HTTP-02). Pure.

use std::{borrow::Cow, error::Error};

use ::http::HeaderMap;
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
            Ok(envelope) => {
                Request::of(envelope, headers).map_or(Self::Foreign, |request| Self::Ours(Box::new(request)))
            }
            Err(error) if is_json(&error) => Self::Malformed,
            Err(_) => Self::Foreign,
        }
    }
}

/// What is no JSON at all is left to rmcp, which cannot read it either.
fn is_json(error: &MalformedMessage) -> bool {
    error.source().and_then(|cause| cause.downcast_ref::<serde_json::Error>()).is_some_and(serde_json::Error::is_data)
}

impl<'a> Request<'a> {
    fn of(envelope: Envelope<'a>, headers: &HeaderMap) -> Option<Self> {
        let (_, id) = envelope.as_request().filter(|(_, id)| is_request_id(id))?;
        let params = envelope.params();
        let kind = Kind::of(envelope.method?, params)?;
        let declared = Declared::read(params);
        let ours = [headers::version(headers), declared.version.as_deref()].contains(&Some(TASKS_SINCE));
        ours.then_some(Self { id, params, declared, kind })
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
