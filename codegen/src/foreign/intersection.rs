//! What two statements about the same value allow together, as far as it can be said in one of them.
//!
//! Published files narrow: a string of the base is a constant in the variant. General intersection is not attempted; what
//! is not plain is left to a person.

use super::schema::{Definitions, Scalar, ScalarKind, Schema, Shape, resolve};
use serde_json::{Number, Value};

/// The narrower of two schemas, or `None` where neither is plainly within the other.
pub(super) fn intersect(left: &Schema, right: &Schema, definitions: &Definitions) -> Option<Schema> {
    let narrower = match (&left.shape, &right.shape) {
        (a, b) if a.fingerprint() == b.fingerprint() => left.clone(),
        _ if is_within(left, right, definitions) => left.clone(),
        _ if is_within(right, left, definitions) => right.clone(),
        _ => common_values(left, right, definitions)?,
    };
    let notes = narrower.notes.or(left.notes.clone()).or(right.notes.clone());
    Some(Schema { notes, ..narrower })
}

/// The values that two enums share.
fn common_values(left: &Schema, right: &Schema, definitions: &Definitions) -> Option<Schema> {
    let (Shape::Enum(a), Shape::Enum(b)) = (&target(left, definitions)?.shape, &target(right, definitions)?.shape)
    else {
        return None;
    };
    let values: Vec<String> = a.iter().filter(|value| b.contains(value)).cloned().collect();
    let shape = match values.as_slice() {
        [] => return None,
        [only] => Shape::Const(only.as_str().into()),
        _ => Shape::Enum(values),
    };
    Some(Schema { shape, ..left.clone() })
}

/// Whether every value of the one is plainly a value of the other.
fn is_within(inner: &Schema, outer: &Schema, definitions: &Definitions) -> bool {
    let (Some(inner), Some(outer)) = (target(inner, definitions), target(outer, definitions)) else { return false };
    match (&inner.shape, &outer.shape) {
        (inner, outer) if inner.fingerprint() == outer.fingerprint() => true,
        (_, Shape::Any) => true,
        (Shape::Const(value), _) => admits(outer, value, definitions),
        (Shape::Enum(values), _) => values.iter().all(|value| admits(outer, &value.as_str().into(), definitions)),
        (Shape::Scalar(inner), Shape::Scalar(outer)) => is_scalar_within(inner, outer),
        (_, Shape::Map(_)) if outer.shape.is_free_object() => is_object(inner, definitions),
        (_, Shape::Union(union)) => union.arms.iter().any(|arm| is_within(inner, arm, definitions)),
        _ => false,
    }
}

fn target<'a>(schema: &'a Schema, definitions: &'a Definitions) -> Option<&'a Schema> {
    match &schema.shape {
        Shape::Reference(name) => resolve(definitions, name).map(|(_, target)| target),
        _ => Some(schema),
    }
}

fn is_object(schema: &Schema, definitions: &Definitions) -> bool {
    let Some(schema) = target(schema, definitions) else { return false };
    match &schema.shape {
        Shape::Object(_) | Shape::Map(_) => true,
        Shape::All(members) => members.iter().any(|member| is_object(member, definitions)),
        _ => false,
    }
}

/// Whether the schema allows a constant.
fn admits(schema: &Schema, value: &Value, definitions: &Definitions) -> bool {
    let Some(schema) = target(schema, definitions) else { return false };
    match &schema.shape {
        Shape::Any => true,
        Shape::Const(own) => own == value,
        Shape::Enum(values) => value.as_str().is_some_and(|text| values.iter().any(|own| own == text)),
        Shape::Scalar(scalar) => scalar_admits(scalar, value),
        Shape::Union(union) => union.arms.iter().any(|arm| admits(arm, value, definitions)),
        _ => false,
    }
}

fn scalar_admits(scalar: &Scalar, value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let length = text.chars().count() as u64;
            let fits =
                scalar.length.min.is_none_or(|min| min <= length) && scalar.length.max.is_none_or(|max| length <= max);
            scalar.kind == ScalarKind::String && fits
        }
        Value::Number(number) => {
            matches!(scalar.kind, ScalarKind::Integer | ScalarKind::Number)
                && !is_less(Some(number), scalar.minimum.as_ref())
                && !is_less(scalar.maximum.as_ref(), Some(number))
        }
        _ => false,
    }
}

fn is_less(left: Option<&Number>, right: Option<&Number>) -> bool {
    match (left.and_then(Number::as_f64), right.and_then(Number::as_f64)) {
        (Some(left), Some(right)) => left < right,
        _ => false,
    }
}

/// A scalar is within a plain one of its kind; to compare bounds with bounds is left to a person.
fn is_scalar_within(inner: &Scalar, outer: &Scalar) -> bool {
    let kind = inner.kind == outer.kind || (inner.kind == ScalarKind::Integer && outer.kind == ScalarKind::Number);
    kind && !outer.is_bounded() && outer.format.as_ref().is_none_or(|format| inner.format.as_ref() == Some(format))
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::{canonical, problems};
    use serde_json::{Value, json};

    fn document(left: Value, right: Value) -> Value {
        let object = |property| json!({"type": "object", "properties": {"p": property}});
        json!({"$defs": {"Word": {"enum": ["a", "b"]}, "X": {"allOf": [object(left), object(right)]}}})
    }

    fn property(left: Value, right: Value) -> Value {
        canonical(&[document(left, right)])["X"]["properties"]["p"].clone()
    }

    #[test]
    fn the_narrower_statement_counts() {
        let a = json!({"type": "string", "const": "a"});
        assert_eq!(property(json!({"type": "string"}), json!({"const": "a"})), a);
        assert_eq!(property(json!({"const": "a"}), json!({"$ref": "#/$defs/Word"})), a);
        assert_eq!(property(json!({"enum": ["a", "b"]}), json!({"enum": ["c", "a"]})), a);
        assert_eq!(property(json!({}), json!({"type": "string"})), json!({"type": "string"}));
        assert_eq!(property(json!({"type": "number"}), json!({"type": "integer"})), json!({"type": "integer"}));
        assert_eq!(property(json!({"type": ["string", "null"]}), json!({"const": "a"})), a);
        assert_eq!(
            property(json!({"type": "string"}), json!({"$ref": "#/$defs/Word"})),
            json!({"$ref": "#/$defs/Word"})
        );
    }

    #[test]
    fn what_is_not_plain_is_refused() {
        for (left, right) in [
            (json!({"const": "a"}), json!({"const": "b"})),
            (json!({"type": "string", "minLength": 1}), json!({"type": "string", "maxLength": 3})),
            (json!({"type": "string"}), json!({"type": "integer"})),
        ] {
            assert_eq!(problems(document(left, right)).len(), 1);
        }
    }
}
