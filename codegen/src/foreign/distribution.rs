//! `allOf` over a union as a union of compositions.
//!
//! `GetTaskResult` is a `Result` and a `DetailedTask` at once, and that is an enum: its value is one of five shapes, each
//! of them a `Result` and one kind of task. Each combination gets a name, the arm's and the first base's, as in
//! `WorkingTask` + `Result`.

use super::all_of::Parts;
use super::naming::Context;
use super::schema::{Definitions, Place, Schema, Shape, Union, resolve};
use crate::error::Problem;

/// The members that every arm is to be combined with.
pub(super) struct Distribution<'a> {
    pub(super) context: &'a Context,
    pub(super) parts: &'a Parts,
    pub(super) definitions: &'a Definitions,
}

impl Distribution<'_> {
    /// The union of the combinations, and their definitions.
    pub(super) fn over(&self, member: &Schema, union: &Union) -> Result<(Shape, Vec<(String, Schema)>), Problem> {
        let mut arms = Vec::new();
        self.collect(&member.place, self.context, union, &mut arms)?;
        let reference = |(name, schema): &(String, Schema)| Schema::reference(schema.place.clone(), name.as_str());
        let references = arms.iter().map(reference).collect();
        Ok((Shape::Union(Union { keyword: union.keyword, arms: references }), arms))
    }

    /// Adds a combination for each arm; a union among the arms counts as its arms.
    fn collect(
        &self,
        place: &Place,
        context: &Context,
        union: &Union,
        made: &mut Vec<(String, Schema)>,
    ) -> Result<(), Problem> {
        for (context, arm) in context.arms(&union.arms).into_iter().zip(&union.arms) {
            let Shape::Reference(name) = &arm.shape else {
                made.push((context.name, self.combined(place, arm, arm)?));
                continue;
            };
            let Some((name, target)) = resolve(self.definitions, name) else { continue };
            let name = self.name(name);
            match &target.shape {
                Shape::Union(inner) => self.collect(place, &context, inner, made)?,
                _ if made.iter().any(|(other, _)| *other == name) => {}
                _ => made.push((name, self.combined(place, arm, target)?)),
            }
        }
        Ok(())
    }

    fn name(&self, arm: &str) -> String {
        match self.parts.first_reference() {
            Some(base) => format!("{arm}{base}"),
            None => format!("{}{arm}", self.context.name),
        }
    }

    fn combined(&self, place: &Place, arm: &Schema, described: &Schema) -> Result<Schema, Problem> {
        let mut parts = self.parts.without_unions();
        parts.add(arm, self.definitions)?;
        let shape = parts.shape(self.definitions)?;
        Ok(Schema { place: place.clone(), notes: described.notes.clone(), shape })
    }
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::{canonical, problems};
    use serde_json::{Value, json};

    fn document(member: Value) -> Value {
        let variant = |tag: &str| json!({"type": "object", "properties": {"is": {"type": "string", "const": tag}}});
        json!({"$defs": {
            "Get": {"allOf": [{"$ref": "#/$defs/Envelope"}, member, {"properties": {"kind": {"const": "lamp"}}}]},
            "Envelope": {"type": "object", "properties": {"kind": {"type": "string"}, "_meta": {"type": "object"}}},
            "Lamp": {"anyOf": [{"$ref": "#/$defs/OnLamp"}, {"$ref": "#/$defs/Broken"}]},
            "Broken": {"anyOf": [{"$ref": "#/$defs/OffLamp"}]},
            "OnLamp": variant("on"), "OffLamp": variant("off"),
        }})
    }

    #[test]
    fn each_arm_is_combined_with_the_other_members() {
        let defs = canonical(&[document(json!({"$ref": "#/$defs/Lamp"}))]);
        let arms = json!([{"$ref": "#/$defs/OnLampEnvelope"}, {"$ref": "#/$defs/OffLampEnvelope"}]);
        assert_eq!(defs["Get"], json!({ "anyOf": arms }));
        let inline = json!({"type": "object", "properties": {"kind": {"type": "string", "const": "lamp"}},
            "required": [], "additionalProperties": true});
        let on = json!({"allOf": [{"$ref": "#/$defs/Envelope"}, {"$ref": "#/$defs/OnLamp"}, inline]});
        assert_eq!(defs["OnLampEnvelope"], on);
    }

    #[test]
    fn an_inline_arm_is_named_after_its_place_and_tag() {
        let dim = json!({"type": "object", "properties": {"is": {"const": "dim"}, "level": {"type": "integer"}}});
        let defs = canonical(&[document(json!({"oneOf": [dim, {"$ref": "#/$defs/OnLamp"}]}))]);
        assert_eq!(defs["Get"], json!({"oneOf": [{"$ref": "#/$defs/GetDim"}, {"$ref": "#/$defs/OnLampEnvelope"}]}));
    }

    #[test]
    fn an_arm_that_is_no_object_is_refused() {
        let found = problems(document(json!({"anyOf": [{"$ref": "#/$defs/OnLamp"}, {"type": "string"}]})));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("0.json#/$defs/Get/allOf/1/anyOf/1: "), "{found:?}");
    }
}
