//! Definitions that spell out what any JSON is.
//!
//! Published files define a recursive union of object, array and scalars, some without `null` or fractions by an
//! oversight. As a type of its own it would refuse valid messages and serve nobody, and generators that meet it crash; it
//! means `{}`.

use super::schema::{Definitions, Schema, Shape};
use std::collections::BTreeSet;

/// Turns such unions into any JSON, and maps of any JSON into free objects.
pub(super) fn recognise(definitions: &mut Definitions) {
    let named = |name: &&String| definitions.get(*name).is_some_and(|schema| is_any_json(name, schema, definitions));
    let names: BTreeSet<String> = definitions.keys().filter(named).cloned().collect();
    for (name, schema) in definitions.iter_mut() {
        if names.contains(name) {
            schema.shape = Shape::Any;
        }
        free_maps(schema, &names);
    }
}

fn is_any_json(name: &str, schema: &Schema, definitions: &Definitions) -> bool {
    let Shape::Union(union) = &schema.shape else { return false };
    let (mut objects, mut arrays, mut others) = (0, 0, 0);
    for arm in &union.arms {
        match &target(arm, definitions).shape {
            Shape::Map(map) if is(&map.value, name) => objects += 1,
            Shape::List(list) if is(&list.item, name) => arrays += 1,
            Shape::Null => others += 1,
            Shape::Scalar(scalar) if !scalar.is_bounded() => others += 1,
            _ => return false,
        }
    }
    objects > 0 && arrays > 0 && others > 0
}

/// The arm, or what it refers to.
fn target<'a>(arm: &'a Schema, definitions: &'a Definitions) -> &'a Schema {
    match &arm.shape {
        Shape::Reference(name) => definitions.get(name).unwrap_or(arm),
        _ => arm,
    }
}

fn is(schema: &Schema, name: &str) -> bool {
    matches!(&schema.shape, Shape::Reference(target) if target == name)
}

fn free_maps(schema: &mut Schema, names: &BTreeSet<String>) {
    if let Shape::Map(map) = &mut schema.shape
        && matches!(&map.value.shape, Shape::Reference(name) if names.contains(name))
    {
        map.value.shape = Shape::Any;
    }
    for child in schema.inner_mut() {
        free_maps(child, names);
    }
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::canonical;
    use serde_json::json;

    #[test]
    fn a_recursive_union_of_everything_is_any_json() {
        let defs = canonical(&[json!({"$defs": {
            "Anything": {"anyOf": [
                {"$ref": "#/$defs/Record"}, {"type": "array", "items": {"$ref": "#/$defs/Anything"}},
                {"type": ["string", "integer", "boolean"]},
            ]},
            "Record": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Anything"}},
            "Row": {"type": "array", "items": {"$ref": "#/$defs/Anything"}},
        }})]);
        assert_eq!(defs["Anything"], json!({}));
        assert_eq!(defs["Record"], json!({"type": "object", "additionalProperties": true}));
        assert_eq!(defs["Row"], json!({"type": "array", "items": {"$ref": "#/$defs/Anything"}}));
    }

    #[test]
    fn a_recursive_union_with_a_field_is_not() {
        let defs = canonical(&[json!({"$defs": {"Tree": {"anyOf": [
            {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}},
            {"type": "array", "items": {"$ref": "#/$defs/Tree"}}, {"type": "string"},
        ]}}})]);
        assert!(defs["Tree"].get("anyOf").is_some());
    }
}
