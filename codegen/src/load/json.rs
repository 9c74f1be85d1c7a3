//! JSON text to a value in which nothing was lost: a member given twice is an error that says where.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::fmt;

/// The value of a text; or the pointer at which it went wrong, and how.
pub(super) fn parse(text: &str) -> Result<Value, (String, serde_json::Error)> {
    let place = Place::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    let parsed = Reader(&place).deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    parsed.map_err(|error| (place.pointer(), error))
}

/// The steps to the value that is read, left as they are when reading fails.
#[derive(Default)]
struct Place(RefCell<Vec<String>>);

impl Place {
    fn pointer(&self) -> String {
        self.0.borrow().iter().map(|step| format!("/{}", crate::document::escape(step))).collect()
    }

    fn below<T, E>(&self, step: &str, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.0.borrow_mut().push(step.to_owned());
        let value = read()?;
        self.0.borrow_mut().pop();
        Ok(value)
    }
}

struct Reader<'p>(&'p Place);

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let step = values.len().to_string();
            match self.0.below(&step, || items.next_element_seed(Reader(self.0)))? {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = self.0.below(&name, || match members.contains_key(&name) {
                true => Err(A::Error::custom(format_args!("`{name}` is given twice"))),
                false => map.next_value_seed(Reader(self.0)),
            })?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use serde_json::json;

    #[test]
    fn a_member_given_twice_is_found_at_its_place() {
        let (pointer, error) = parse(r#"{"a": [1, {"b/c": 1, "b/c": 2}]}"#).unwrap_err();
        assert_eq!(pointer, "/a/1/b~1c");
        assert!(error.to_string().starts_with("`b/c` is given twice at line 1 column "), "{error}");
    }

    #[test]
    fn all_else_is_what_serde_json_reads() {
        let text = r#"{"a": [1, -2, 2.5, "x", null, true], "b": {}}"#;
        assert_eq!(parse(text).unwrap(), json!({"a": [1, -2, 2.5, "x", null, true], "b": {}}));
        assert!(parse("{} {}").is_err());
    }
}
