//! A base that was copied into its variants becomes their base again.
//!
//! `WorkingTask` is a `Task` whose `status` is known; a published file that lists all fields of both leaves nothing of
//! that. It is taken for a variant only if everything fits: the base has a tag, which is a field with an enum; the
//! variant has all fields of the base in the same words, requires what the base requires, and fixes the tag to one of its
//! values. A definition that merely has the fields of another stays as it is.

use super::schema::{Definitions, Object, Schema, Shape, resolve};
use indexmap::IndexMap;
use serde_json::Value;

/// Rewrites each such variant, named or inline, to `allOf` of its base and what it adds.
pub(super) fn recover(definitions: &mut Definitions) {
    let originals = definitions.clone();
    for schema in definitions.values_mut() {
        visit(schema, &originals);
    }
}

fn visit(schema: &mut Schema, definitions: &Definitions) {
    for child in schema.inner_mut() {
        visit(child, definitions);
    }
    if let Shape::Object(variant) = &schema.shape
        && let Some((name, base)) = base(variant, definitions)
    {
        let rest = Schema::new(schema.place.clone(), Shape::Object(without(variant, base)));
        schema.shape = Shape::All(vec![Schema::reference(schema.place.clone(), name), rest]);
    }
}

/// The base of a variant; of several the one with the most fields, and of those the first.
fn base<'a>(variant: &Object, definitions: &'a Definitions) -> Option<(&'a str, &'a Object)> {
    let mut best: Option<(&str, &Object)> = None;
    for (name, schema) in definitions {
        let Shape::Object(base) = &schema.shape else { continue };
        let better = best.is_none_or(|(_, other)| base.properties.len() > other.properties.len());
        if better && is_variant(variant, base, definitions) {
            best = Some((name, base));
        }
    }
    best
}

fn is_variant(variant: &Object, base: &Object, definitions: &Definitions) -> bool {
    let mut tags = 0;
    for (name, of_base) in &base.properties {
        let Some(own) = variant.properties.get(name) else { return false };
        if fixes(own, of_base, definitions) {
            tags += 1;
        } else if !is_same(own, of_base) {
            return false;
        }
    }
    tags == 1 && base.open && variant.open && base.required.iter().all(|name| variant.requires(name))
}

/// Whether the property is one value of the base's enum.
fn fixes(own: &Schema, of_base: &Schema, definitions: &Definitions) -> bool {
    let Shape::Const(Value::String(value)) = &own.shape else { return false };
    let shape = match &of_base.shape {
        Shape::Reference(name) => resolve(definitions, name).map(|(_, schema)| &schema.shape),
        shape => Some(shape),
    };
    matches!(shape, Some(Shape::Enum(values)) if values.contains(value))
}

fn is_same(left: &Schema, right: &Schema) -> bool {
    left.shape.fingerprint() == right.shape.fingerprint()
}

/// What the variant says beyond its base.
fn without(variant: &Object, base: &Object) -> Object {
    let inherited = |name: &str, own: &Schema| base.properties.get(name).is_some_and(|of_base| is_same(own, of_base));
    let own = variant.properties.iter().filter(|(name, own)| !inherited(name, own));
    let properties: IndexMap<_, _> = own.map(|(name, own)| (name.clone(), own.clone())).collect();
    let said = |name: &&String| properties.contains_key(*name) || !base.requires(name);
    let required = variant.required.iter().filter(said).cloned().collect();
    Object { properties, required, open: true }
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::canonical;
    use serde_json::json;

    #[test]
    fn a_variant_with_a_fixed_tag_gets_its_base_back() {
        let defs = canonical(&[json!({"$defs": {
            "Door": {"type": "object", "required": ["state"],
                "properties": {"state": {"enum": ["open", "shut"]}, "name": {"type": "string"}}},
            "OpenDoor": {"type": "object", "required": ["state", "since"],
                "properties": {"state": {"const": "open"}, "name": {"type": "string"}, "since": {"type": "string"}}},
        }})]);
        let rest = json!({"type": "object", "required": ["state", "since"], "additionalProperties": true,
            "properties": {"state": {"type": "string", "const": "open"}, "since": {"type": "string"}}});
        assert_eq!(defs["OpenDoor"], json!({"allOf": [{"$ref": "#/$defs/Door"}, rest]}));
    }

    #[test]
    fn the_same_fields_alone_make_no_variant() {
        let defs = canonical(&[json!({"$defs": {
            "Name": {"type": "object", "properties": {"name": {"type": "string"}}},
            "Person": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
            "Shape": {"type": "object", "properties": {"kind": {"enum": ["a", "b"]}, "size": {"type": "string"}}},
            "Other": {"type": "object", "properties": {"kind": {"const": "c"}, "size": {"type": "string"}}},
        }})]);
        assert!(defs.values().all(|def| def.get("allOf").is_none()));
    }
}
