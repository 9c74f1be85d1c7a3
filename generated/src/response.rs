//! A response as a whole message.

use crate::support::{self, Extra, Members, Record};
use crate::{ErrorObject, RequestId};
use serde::de::{DeserializeOwned, Error as _, MapAccess};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A JSON-RPC response: the result of a request, or why there is none.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Response<T> {
    /// The id of the request; `None` only where an error is about a message whose id could not be read.
    pub id: Option<RequestId>,
    /// The result, or the error.
    pub outcome: Result<T, ErrorObject>,
    /// Members that JSON-RPC does not name.
    pub extra: Extra,
}

impl<T> Response<T> {
    /// The response to a request.
    pub fn new(id: RequestId, outcome: Result<T, ErrorObject>) -> Self {
        Self { id: Some(id), outcome, extra: Extra::default() }
    }
}

impl<T: DeserializeOwned> Record for Response<T> {
    const NAME: &'static str = "Response";
    const KEYS: &'static [&'static str] = &["jsonrpc", "id", "result", "error"];

    fn read<'de, A: MapAccess<'de>>(mut members: Members<A>) -> Result<Self, A::Error> {
        let (mut version, mut id, mut result, mut error) = (None, None::<Option<RequestId>>, None, None);
        while let Some(index) = members.advance()? {
            match index {
                0 => members.tag(&["2.0"], &mut version)?,
                1 => members.put(&mut id)?,
                2 => members.put(&mut result)?,
                3 => members.put(&mut error)?,
                _ => members.keep()?,
            }
        }
        members.constant(0, version, "2.0", &[])?;
        let outcome = match (result, error) {
            (Some(result), None) => Ok(result),
            (None, Some(error)) => Err(error),
            (None, None) => return Err(A::Error::custom("Response: neither `result` nor `error` is there")),
            (Some(_), Some(_)) => return Err(A::Error::custom("Response: `result` and `error` are both there")),
        };
        let id = id.flatten();
        if id.is_none() && outcome.is_ok() {
            return Err(A::Error::custom("Response.id: is missing"));
        }
        Ok(Self { id, outcome, extra: members.extra() })
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Response<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        support::read(deserializer)
    }
}

impl<T: DeserializeOwned + Serialize> Serialize for Response<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        support::write(self, serializer, |members| {
            members.put(0, "2.0");
            members.optional(1, &self.id);
            match &self.outcome {
                Ok(result) => members.put(2, result),
                Err(error) => members.put(3, error),
            }
            members.keep(&self.extra);
        })
    }
}
