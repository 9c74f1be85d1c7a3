//! Copies become references again.
//!
//! Published files write the same shape out wherever it is used: the extension's file holds dozens of copies of its task.
//! Types made from that would be as many strangers. A shape written inline that is equal to a named one, descriptions
//! aside, is taken for a copy of it. Inner copies fold first, and rounds go on until nothing folds, for a copy may only
//! look like its original once both are folded inside.

use super::naming::Context;
use super::schema::{Definitions, List, Object, Schema, Shape, Union};
use std::collections::BTreeMap;

/// Folds until nothing is left to fold.
pub(super) fn fold(definitions: &mut Definitions) {
    loop {
        let names = Names::of(definitions);
        let mut folded = false;
        for (name, schema) in definitions.iter_mut() {
            for (context, child) in schema.children_mut(&Context::definition(name)) {
                folded |= names.fold(&context, child);
            }
            folded |= names.fold_one_or_many(schema);
        }
        if !folded {
            return;
        }
    }
}

/// The named shapes that a copy can be recognised by.
struct Names {
    /// Names in document order, by the fingerprint of their shape.
    by_shape: BTreeMap<String, Vec<String>>,
    /// The fingerprints of the arms of each named union.
    arms: BTreeMap<String, Vec<String>>,
}

impl Names {
    fn of(definitions: &Definitions) -> Self {
        let mut names = Self { by_shape: BTreeMap::new(), arms: BTreeMap::new() };
        for (name, schema) in definitions {
            if is_telling(&schema.shape) {
                names.by_shape.entry(schema.shape.fingerprint()).or_default().push(name.clone());
            }
            if let Shape::Union(union) = &schema.shape {
                names.arms.insert(name.clone(), union.arms.iter().map(|arm| arm.shape.fingerprint()).collect());
            }
        }
        names
    }

    /// Folds what is inside a schema, then the schema itself. Tells whether anything was folded.
    fn fold(&self, context: &Context, schema: &mut Schema) -> bool {
        let mut folded = false;
        for (context, child) in schema.children_mut(context) {
            folded |= self.fold(&context, child);
        }
        folded |= self.fold_one_or_many(schema);
        if let Some(name) = self.name(context, &schema.shape) {
            schema.shape = Shape::Reference(name.to_owned());
            folded = true;
        }
        folded
    }

    /// The name of a copied shape. Among equals the one that ends like the place is meant, or else the first.
    fn name(&self, context: &Context, shape: &Shape) -> Option<&str> {
        if !is_telling(shape) {
            return None;
        }
        let names = self.by_shape.get(&shape.fingerprint())?;
        if is_small(shape) {
            return names.iter().find(|name| **name == context.name).map(String::as_str);
        }
        names.iter().find(|name| name.ends_with(&context.step)).or(names.first()).map(String::as_str)
    }

    /// "One or several": a union of a list of `X` and of all arms of `X` is a union of `X` and of a list of `X`. Nothing
    /// else is folded in part: that one union has all arms of another says nothing about what its author had in mind.
    fn fold_one_or_many(&self, schema: &mut Schema) -> bool {
        let Shape::Union(union) = &mut schema.shape else { return false };
        let Some((name, arms)) = self.repeated_union(union) else { return false };
        let Some(first) = union.arms.iter().position(|arm| arms.contains(&arm.shape.fingerprint())) else {
            return false;
        };
        if let Some(arm) = union.arms.get_mut(first) {
            *arm = Schema::reference(arm.place.clone(), name);
        }
        union.arms.retain(|arm| !arms.contains(&arm.shape.fingerprint()));
        true
    }

    fn repeated_union(&self, union: &Union) -> Option<(&str, &[String])> {
        let present: Vec<String> = union.arms.iter().map(|arm| arm.shape.fingerprint()).collect();
        union.arms.iter().find_map(|arm| {
            let name = listed(arm)?;
            let (name, arms) = self.arms.get_key_value(name)?;
            let is_list = |other: &String| *other == arm.shape.fingerprint();
            let repeated = arms.iter().all(|arm| present.contains(arm)) && !arms.iter().any(is_list);
            repeated.then_some((name.as_str(), arms.as_slice()))
        })
    }
}

