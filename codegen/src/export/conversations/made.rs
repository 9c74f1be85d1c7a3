//! Steps as they are written out, with their members in this order.

use super::format::Who;
use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value};

/// A request with its response.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exchange<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) who: Option<Who>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after_ms: Option<u64>,
    pub(super) request: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) body: Option<&'a str>,
    pub(super) definition: Option<&'a str>,
    pub(super) http: Http<'a>,
    #[serde(flatten)]
    pub(super) answer: Option<Answer>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) absent: &'a [String],
}

/// What a transport adds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Http<'a> {
    pub(super) headers: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<u16>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(super) response_headers: &'a IndexMap<String, String>,
}

/// A response, and the definition that it has to fit.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    pub(super) response: Value,
    pub(super) response_definition: Option<String>,
}

/// A response that has no place in its exchange.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Late {
    pub(super) message: Value,
    pub(super) response_definition: Option<String>,
}

/// A notification.
#[derive(Serialize)]
pub(super) struct Notification<'a> {
    pub(super) message: Value,
    pub(super) definition: Option<&'a str>,
}
