//! Whether a value fits a schema, for the keywords that exported schemas have. It says which verdict a test vector
//! carries; two validators of other people see to it, in the test command, that it is right.

mod keyword;
mod sound;

use super::flat::Definitions;
use super::walk;
use crate::error::Error;
use crate::ir::Revision;
use keyword::Keyword;
use regress::Regex;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;

/// Judges values by the definitions of one flavour.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a>(&'a Definitions);

impl<'a> Judge<'a> {
    /// A judge by these definitions of a revision.
    ///
    /// # Errors
    /// A definition has a keyword that is not known here, or to judge a value by it would be to judge it by it again.
    pub(super) fn of(definitions: &'a Definitions, revision: &Revision) -> Result<Self, Error> {
        sound::check(definitions, revision)?;
        Ok(Self(definitions))
    }

    /// What it judges by.
    pub(super) fn definitions(self) -> &'a Definitions {
        self.0
    }

    /// Whether a value fits a definition.
    pub(super) fn accepts(self, definition: &str, value: &Value) -> bool {
        self.0.get(definition).is_some_and(|schema| self.fits(schema, value))
    }

    /// Whether a value fits a schema.
    pub(super) fn fits(self, schema: &Value, value: &Value) -> bool {
        match schema {
            Value::Bool(verdict) => *verdict,
            Value::Object(keywords) => keywords.iter().all(|(word, operand)| {
                Keyword::named(word).is_some_and(|keyword| self.holds(keyword, operand, schema, value))
            }),
            _ => false,
        }
    }

    fn holds(self, keyword: Keyword, operand: &Value, schema: &Value, value: &Value) -> bool {
        match keyword {
            Keyword::Ref => walk::target(schema).is_some_and(|name| self.accepts(name, value)),
            Keyword::Type => is_a(value, operand),
            Keyword::Const => value == operand,
            Keyword::Enum => list(operand).contains(value),
            Keyword::Not => !self.fits(operand, value),
            Keyword::AllOf => list(operand).iter().all(|arm| self.fits(arm, value)),
            Keyword::AnyOf => list(operand).iter().any(|arm| self.fits(arm, value)),
            Keyword::OneOf => list(operand).iter().filter(|arm| self.fits(arm, value)).count() == 1,
            Keyword::Properties => {
                members(operand).all(|(name, inner)| value.get(name).is_none_or(|it| self.fits(inner, it)))
            }
            Keyword::Required => !value.is_object() || list(operand).iter().all(|name| value.get(text(name)).is_some()),
            Keyword::AdditionalProperties => {
                members(value).all(|(name, it)| schema["properties"].get(name).is_some() || self.fits(operand, it))
            }
            Keyword::Items => list(value).iter().all(|item| self.fits(operand, item)),
            Keyword::Minimum => value.as_f64().is_none_or(|it| operand.as_f64().is_some_and(|least| it >= least)),
            Keyword::Maximum => value.as_f64().is_none_or(|it| operand.as_f64().is_some_and(|most| it <= most)),
            Keyword::MinLength => characters(value).is_none_or(|count| is_at_least(count, operand)),
            Keyword::MaxLength => characters(value).is_none_or(|count| is_at_most(count, operand)),
            Keyword::MinItems => value.as_array().is_none_or(|items| is_at_least(items.len(), operand)),
            Keyword::MaxItems => value.as_array().is_none_or(|items| is_at_most(items.len(), operand)),
            Keyword::MinProperties => value.as_object().is_none_or(|members| is_at_least(members.len(), operand)),
            Keyword::Pattern => value.as_str().is_none_or(|it| matches(text(operand), it)),
            Keyword::Format => value.as_str().is_none_or(|it| has_format(text(operand), it)),
            Keyword::Title | Keyword::Description | Keyword::ContentEncoding => true,
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

/// How long a text is, as JSON Schema counts: not in bytes, and not in units of UTF-16.
fn characters(value: &Value) -> Option<usize> {
    value.as_str().map(|text| text.chars().count())
}

fn is_at_least(count: usize, bound: &Value) -> bool {
    bound.as_u64().is_some_and(|least| count as u64 >= least)
}

fn is_at_most(count: usize, bound: &Value) -> bool {
    bound.as_u64().is_some_and(|most| count as u64 <= most)
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

/// Of a URI it is enough that it has a scheme and no space, of a template that its braces hold names (RFC 6570). A moment
/// is left to its pattern.
fn has_format(format: &str, value: &str) -> bool {
    match format {
        "uri" => matches(r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$", value),
        "uri-template" => matches(r"^([^\s{}]|\{[+#./;?&]?[\w.%]+(:\d+|\*)?(,[\w.%]+(:\d+|\*)?)*\})*$", value),
        "date-time" => true,
        _ => false,
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn judged(schema: Value, fit: &[Value], unfit: &[Value]) {
        let definitions = Definitions::new();
        let judge = Judge(&definitions);
        for (values, verdict) in [(fit, true), (unfit, false)] {
            for value in values {
                assert_eq!(judge.fits(&schema, value), verdict, "{schema} on {value}");
            }
        }
    }

    /// JSON Schema counts code points: a crab is one, and four bytes, and two units of UTF-16.
    #[test]
    fn texts_are_as_long_as_they_have_code_points() {
        let schema = json!({ "type": "string", "minLength": 2, "maxLength": 3 });
        judged(
            schema,
            &[json!("ab"), json!("abc"), json!("\u{1f980}\u{1f980}\u{1f980}")],
            &[json!("a"), json!("abcd"), json!("\u{1f980}")],
        );
    }

    #[test]
    fn lists_and_maps_are_counted() {
        judged(
            json!({ "minItems": 1, "maxItems": 2 }),
            &[json!([1]), json!([1, 2]), json!("")],
            &[json!([]), json!([1, 2, 3])],
        );
        judged(json!({ "minProperties": 2 }), &[json!({"a": 1, "b": 2})], &[json!({"a": 1})]);
    }

    #[test]
    fn formats_are_looked_at() {
        let template = json!({ "format": "uri-template" });
        judged(template, &[json!("https://a.example/{place}{?q,r*}"), json!("words")], &[json!("{"), json!("{a b}")]);
        judged(json!({ "format": "uri" }), &[json!("urn:x")], &[json!("no uri")]);
        judged(json!({ "format": "colour" }), &[json!(1)], &[json!("red")]);
    }

    /// What is not known holds for nothing, even where nobody looked before.
    #[test]
    fn an_unknown_keyword_does_not_hold() {
        judged(json!({ "uniqueItems": true }), &[], &[json!([1]), json!(null)]);
    }
}