fn listed(arm: &Schema) -> Option<&str> {
    match &arm.shape {
        Shape::List(List { item, bounds }) if bounds.is_empty() => match &item.shape {
            Shape::Reference(name) => Some(name),
            _ => None,
        },
        _ => None,
    }
}

/// Whether equal shapes are more than a coincidence. Scalars, lists, and what only makes them nullable are not.
fn is_telling(shape: &Shape) -> bool {
    match shape {
        Shape::Enum(values) => values.len() > 1,
        Shape::Object(object) => !object.properties.is_empty(),
        Shape::Map(map) => !matches!(map.value.shape, Shape::Any | Shape::Scalar(_)),
        Shape::Union(union) => {
            union.others().count() > 1 && union.others().any(|arm| !matches!(arm.shape, Shape::Scalar(_)))
        }
        Shape::All(_) => true,
        _ => false,
    }
}

/// A single field is no copy of everything else that has just such a field, unless its place asks for that name.
fn is_small(shape: &Shape) -> bool {
    let Shape::Object(Object { properties, .. }) = shape else { return false };
    properties.len() == 1 && !properties.values().any(|property| matches!(property.shape, Shape::Const(_)))
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::canonical;
    use serde_json::json;

    #[test]
    fn copies_fold_from_the_inside_out() {
        let state = json!({"anyOf": [{"const": "on"}, {"const": "off"}]});
        let lamp = json!({"type": "object", "properties": {"state": state, "name": {"type": "string"}}, "required": ["state"]});
        let defs = canonical(&[json!({"$defs": {
            "Room": {"type": "object", "properties": {
                "lamp": {"$schema": "https://json-schema.org/draft/2020-12/schema", "description": "Above.",
                    "required": ["state"], "properties": {"name": {"type": "string"}, "state": state}, "type": "object"},
                "lamps": {"type": "array", "items": lamp},
            }},
            "Lamp": lamp,
            "State": state,
        }})]);
        assert_eq!(defs["Lamp"]["properties"]["state"], json!({"$ref": "#/$defs/State"}));
        assert_eq!(defs["Room"]["properties"]["lamp"], json!({"description": "Above.", "$ref": "#/$defs/Lamp"}));
        assert_eq!(defs["Room"]["properties"]["lamps"]["items"], json!({"$ref": "#/$defs/Lamp"}));
        assert_eq!(defs.len(), 3);
    }

    #[test]
    fn among_equal_names_the_one_that_fits_the_place_is_taken() {
        let pair = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
        let defs = canonical(&[json!({"$defs": {
            "Left": pair, "BigParams": pair,
            "Call": {"type": "object", "properties": {"params": pair, "other": pair}},
        }})]);
        assert_eq!(defs["Call"]["properties"]["params"], json!({"$ref": "#/$defs/BigParams"}));
        assert_eq!(defs["Call"]["properties"]["other"], json!({"$ref": "#/$defs/Left"}));
    }

    #[test]
    fn a_single_field_is_no_copy() {
        let id = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
        let defs = canonical(&[json!({"$defs": {
            "Related": id, "Get": {"type": "object", "properties": {"params": id}},
        }})]);
        assert_eq!(defs["Get"]["properties"]["params"], json!({"$ref": "#/$defs/GetParams"}));
    }

    #[test]
    fn one_or_many_names_the_one() {
        let arms = [json!({"$ref": "#/$defs/Text"}), json!({"$ref": "#/$defs/Sound"})];
        let many = json!({"type": "array", "items": {"$ref": "#/$defs/Block"}});
        let text = json!({"type": "object", "properties": {"type": {"const": "text"}}});
        let sound = json!({"type": "object", "properties": {"type": {"const": "sound"}}});
        let defs = canonical(&[json!({"$defs": {
            "Block": {"anyOf": arms}, "Text": text, "Sound": sound,
            "Content": {"anyOf": [arms[0], arms[1], many]},
        }})]);
        assert_eq!(defs["Content"], json!({"anyOf": [{"$ref": "#/$defs/Block"}, many]}));
    }
}
