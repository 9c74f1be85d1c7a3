//! Responses, with the status that each has.

use std::time::Duration;

use ::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use mcp_tasks_types::ErrorCode;
use tokio::sync::mpsc;

use crate::{
    http::{
        body::{self, ResponseBody, Unread},
        transport::{EVENT_STREAM, JSON},
    },
    protocol::{self, Answer, ProtocolError},
    wire::Object,
};

/// The answer to a request. `id` is JSON text.
pub(super) fn answer(id: &str, outcome: &Result<Answer, ProtocolError>) -> Response<ResponseBody> {
    let error = outcome.as_ref().err();
    let status = error.map_or(200, ProtocolError::http_status);
    let mut response = json(StatusCode::from_u16(status).unwrap_or_default(), protocol::response(id, outcome));
    if let Some(wait) = error.and_then(ProtocolError::retry_after) {
        response.headers_mut().insert(header::RETRY_AFTER, whole_seconds(wait).into());
    }
    response
}

/// `Retry-After` knows no parts of seconds.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

/// An error that is the fault of the request as such, and not of what it asks for.
pub(super) fn bad_request(id: &str, error: ProtocolError) -> Response<ResponseBody> {
    json(StatusCode::BAD_REQUEST, protocol::response(id, &Err(error)))
}

/// A body that is no message has no id to answer to.
pub(super) fn malformed() -> Response<ResponseBody> {
    let error =
        ProtocolError::new(ErrorCode::INVALID_REQUEST, "the body is no message, or gives one of its keys twice");
    let mut message = Object::with_capacity(128);
    message.plain("jsonrpc", "2.0");
    message.raw("error", &error.to_json());
    json(StatusCode::BAD_REQUEST, message.end())
}

/// A message that does not say that it is one of JSON-RPC 2.0.
pub(super) fn not_jsonrpc(id: &str) -> Response<ResponseBody> {
    bad_request(id, ProtocolError::new(ErrorCode::INVALID_REQUEST, "the message lacks `\"jsonrpc\": \"2.0\"`"))
}

/// There is no such method under a version before 2026-07-28, whose clients take status 404 for the end of their session.
pub(super) fn no_such_method(id: &str, method: &str) -> Response<ResponseBody> {
    json(StatusCode::OK, protocol::response(id, &Err(ProtocolError::method_not_found(method))))
}

pub(super) fn unread(why: Unread) -> Response<ResponseBody> {
    let (status, text) = match why {
        Unread::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"),
        Unread::Broken => (StatusCode::BAD_REQUEST, "the body ended early"),
    };
    let mut response = Response::new(body::whole(text));
    *response.status_mut() = status;
    response
}

/// A stream of server-sent events.
pub(super) fn events(receiver: mpsc::Receiver<Bytes>) -> Response<ResponseBody> {
    let mut response = Response::new(body::stream(receiver));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn json(status: StatusCode, text: Vec<u8>) -> Response<ResponseBody> {
    let mut response = Response::new(body::whole(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}
