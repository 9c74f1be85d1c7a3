//! Holds a JSON value against a JSON Schema: arguments against a tool's input schema (ERR-04), answers against a form
//! (UPD-07).
//!
//! Knows the keywords that say what a value is: types, constants, bounds, members, items, local references and
//! combinations. It knows no regular expressions and no formats. A keyword that it does not know refuses nothing, so a
//! value that is refused does not fit, and one that is let through nearly always does: whoever takes it decodes it next.

use std::{cmp::Ordering, fmt};

use serde_json::{Number, Value};

use crate::types::support::JsonObject;

/// No value is followed deeper, so that a schema that refers to itself without end does no harm.
const DEEPEST: usize = 128;

/// Why a value does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// Where in the value: a JSON pointer.
    pub at: String,
    /// What is wrong there.
    pub why: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.at {
            "" => f.write_str(&self.why),
            at => write!(f, "`{at}`: {}", self.why),
        }
    }
}

impl std::error::Error for Mismatch {}

type Fit = Result<(), Mismatch>;

/// Holds an object against a schema.
pub(crate) fn check_object(schema: &JsonObject, object: &JsonObject) -> Fit {
    Schema { root: schema, here: schema, depth: 0 }.check(Node::Object(object))
}

/// A value, or an object that is in no value.
#[derive(Clone, Copy)]
enum Node<'a> {
    Object(&'a JsonObject),
    Other(&'a Value),
}

impl<'a> From<&'a Value> for Node<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Object(members) => Self::Object(members),
            other => Self::Other(other),
        }
    }
}

impl Node<'_> {
    fn is_a(self, kind: &str) -> bool {
        match (self, kind) {
            (Self::Object(_), "object")
            | (Self::Other(Value::Null), "null")
            | (Self::Other(Value::Bool(_)), "boolean")
            | (Self::Other(Value::String(_)), "string")
            | (Self::Other(Value::Array(_)), "array")
            | (Self::Other(Value::Number(_)), "number") => true,
            (Self::Other(Value::Number(number)), "integer") => is_whole(number),
            _ => false,
        }
    }

    fn equals(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Object(members), Value::Object(others)) => members == others,
            (Self::Other(Value::Number(number)), Value::Number(other)) => {
                compare(number, other).is_some_and(Ordering::is_eq)
            }
            (Self::Other(own), other) => own == other,
            _ => false,
        }
    }
}

impl fmt::Display for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(_) => f.write_str("an object"),
            Self::Other(Value::Array(_)) => f.write_str("an array"),
            Self::Other(Value::String(text)) if text.chars().count() > 40 => f.write_str("this text"),
            Self::Other(value) => value.fmt(f),
        }
    }
}

/// A schema inside its document.
#[derive(Clone, Copy)]
struct Schema<'a> {
    root: &'a JsonObject,
    here: &'a JsonObject,
    depth: usize,
}

impl<'a> Schema<'a> {
    fn check(self, value: Node<'_>) -> Fit {
        if self.depth > DEEPEST {
            return Ok(());
        }
        if let Some(target) = self.text("$ref").and_then(|reference| self.resolve(reference)) {
            self.sub(target, value)?;
        }
        self.check_kind(value)?;
        self.check_constants(value)?;
        match value {
            Node::Object(members) => self.check_members(members)?,
            Node::Other(Value::Array(items)) => self.check_items(items)?,
            Node::Other(Value::String(text)) => self.check_length(text)?,
            Node::Other(Value::Number(number)) => self.check_bounds(number)?,
            Node::Other(_) => {}
        }
        self.check_combinations(value)
    }

    /// Holds the value against a schema in this one.
    fn sub(self, schema: &'a Value, value: Node<'_>) -> Fit {
        match schema {
            Value::Object(here) => Self { here, depth: self.depth + 1, ..self }.check(value),
            Value::Bool(false) => Err(no("nothing is allowed here")),
            _ => Ok(()),
        }
    }

