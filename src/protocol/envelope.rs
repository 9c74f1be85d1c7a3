//! The outside of a JSON-RPC message: enough to know whose it is, without taking its parameters apart.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A message, its parts still JSON text where they need not be known.
///
/// A key that is given twice makes a message malformed (HTTP-02): two readers could take different ones.
#[derive(Debug, Clone, Deserialize)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The version of JSON-RPC; see [`is_jsonrpc`](Self::is_jsonrpc).
    #[serde(borrow, default)]
    pub jsonrpc: Option<&'a RawValue>,
    /// The id, with its own JSON type (case 44); `None` for a notification. An explicit `null` is kept as such.
    #[serde(borrow, default, deserialize_with = "present")]
    pub id: Option<&'a RawValue>,
    /// The method; `None` for a response.
    #[serde(borrow, default)]
    pub method: Option<Cow<'a, str>>,
    /// The parameters.
    #[serde(borrow, default)]
    pub params: Option<&'a RawValue>,
    /// The result of a response.
    #[serde(borrow, default, deserialize_with = "present")]
    pub result: Option<&'a RawValue>,
    /// The error of a response.
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

/// The text is no JSON object that could be a message.
#[derive(Debug, thiserror::Error)]
#[error("malformed message")]
pub struct MalformedMessage(#[source] serde_json::Error);

impl MalformedMessage {
    /// Whether it is JSON, and no message all the same: a key is given twice, or the method is no text.
    pub fn is_ambiguous(&self) -> bool {
        self.0.is_data()
    }
}

impl<'a> Envelope<'a> {
    /// Reads a message.
    ///
    /// # Errors
    /// [`MalformedMessage`] if it is no JSON object, gives one of these keys twice, or has a method that is no text.
    pub fn read(message: &'a [u8]) -> Result<Self, MalformedMessage> {
        serde_json::from_slice(message).map_err(MalformedMessage)
    }

    /// Whether the message says that it is one of JSON-RPC 2.0, as each must.
    pub fn is_jsonrpc(&self) -> bool {
        self.jsonrpc.is_some_and(|version| version.get() == r#""2.0""#)
    }

    /// Method and id, if it is a request: something that is answered.
    pub fn as_request(&self) -> Option<(&str, &'a str)> {
        let id = self.id.map(RawValue::get).filter(|id| *id != "null")?;
        Some((self.method.as_deref()?, id))
    }

    /// The parameters as JSON text; empty if there are none.
    pub fn params(&self) -> &'a [u8] {
        self.params.map_or(&[], |params| params.get().as_bytes())
    }
}

fn present<'de: 'a, 'a, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}
