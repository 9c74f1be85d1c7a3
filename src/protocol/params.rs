//! Parameters of `tasks/get`, `tasks/update` and `tasks/cancel`, read strictly: a key that is given twice is refused, for
//! two readers could take different ones (HTTP-02).

use std::{borrow::Cow, collections::HashSet, fmt};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{input::InputKey, protocol::ProtocolError};

/// The parameters of `tasks/get` and `tasks/cancel`.
#[derive(Deserialize)]
pub(super) struct TaskParams {
    #[serde(rename = "taskId")]
    task_id: Box<str>,
}

impl TaskParams {
    pub fn read(params: &[u8]) -> Result<Self, ProtocolError> {
        read(params)
    }

    pub fn task_id(&self) -> &str {
        &self.task_id
    }
}

/// The parameters of `tasks/update`.
#[derive(Deserialize)]
pub(super) struct UpdateParams {
    #[serde(rename = "taskId")]
    task_id: Box<str>,
    #[serde(rename = "inputResponses")]
    responses: Responses,
}

impl UpdateParams {
    pub fn read(params: &[u8]) -> Result<Self, ProtocolError> {
        read(params)
    }

    pub fn task_id(&self) -> &str {
        &self.task_id
    }

    /// The answers, each as the JSON text it came in.
    pub fn into_responses(self) -> Vec<(InputKey, Bytes)> {
        self.responses.0
    }
}

/// What is wrong with parameters that do not read, as a sentence; of the text itself it repeats nothing.
fn read<T: DeserializeOwned>(params: &[u8]) -> Result<T, ProtocolError> {
    let params = if params.is_empty() { b"{}" } else { params };
    // A struct would also be read from an array, by position.
    if params.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(ProtocolError::invalid_params("the parameters are not an object"));
    }
    serde_json::from_slice(params).map_err(|error| ProtocolError::invalid_params(reason(&error)))
}

/// The error without the place in a text that the client never wrote in that form.
fn reason(error: &serde_json::Error) -> Cow<'static, str> {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
    format!("invalid parameters: {text}").into()
}

/// A map whose values stay JSON text.
struct Responses(Vec<(InputKey, Bytes)>);

impl<'de> Deserialize<'de> for Responses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ResponsesVisitor)
    }
}

struct ResponsesVisitor;

impl<'de> Visitor<'de> for ResponsesVisitor {
    type Value = Responses;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of input responses")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Responses, A::Error> {
        let (mut responses, mut seen) = (Vec::new(), HashSet::new());
        while let Some((key, value)) = map.next_entry::<Box<str>, Box<RawValue>>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom("an input response is given twice"));
            }
            responses.push((InputKey::new(key), Bytes::from(String::from(Box::<str>::from(value)))));
        }
        Ok(Responses(responses))
    }
}