    fn resolve(self, reference: &str) -> Option<&'a Value> {
        let mut tokens =
            reference.strip_prefix("#/")?.split('/').map(|token| token.replace("~1", "/").replace("~0", "~"));
        let first = self.root.get(&tokens.next()?)?;
        tokens.try_fold(first, |value, token| value.get(token))
    }

    fn text(self, keyword: &str) -> Option<&'a str> {
        self.here.get(keyword)?.as_str()
    }

    fn list(self, keyword: &str) -> impl Iterator<Item = &'a Value> {
        self.here.get(keyword).and_then(Value::as_array).into_iter().flatten()
    }

    fn number(self, keyword: &str) -> Option<&'a Number> {
        self.here.get(keyword)?.as_number()
    }

    fn count(self, keyword: &str) -> Option<u64> {
        self.here.get(keyword)?.as_u64()
    }

    fn check_kind(self, value: Node<'_>) -> Fit {
        let kinds: Vec<&str> = match self.here.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => return Ok(()),
        };
        let fits = kinds.iter().any(|kind| value.is_a(kind));
        ensure(fits, || format!("{value} is not of type {}", kinds.join(" or ")))
    }

    fn check_constants(self, value: Node<'_>) -> Fit {
        if let Some(constant) = self.here.get("const") {
            ensure(value.equals(constant), || format!("{value} is not {constant}"))?;
        }
        if let Some(allowed) = self.here.get("enum").and_then(Value::as_array) {
            let fits = allowed.iter().any(|allowed| value.equals(allowed));
            ensure(fits, || format!("{value} is none of {}", listed(allowed)))?;
        }
        Ok(())
    }

    fn check_members(self, members: &JsonObject) -> Fit {
        for name in self.list("required").filter_map(Value::as_str) {
            ensure(members.contains_key(name), || format!("`{name}` is missing"))?;
        }
        self.check_count(members.len(), "Properties", "members")?;
        let named = self.here.get("properties").and_then(Value::as_object);
        let patterns = self.here.contains_key("patternProperties");
        for (name, value) in members {
            let schema = named.and_then(|named| named.get(name));
            let schema = schema.or_else(|| self.here.get("additionalProperties").filter(|_| !patterns));
            if let Some(schema) = schema {
                self.sub(schema, value.into()).map_err(|mismatch| mismatch.inside(name))?;
            }
        }
        Ok(())
    }

    fn check_items(self, items: &[Value]) -> Fit {
        self.check_count(items.len(), "Items", "items")?;
        let first: Vec<&Value> = self.list("prefixItems").collect();
        for (index, item) in items.iter().enumerate() {
            let schema = first.get(index).copied().or_else(|| self.here.get("items"));
            if let Some(schema) = schema {
                self.sub(schema, item.into()).map_err(|mismatch| mismatch.inside(index))?;
            }
        }
        Ok(())
    }

    fn check_length(self, text: &str) -> Fit {
        self.check_count(text.chars().count(), "Length", "characters")
    }

    fn check_count(self, count: usize, keyword: &str, of: &str) -> Fit {
        let count = count as u64;
        if let Some(least) = self.count(&format!("min{keyword}")) {
            ensure(count >= least, || format!("{count} {of} are fewer than {least}"))?;
        }
        if let Some(most) = self.count(&format!("max{keyword}")) {
            ensure(count <= most, || format!("{count} {of} are more than {most}"))?;
        }
        Ok(())
    }

    fn check_bounds(self, number: &Number) -> Fit {
        type Holds = fn(Ordering) -> bool;
        let bounds: [(&str, Holds, &str); 4] = [
            ("minimum", Ordering::is_ge, "less than"),
            ("maximum", Ordering::is_le, "more than"),
            ("exclusiveMinimum", Ordering::is_gt, "not more than"),
            ("exclusiveMaximum", Ordering::is_lt, "not less than"),
        ];
        for (keyword, fits, otherwise) in bounds {
            if let Some(bound) = self.number(keyword) {
                let fits = compare(number, bound).is_none_or(fits);
                ensure(fits, || format!("{number} is {otherwise} {bound}"))?;
            }
        }
        Ok(())
    }

    fn check_combinations(self, value: Node<'_>) -> Fit {
        for schema in self.list("allOf") {
            self.sub(schema, value)?;
        }
        for keyword in ["anyOf", "oneOf"] {
            self.check_any(keyword, value)?;
        }
        match self.here.get("not") {
            Some(schema) if self.sub(schema, value).is_ok() => Err(no(format!("{value} is excluded"))),
            _ => Ok(()),
        }
    }

    /// One is enough for `oneOf` as well: types that are read one after the other take what two of them would take.
    fn check_any(self, keyword: &str, value: Node<'_>) -> Fit {
        let mut reasons = Vec::new();
        for schema in self.list(keyword) {
            match self.sub(schema, value) {
                Ok(()) => return Ok(()),
                Err(mismatch) => reasons.push(mismatch),
            }
        }
        match reasons.len() {
            0 => Ok(()),
            1 => Err(reasons.remove(0)),
            _ => {
                let reasons: Vec<String> = reasons.iter().map(Mismatch::to_string).collect();
                Err(no(format!("it fits none of the alternatives: {}", reasons.join("; "))))
            }
        }
    }
}

