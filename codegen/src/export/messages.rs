//! Which definitions are whole messages, or the result of one.

use crate::ir::{Content, Definition, Object, Revision, Shape, Type};
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

/// The first whole message of JSON-RPC that is it.
pub(super) fn envelope(revision: &Revision, is_it: impl Fn(&Object) -> bool) -> Option<&str> {
    let mut objects = revision.definitions().filter(|it| is_envelope(it)).filter_map(|definition| {
        let Shape::Object(object) = &definition.shape else { return None };
        Some((definition.name.as_str(), object))
    });
    objects.find(|(_, object)| is_it(object)).map(|(name, _)| name)
}

/// The response that has a result in it.
pub(super) fn result_response(revision: &Revision) -> Option<&str> {
    envelope(revision, |object| object.field("result").is_some())
}

/// The response that has an error in it: the one for this code alone, or else the one for any.
pub(super) fn error_response(revision: &Revision, code: Option<i64>) -> Option<&str> {
    let code_of = |object: &Object| match &object.field("error")?.content {
        Content::Typed(Type::Named(name)) => Some(revision.object(name)?.field("code").map(|field| &field.content)),
        _ => None,
    };
    let of_code = |code| {
        envelope(revision, move |it| matches!(code_of(it), Some(Some(Content::ConstantInteger(own))) if *own == code))
    };
    let of_any = || envelope(revision, |it| matches!(code_of(it), Some(Some(Content::Typed(_)))));
    code.and_then(of_code).or_else(of_any)
}

/// The result of a request: the one the overlay names, or the one that is named after it.
pub(super) fn result_of(request: &str, settings: &Settings) -> Option<String> {
    let stem = request.strip_suffix("Request")?;
    Some(settings.results.get(request).cloned().unwrap_or_else(|| format!("{stem}Result")))
}
