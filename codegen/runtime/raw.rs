//! Opaque payloads as the JSON text they came in.

use crate::support::{JsonObject, Payload, kind};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A JSON object kept as text: reading does not take it apart and writing does not put it together again.
///
/// It reads from JSON text and from [`serde_json::Value`] only. Its members are not checked until they are
/// [parsed](RawObject::parse), so depth and numbers are those of the text.
#[derive(Clone, Debug)]
pub struct RawObject(Box<RawValue>);

impl RawObject {
    /// The object in this JSON text.
    ///
    /// # Errors
    /// The text is not JSON, or not an object.
    pub fn from_text(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        Self::checked(RawValue::from_string(text.into())?).map_err(serde_json::Error::custom)
    }

    /// A value written as JSON text.
    ///
    /// # Errors
    /// The value cannot be written, or is not an object.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Self::from_text(serde_json::to_string(value)?)
    }

    /// The JSON text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The object as a type.
    ///
    /// # Errors
    /// The text does not fit the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }

    fn checked(raw: Box<RawValue>) -> Result<Self, String> {
        match raw.get().as_bytes().first() {
            Some(b'{') => Ok(Self(raw)),
            _ => Err(format!("invalid type: {}, expected an object", kind_of_text(raw.get()))),
        }
    }
}

fn kind_of_text(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'n') => kind(&Value::Null),
        Some(b't' | b'f') => kind(&Value::Bool(true)),
        Some(b'"') => kind(&Value::String(String::new())),
        Some(b'[') => kind(&Value::Array(Vec::new())),
        _ => "number",
    }
}

impl PartialEq for RawObject {
    /// Equal texts; the same object in other words is not equal.
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::checked(Box::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Payload for RawObject {
    type Held = Box<RawValue>;

    fn from_held(held: Box<RawValue>) -> Result<Self, String> {
        Self::checked(held)
    }

    fn held_value(held: Box<RawValue>) -> Result<Value, String> {
        serde_json::from_str(held.get()).map_err(|error| error.to_string())
    }
}

impl TryFrom<&RawObject> for JsonObject {
    type Error = serde_json::Error;

    fn try_from(raw: &RawObject) -> Result<Self, Self::Error> {
        raw.parse()
    }
}
