//! Which definitions are whole messages, or the result of one.

use crate::ir::{Content, Definition, Revision, Shape};
use crate::overlay::Settings;

/// The names of all requests, results, notifications and error responses, each once, in the order of the schemas.
pub(super) fn names<'a>(revision: &'a Revision, settings: &Settings) -> Vec<&'a str> {
    let results: Vec<String> = revision
        .definitions()
        .filter(|definition| is_envelope(definition))
        .filter_map(|request| result_of(&request.name, settings))
        .collect();
    let is_message = |definition: &&Definition| is_envelope(definition) || results.contains(&definition.name);
    revision.definitions().filter(is_message).map(|definition| definition.name.as_str()).collect()
}

/// Whether it is a whole message of JSON-RPC.
pub(super) fn is_envelope(definition: &Definition) -> bool {
    let Shape::Object(object) = &definition.shape else { return false };
    object.field("jsonrpc").is_some_and(|field| matches!(field.content, Content::Constant(_)))
}

/// The result of a request: the one the overlay names, or the one that is named after it.
pub(super) fn result_of(request: &str, settings: &Settings) -> Option<String> {
    let stem = request.strip_suffix("Request")?;
    Some(settings.results.get(request).cloned().unwrap_or_else(|| format!("{stem}Result")))
}
