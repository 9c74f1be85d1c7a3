//! Responses, with the status that each has.

use ::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use mcp_tasks_types::ErrorCode;
use tokio::sync::mpsc;

use crate::{
    http::{
        body::{self, ResponseBody, Unread},
        transport::{EVENT_STREAM, JSON},
    },
    protocol::{self, ProtocolError},
    wire::Object,
};

/// The answer to a request. `id` is JSON text.
pub(super) fn answer(id: &str, outcome: &Result<Vec<u8>, ProtocolError>) -> Response<ResponseBody> {
    let status = outcome.as_ref().err().map_or(200, ProtocolError::http_status);
    json(StatusCode::from_u16(status).unwrap_or_default(), protocol::response(id, outcome))
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
