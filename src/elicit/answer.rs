//! Answers: what they look like, and whether they fit the question (UPD-07). A function of the two texts alone, so that
//! any node can check an answer before it is taken.

use bytes::Bytes;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::field::check_format;
use crate::{
    json_schema,
    types::{CreateMessageResult, ElicitRequestParams, InputRequest, ListRootsResult, support::JsonObject},
};

/// What the user did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Accept,
    Decline,
    Cancel,
}

/// The result of an elicitation, read leniently: members that nobody asked for are let be, whatever they hold.
#[derive(Debug, Deserialize)]
pub(super) struct ElicitAnswer {
    pub action: Action,
    content: Option<JsonObject>,
}

impl ElicitAnswer {
    /// What was entered in the fields of these names. A field that is `null` was left out.
    pub fn entered(&self, names: &[String]) -> JsonObject {
        let content = self.content.iter().flatten();
        let named = content.filter(|(name, value)| !value.is_null() && names.contains(name));
        named.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Whether `response` fits `request`, both JSON text: the [`ValidateInput`](crate::engine::ValidateInput) of an engine
/// whose tools ask by [`elicit`](crate::context::TaskContext::elicit) and its neighbours.
///
/// A form's answer that is accepted has to fit the form; members that the form does not name are allowed (UPD-07).
///
/// ```
/// use bytes::Bytes;
/// use mcp_tasks::elicit::validate_response;
///
/// let request = Bytes::from_static(br#"{"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema":
///     {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}"#);
/// let accepted = |content: &str| Bytes::from(format!(r#"{{"action": "accept", "content": {content}}}"#));
/// assert_eq!(validate_response(&request, &accepted(r#"{"name": "Ada"}"#)), Ok(()));
/// assert_eq!(validate_response(&request, &accepted("{}")), Err("`name` is missing".to_owned()));
/// assert_eq!(validate_response(&request, &Bytes::from_static(br#"{"action": "decline"}"#)), Ok(()));
/// ```
///
/// # Errors
/// Why it does not fit, in words for the client.
pub fn validate_response(request: &Bytes, response: &Bytes) -> Result<(), String> {
    // A question that is none of ours is opaque, and so is its answer.
    let Ok(request) = serde_json::from_slice::<InputRequest>(request) else { return Ok(()) };
    match request {
        InputRequest::ElicitationCreate(request) => validate_elicited(&request.params, &read(response)?),
        InputRequest::SamplingCreateMessage(_) => read::<CreateMessageResult>(response).map(drop),
        InputRequest::RootsList(_) => read::<ListRootsResult>(response).map(drop),
        _ => Ok(()),
    }
}

fn read<T: DeserializeOwned>(response: &Bytes) -> Result<T, String> {
    serde_json::from_slice(response).map_err(|error| error.to_string())
}

fn validate_elicited(params: &ElicitRequestParams, answer: &ElicitAnswer) -> Result<(), String> {
    let ElicitRequestParams::Form(form) = params else { return Ok(()) };
    if answer.action != Action::Accept {
        return Ok(());
    }
    let names: Vec<String> = form.requested_schema.properties.keys().cloned().collect();
    let entered = answer.entered(&names);
    let schema = match serde_json::to_value(&form.requested_schema) {
        Ok(Value::Object(schema)) => schema,
        _ => return Err("the form cannot be read".to_owned()),
    };
    json_schema::check_object(&schema, &entered).map_err(|mismatch| mismatch.to_string())?;
    entered.iter().try_for_each(|(name, value)| check_format(&schema["properties"][name], name, value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verdict(request: &Value, response: &Value) -> String {
        let bytes = |value: &Value| Bytes::from(value.to_string());
        validate_response(&bytes(request), &bytes(response)).map_or_else(|why| why, |()| "fits".to_owned())
    }

    fn form(properties: &Value) -> Value {
        let schema = json!({"type": "object", "properties": properties, "required": ["a"]});
        json!({"method": "elicitation/create", "params": {"mode": "form", "message": "?", "requestedSchema": schema}})
    }

    /// UPD-07: content that fails the form is refused, with the reason; members it does not name are allowed.
    #[test]
    fn content_is_held_against_the_form() {
        let form = form(&json!({
            "a": {"type": "integer", "minimum": 1},
            "b": {"type": "string", "format": "email"},
            "c": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "maxItems": 1}
        }));
        let accept = |content: Value| verdict(&form, &json!({"action": "accept", "content": content}));
        assert_eq!(accept(json!({"a": 1, "other": {"deep": null}})), "fits");
        assert_eq!(accept(json!({"a": 1, "b": null})), "fits");
        assert_eq!(accept(json!({"a": null})), "`a` is missing");
        assert_eq!(accept(json!({"a": 0})), "`/a`: 0 is less than 1");
        assert_eq!(accept(json!({"a": "1"})), "`/a`: \"1\" is not of type integer");
        assert_eq!(accept(json!({"a": 1, "b": "me"})), "`/b`: \"me\" is no email");
        assert_eq!(accept(json!({"a": 1, "c": ["z"]})), "`/c/0`: \"z\" is none of \"x\", \"y\"");
        assert_eq!(accept(json!({"a": 1, "c": ["x", "y"]})), "`/c`: 2 items are more than 1");
        assert_eq!(verdict(&form, &json!({"action": "accept"})), "`a` is missing");
    }

    /// Case 18: declining and dismissing need no content, and what stands there does not matter.
    #[test]
    fn only_what_is_accepted_has_content() {
        let form = form(&json!({"a": {"type": "boolean"}}));
        assert_eq!(verdict(&form, &json!({"action": "decline"})), "fits");
        assert_eq!(verdict(&form, &json!({"action": "cancel", "content": {"a": 1}})), "fits");
        let unknown = verdict(&form, &json!({"action": "ignore"}));
        assert!(unknown.starts_with("unknown variant `ignore`"), "{unknown}");
    }

    /// UPD-07: the result of one kind of request is no answer to another.
    #[test]
    fn the_result_type_is_that_of_the_request() {
        let roots = json!({"method": "roots/list"});
        let url =
            json!({"method": "elicitation/create", "params": {"mode": "url", "message": "?", "url": "https://a.b"}});
        let sampling = json!({"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}});
        let sampled = json!({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"});
        assert_eq!(verdict(&roots, &json!({"roots": []})), "fits");
        assert_eq!(verdict(&url, &json!({"action": "accept"})), "fits");
        assert_eq!(verdict(&sampling, &sampled), "fits");
        for (request, response) in
            [(&roots, json!({"action": "accept"})), (&url, json!({"roots": []})), (&sampling, json!(7))]
        {
            assert_ne!(verdict(request, &response), "fits");
        }
    }
}
