//! The headers that say what is in the body, so that something in between need not look: they must be there and agree
//! with it (HTTP-02, SEP-2243). Pure.

use std::borrow::Cow;

use ::http::HeaderMap;
use base64::{Engine, prelude::BASE64_STANDARD};
use mcp_tasks_types::ErrorCode;

use crate::protocol::ProtocolError;

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// What the body says of itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body<'a> {
    pub version: Option<&'a str>,
    pub method: &'a str,
    /// `params.taskId`, for the methods whose name it is.
    pub task_id: Option<&'a str>,
}

/// The version in the header, where it is given once.
pub(super) fn version(headers: &HeaderMap) -> Option<&str> {
    single(headers, VERSION).ok().flatten()
}

/// Refuses a header that is missing, given twice, unreadable or not what the body says, with `-32020`.
pub(super) fn check(headers: &HeaderMap, body: &Body<'_>) -> Result<(), ProtocolError> {
    expect(headers, VERSION, body.version)?;
    expect(headers, METHOD, Some(body.method))?;
    match body.task_id {
        Some(id) => expect(headers, NAME, Some(id)),
        None => Ok(()),
    }
}

/// `expected` is `None` where the body does not say, which is refused later.
fn expect(headers: &HeaderMap, header: &'static str, expected: Option<&str>) -> Result<(), ProtocolError> {
    let value = single(headers, header)?.ok_or_else(|| mismatch(header, "is missing"))?;
    let value = decode(value).ok_or_else(|| mismatch(header, "is no valid Base64 text"))?;
    match expected {
        Some(expected) if expected != value => Err(mismatch(header, "does not agree with the body")),
        _ => Ok(()),
    }
}

fn single<'a>(headers: &'a HeaderMap, header: &'static str) -> Result<Option<&'a str>, ProtocolError> {
    let mut values = headers.get_all(header).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(mismatch(header, "is given twice"));
    }
    value.to_str().map(Some).map_err(|_| mismatch(header, "is not readable"))
}

/// A value that is no plain header text comes as `=?base64?...?=`.
fn decode(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
        None => Some(Cow::Borrowed(value)),
    }
}

fn mismatch(header: &str, what: &str) -> ProtocolError {
    ProtocolError::new(ErrorCode::HEADER_MISMATCH, format!("the header {header} {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(pairs: &[(&'static str, &'static str)], task_id: Option<&str>) -> Result<(), String> {
        let pairs = pairs.iter().map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")));
        let mut headers = HeaderMap::new();
        pairs.for_each(|(name, value): (::http::HeaderName, ::http::HeaderValue)| {
            headers.append(name, value);
        });
        let body = Body { version: Some("2026-07-28"), method: "tasks/get", task_id };
        check(&headers, &body).map_err(|error| {
            assert_eq!(error.code, -32020);
            error.message.into_owned()
        })
    }

    /// HTTP-02, case 32.
    #[test]
    fn headers_agree_with_the_body_or_are_refused() {
        let (version, method) = (("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tasks/get"));
        let name = |value| [version, method, ("mcp-name", value)];
        assert_eq!(outcome(&name("ab"), Some("ab")), Ok(()));
        assert_eq!(outcome(&name("=?base64?YWI=?="), Some("ab")), Ok(()));
        assert_eq!(outcome(&name("=?base64?w6k=?="), Some("é")), Ok(()));
        assert_eq!(outcome(&[version, method], None), Ok(()));
        let refused = |pairs: &[_], why: &str| assert_eq!(outcome(pairs, Some("ab")), Err(format!("the header {why}")));
        refused(&[method], "mcp-protocol-version is missing");
        refused(&[("MCP-Protocol-Version", "2025-11-25"), method], "mcp-protocol-version does not agree with the body");
        refused(&[version, version, method], "mcp-protocol-version is given twice");
        refused(&[version], "mcp-method is missing");
        refused(&[version, ("Mcp-Method", "TASKS/GET")], "mcp-method does not agree with the body");
        refused(&[version, method, method], "mcp-method is given twice");
        refused(&[version, method], "mcp-name is missing");
        refused(&name("AB"), "mcp-name does not agree with the body");
        refused(&name("=?base64?YWI?="), "mcp-name is no valid Base64 text");
        refused(&name("=?base64?/w==?="), "mcp-name is no valid Base64 text");
        refused(&[version, method, ("Mcp-Name", "ab"), ("mcp-name", "ab")], "mcp-name is given twice");
    }
}