impl Mismatch {
    fn inside(mut self, member: impl fmt::Display) -> Self {
        let token = member.to_string().replace('~', "~0").replace('/', "~1");
        self.at.insert_str(0, &format!("/{token}"));
        self
    }
}

fn no(why: impl Into<String>) -> Mismatch {
    Mismatch { at: String::new(), why: why.into() }
}

fn ensure(fits: bool, why: impl FnOnce() -> String) -> Fit {
    if fits { Ok(()) } else { Err(no(why())) }
}

fn listed(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

fn is_whole(number: &Number) -> bool {
    integer(number).is_some() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Whole numbers exactly, others as floats.
fn compare(number: &Number, other: &Number) -> Option<Ordering> {
    match (integer(number), integer(other)) {
        (Some(number), Some(other)) => Some(number.cmp(&other)),
        _ => number.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// One line for each value: it fits, or why not.
    fn verdicts(schema: &Value, values: &[Value]) -> String {
        let schema = schema.as_object().expect("a schema is an object");
        let check = |value: &Value| Schema { root: schema, here: schema, depth: 0 }.check(value.into());
        let verdict = |value| check(value).map_or_else(|mismatch| mismatch.to_string(), |()| "fits".to_owned());
        values.iter().map(verdict).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn members_are_checked_by_name() {
        let schema = json!({
            "type": "object",
            "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9007199254740992_i64}, "a/b": {"type": "null"}},
            "required": ["n"],
            "additionalProperties": {"type": "string", "maxLength": 3}
        });
        let values = [
            json!({"n": 1, "other": "äöü"}),
            json!({"n": 5.0}),
            json!({"n": 0}),
            json!({"n": 9007199254740993_i64}),
            json!({"n": 1.5}),
            json!({}),
            json!({"n": 1, "a/b": true}),
            json!({"n": 1, "other": "long"}),
            json!([]),
        ];
        assert_eq!(
            verdicts(&schema, &values),
            "fits\nfits\n`/n`: 0 is less than 1\n`/n`: 9007199254740993 is more than 9007199254740992\n\
             `/n`: 1.5 is not of type integer\n`n` is missing\n`/a~1b`: true is not of type null\n\
             `/other`: 4 characters are more than 3\nan array is not of type object"
        );
    }

    #[test]
    fn references_and_alternatives_are_followed() {
        let schema = json!({
            "$defs": {"Size": {"oneOf": [{"const": "small"}, {"type": "array", "items": {"enum": [1, 2]}, "maxItems": 2}]}},
            "anyOf": [{"$ref": "#/$defs/Size"}, {"type": "null"}]
        });
        let values = [json!("small"), json!([1, 2.0]), json!(null), json!([3]), json!([1, 1, 1])];
        assert_eq!(
            verdicts(&schema, &values),
            "fits\nfits\nfits\n\
             it fits none of the alternatives: it fits none of the alternatives: an array is not \"small\"; `/0`: 3 is none of 1, 2; an array is not of type null\n\
             it fits none of the alternatives: it fits none of the alternatives: an array is not \"small\"; 3 items are more than 2; an array is not of type null"
        );
    }

    /// A schema that says nothing, or nothing that is known here, refuses nothing; one without an end ends.
    #[test]
    fn what_is_not_known_refuses_nothing() {
        let circle = json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}});
        assert_eq!(verdicts(&circle, &[json!(1)]), "fits");
        assert_eq!(verdicts(&json!({"pattern": "^a$", "format": "email", "$ref": "urn:x"}), &[json!("b")]), "fits");
    }
}
