//! Plain forms for unions.
//!
//! A union of constant strings is an enum, a union in a union is one union, a repeated arm is no further choice, even
//! under another name, and a union of one is that one.

use super::schema::{Definitions, Schema, Shape, Union, UnionKeyword, resolve};
use crate::error::{Error, Problems};
use serde_json::Value;
use std::collections::BTreeSet;

/// Rewrites every union, the innermost first.
pub(super) fn simplify(definitions: &mut Definitions) -> Result<(), Error> {
    let mut problems = Problems::default();
    for schema in definitions.values_mut() {
        visit(schema, &mut problems);
    }
    problems.finish(())
}

/// Drops arms that are an earlier arm under another name.
///
/// A published union of all results lists the bare `Result` and another one that adds nothing to it. No value tells them
/// apart, so the first stands for both. Copies have to be [folded](super::folding) before, or equals would look different.
pub(super) fn drop_equal_arms(definitions: &mut Definitions) {
    let originals = definitions.clone();
    for schema in definitions.values_mut() {
        drop_equal_arms_in(schema, &originals);
    }
}

fn drop_equal_arms_in(schema: &mut Schema, definitions: &Definitions) {
    for child in schema.inner_mut() {
        drop_equal_arms_in(child, definitions);
    }
    let Shape::Union(Union { keyword: UnionKeyword::AnyOf, arms }) = &mut schema.shape else { return };
    let mut seen = BTreeSet::new();
    arms.retain(|arm| match &arm.shape {
        Shape::Reference(name) => {
            resolve(definitions, name).is_none_or(|(_, target)| seen.insert(target.shape.fingerprint()))
        }
        _ => true,
    });
    if let [only] = arms.as_slice() {
        schema.shape = only.shape.clone();
    }
}

fn visit(schema: &mut Schema, problems: &mut Problems) {
    for child in schema.inner_mut() {
        visit(child, problems);
    }
    if let Shape::Union(union) = &mut schema.shape {
        flatten(union);
        join_strings(union, problems);
        drop_repeated(union, problems);
        if let Some(shape) = plain(union) {
            schema.shape = shape;
        }
    }
}

/// Takes the arms of inner unions. Exactly one of an inner `anyOf` is only the same where no two of its arms meet, which
/// is plain for types.
fn flatten(union: &mut Union) {
    let keyword = union.keyword;
    let arms = std::mem::take(&mut union.arms);
    union.arms = arms.into_iter().flat_map(|arm| inner_arms(arm, keyword)).collect();
}

fn inner_arms(arm: Schema, outer: UnionKeyword) -> Vec<Schema> {
    match arm.shape {
        Shape::Union(inner) if inner.keyword == outer || inner.arms.iter().all(is_plain_type) => inner.arms,
        _ => vec![arm],
    }
}

fn is_plain_type(arm: &Schema) -> bool {
    match &arm.shape {
        Shape::Null => true,
        Shape::Scalar(scalar) => !scalar.is_bounded() && scalar.format.is_none(),
        _ => false,
    }
}

/// Makes one enum of all constant strings, in the place of the first.
fn join_strings(union: &mut Union, problems: &mut Problems) {
    if union.arms.iter().filter_map(strings).count() < 2 {
        return;
    }
    let mut values: Vec<String> = Vec::new();
    for arm in &union.arms {
        for value in strings(arm).unwrap_or_default() {
            if values.contains(&value) {
                problems.push(arm.place.problem(format!("\"{value}\" is listed twice")));
            }
            values.push(value);
        }
    }
    let first = union.arms.iter().position(|arm| strings(arm).is_some()).unwrap_or_default();
    let mut index = 0..;
    union.arms.retain(|arm| index.next() == Some(first) || strings(arm).is_none());
    if let Some(arm) = union.arms.get_mut(first) {
        *arm = Schema::new(arm.place.clone(), Shape::Enum(values));
    }
}

fn strings(arm: &Schema) -> Option<Vec<String>> {
    match &arm.shape {
        Shape::Const(Value::String(value)) => Some(vec![value.clone()]),
        Shape::Enum(values) => Some(values.clone()),
        _ => None,
    }
}

/// An arm repeated in an `anyOf` changes nothing; in a `oneOf` it could never be the only one.
fn drop_repeated(union: &mut Union, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    let exclusive = union.keyword == UnionKeyword::OneOf;
    union.arms.retain(|arm| {
        let new = seen.insert(arm.shape.fingerprint());
        if exclusive && !new {
            problems.push(
                arm.place.problem("the same alternative stands twice in this `oneOf`, so it can never be chosen"),
            );
        }
        new
    });
}

/// What a union is that leaves no choice.
fn plain(union: &mut Union) -> Option<Shape> {
    if union.keyword == UnionKeyword::AnyOf && union.arms.iter().any(|arm| matches!(arm.shape, Shape::Any)) {
        return Some(Shape::Any);
    }
    if union.arms.len() == 1 { union.arms.pop().map(|only| only.shape) } else { None }
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::{canonical, definition, problems};
    use serde_json::json;

    #[test]
    fn constant_strings_become_an_enum() {
        let colour = json!({"anyOf": [{"const": "red", "type": "string"}, {"const": "green"}, {"enum": ["blue"]}]});
        assert_eq!(definition(colour), json!({"type": "string", "enum": ["red", "green", "blue"]}));
    }

    #[test]
    fn a_list_of_types_is_a_union_and_inner_unions_are_opened() {
        let scalar =
            json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": ["string", "integer"]}]});
        let arms = json!([{"type": "array", "items": {"type": "string"}}, {"type": "string"}, {"type": "integer"}]);
        assert_eq!(definition(scalar), json!({ "anyOf": arms }));
    }

    #[test]
    fn one_arm_and_repeated_arms_collapse() {
        assert_eq!(definition(json!({"oneOf": [{"type": "string"}]})), json!({"type": "string"}));
        assert_eq!(definition(json!({"anyOf": [{"type": "string"}, {"type": "string"}]})), json!({"type": "string"}));
        assert_eq!(definition(json!({"anyOf": [{"type": "string"}, {}]})), json!({}));
    }

    #[test]
    fn an_arm_under_another_name_is_no_choice() {
        let reply = json!({"type": "object", "properties": {"_meta": {"type": "object"}}});
        let arms = ["Reply", "Equal", "Word", "Same"].map(|name| json!({"$ref": format!("#/$defs/{name}")}));
        let defs = canonical(&[json!({"$defs": {
            "Reply": reply, "Same": {"$ref": "#/$defs/Reply"}, "Equal": reply, "Word": {"type": "string"},
            "Any": {"anyOf": arms},
        }})]);
        assert_eq!(defs["Any"], json!({"anyOf": [{"$ref": "#/$defs/Reply"}, {"$ref": "#/$defs/Word"}]}));
    }

    #[test]
    fn what_is_listed_twice_is_refused() {
        let twice = problems(json!({"$defs": {"X": {"anyOf": [{"const": "a"}, {"const": "b"}, {"const": "a"}]}}}));
        assert_eq!(twice, ["0.json#/$defs/X/anyOf/2: \"a\" is listed twice"]);
        let never =
            problems(json!({"$defs": {"X": {"oneOf": [{"type": "string"}, {"type": "string"}, {"type": "integer"}]}}}));
        assert_eq!(never.len(), 1);
    }
}
