//! Whether a value fits a schema, for the keywords that exported schemas have. It says which verdict a test vector
//! carries; two validators of other people see to it, in the test command, that it is right.

use super::flat::Definitions;
use super::walk;
use regress::Regex;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;

/// Judges values by the definitions of one flavour.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a>(pub(super) &'a Definitions);

impl Judge<'_> {
    /// Whether a value fits a definition.
    pub(super) fn accepts(self, definition: &str, value: &Value) -> bool {
        self.0.get(definition).is_some_and(|schema| self.fits(schema, value))
    }

    /// Whether a value fits a schema.
    pub(super) fn fits(self, schema: &Value, value: &Value) -> bool {
        match schema {
            Value::Bool(verdict) => *verdict,
            Value::Object(keywords) => {
                keywords.iter().all(|(keyword, operand)| self.holds(keyword, operand, schema, value))
            }
            _ => false,
        }
    }

    fn holds(self, keyword: &str, operand: &Value, schema: &Value, value: &Value) -> bool {
        match keyword {
            "$ref" => walk::target(schema).is_some_and(|name| self.accepts(name, value)),
            "type" => is_a(value, operand),
            "const" => value == operand,
            "enum" => list(operand).contains(value),
            "not" => !self.fits(operand, value),
            "allOf" => list(operand).iter().all(|arm| self.fits(arm, value)),
            "anyOf" => list(operand).iter().any(|arm| self.fits(arm, value)),
            "oneOf" => list(operand).iter().filter(|arm| self.fits(arm, value)).count() == 1,
            "properties" => members(operand).all(|(name, inner)| value.get(name).is_none_or(|it| self.fits(inner, it))),
            "required" => !value.is_object() || list(operand).iter().all(|name| value.get(text(name)).is_some()),
            "additionalProperties" => {
                members(value).all(|(name, it)| schema["properties"].get(name).is_some() || self.fits(operand, it))
            }
            "items" => list(value).iter().all(|item| self.fits(operand, item)),
            "minimum" => value.as_f64().is_none_or(|it| operand.as_f64().is_none_or(|least| it >= least)),
            "maximum" => value.as_f64().is_none_or(|it| operand.as_f64().is_none_or(|most| it <= most)),
            "minProperties" => value.as_object().is_none_or(|it| operand.as_u64().is_none_or(|n| it.len() as u64 >= n)),
            "pattern" => value.as_str().is_none_or(|it| matches(text(operand), it)),
            "format" => value.as_str().is_none_or(|it| has_format(text(operand), it)),
            // What is left says nothing about values: `title`, `description`, `contentEncoding`.
            _ => true,
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn matches(pattern: &str, value: &str) -> bool {
    thread_local! {
        /// There are few patterns, and thousands of values to try each on.
        static COMPILED: RefCell<HashMap<String, Option<Regex>>> = RefCell::default();
    }
    COMPILED.with_borrow_mut(|compiled| {
        let regex = compiled.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).ok());
        regex.as_ref().is_some_and(|regex| regex.find(value).is_some())
    })
}

/// A moment is left to its pattern; of a URI it is enough that it has a scheme and no space.
fn has_format(format: &str, value: &str) -> bool {
    format != "uri" || matches(r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$", value)
}

fn is_a(value: &Value, kind: &Value) -> bool {
    match text(kind) {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}
