//! Every shape that needs a type of its own gets a definition of its own.
//!
//! What may stay inline is what a field's type can say: references, plain scalars, integers with limits, lists, free objects,
//! any JSON, and each of these or `null`; a constant, if it is the field itself. The rest moves out under the name of its place. Two places never
//! share a type by chance; only a copy of a named definition does, and that was [folded](super::folding) before.

use super::naming::Context;
use super::schema::{Bounds, Definitions, Scalar, ScalarKind, Schema, Shape, Union, UnionKeyword};
use crate::error::{Error, Problems};
use serde_json::Value;
use std::collections::BTreeMap;

/// The definitions in canonical form, each followed by what moved out of it.
pub(super) fn hoist(definitions: Definitions) -> Result<Definitions, Error> {
    let shapes = definitions.iter().map(|(name, schema)| (name.clone(), schema.shape.fingerprint())).collect();
    let mut hoist = Hoist { shapes, done: Definitions::new(), problems: Problems::default() };
    for (name, schema) in definitions {
        hoist.define(name, schema);
    }
    hoist.problems.finish(hoist.done)
}

struct Hoist {
    /// The shape behind each name, before anything moved out of it.
    shapes: BTreeMap<String, String>,
    done: Definitions,
    problems: Problems,
}

/// Shapes on their way out, with their names.
type Moved = Vec<(String, Schema)>;

impl Hoist {
    fn define(&mut self, name: String, mut schema: Schema) {
        let context = Context::definition(&name);
        let mut moved = Moved::new();
        self.definition(&context, &mut schema, &mut moved);
        self.done.insert(name, schema);
        for (name, schema) in moved {
            self.define(name, schema);
        }
    }

    /// Brings a definition into form.
    fn definition(&mut self, context: &Context, schema: &mut Schema, moved: &mut Moved) {
        match &mut schema.shape {
            Shape::Const(value) => schema.shape = constant(value),
            Shape::Union(union) if union.allows_null() => self.nullable(&context.step("Value"), schema, moved),
            Shape::All(_) => {
                for (context, member) in schema.children_mut(context) {
                    self.slots(&context, member, moved);
                }
            }
            Shape::Null => self.refuse_null(schema),
            _ => self.slots(context, schema, moved),
        }
    }

    fn slots(&mut self, context: &Context, schema: &mut Schema, moved: &mut Moved) {
        let has_members = matches!(schema.shape, Shape::Object(_));
        for (context, child) in schema.children_mut(context) {
            if has_members { self.slot(&context, child, moved) } else { self.value(&context, child, moved) }
        }
    }

    /// As [`slot`](Self::slot) where there is no member: a constant has no form there.
    fn value(&mut self, context: &Context, schema: &mut Schema, moved: &mut Moved) {
        match schema.shape {
            Shape::Const(_) => self.move_out(context, schema, moved),
            _ => self.slot(context, schema, moved),
        }
    }

    /// Leaves a schema inline, or moves it out and leaves a reference.
    fn slot(&mut self, context: &Context, schema: &mut Schema, moved: &mut Moved) {
        schema.notes.title = None;
        match &mut schema.shape {
            Shape::Any | Shape::Reference(_) | Shape::Const(_) => {}
            Shape::Scalar(scalar) if fits_inline(scalar) => {}
            shape if shape.is_free_object() => {}
            Shape::List(list) if list.bounds.is_empty() => self.slots(context, schema, moved),
            Shape::Union(union) if union.allows_null() => self.nullable(context, schema, moved),
            Shape::Null => self.refuse_null(schema),
            _ => self.move_out(context, schema, moved),
        }
    }

    /// `null` or one other schema; several others become a union of their own first.
    fn nullable(&mut self, context: &Context, schema: &mut Schema, moved: &mut Moved) {
        let Shape::Union(union) = &mut schema.shape else { return };
        let keyword = union.keyword;
        let (null, mut others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut union.arms).into_iter().partition(|arm| matches!(arm.shape, Shape::Null));
        if others.len() > 1 {
            others = vec![Schema::new(schema.place.clone(), Shape::Union(Union { keyword, arms: others }))];
        }
        for other in &mut others {
            self.value(context, other, moved);
        }
        let arms = others.into_iter().chain(null).collect();
        schema.shape = Shape::Union(Union { keyword: UnionKeyword::AnyOf, arms });
    }

    fn move_out(&mut self, context: &Context, schema: &mut Schema, moved: &mut Moved) {
        let name = &context.name;
        let shape = schema.shape.fingerprint();
        match self.shapes.get(name) {
            Some(taken) if *taken != shape => {
                let message = format!("this shape would be named `{name}`, which is the name of another");
                let help = "give it a name of its own under `$defs`, and a reference here";
                self.problems.push(schema.place.problem(message).help(help));
            }
            Some(_) => {}
            None => {
                self.shapes.insert(name.clone(), shape);
                moved.push((name.clone(), schema.clone()));
            }
        }
        schema.shape = Shape::Reference(name.clone());
    }

    fn refuse_null(&mut self, schema: &Schema) {
        let problem = schema.place.problem("a value that can only be `null` carries nothing and has no type");
        self.problems.push(problem.help("add what else it can be, or leave it out"));
    }
}

/// A definition has no constant form: of a string it is an enum of one, of an integer the range of one.
fn constant(value: &Value) -> Shape {
    match value {
        Value::Number(number) => {
            let limit = Some(number.clone());
            let length = Bounds::default();
            Shape::Scalar(Scalar {
                minimum: limit.clone(),
                maximum: limit,
                length,
                ..Scalar::plain(ScalarKind::Integer)
            })
        }
        value => Shape::Enum(value.as_str().map(str::to_owned).into_iter().collect()),
    }
}

fn fits_inline(scalar: &Scalar) -> bool {
    scalar.kind == ScalarKind::Integer || !scalar.is_bounded()
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::{canonical, problems};
    use serde_json::json;

    #[test]
    fn a_constant_that_is_no_member_gets_a_name() {
        let defs = canonical(&[json!({"$defs": {"Job": {"type": "object", "properties": {
            "kind": {"const": "job"},
            "marks": {"type": "array", "items": {"const": "x"}},
            "switch": {"type": "object", "additionalProperties": {"const": "on"}},
            "end": {"anyOf": [{"const": "never"}, {"type": "null"}]},
            "share": {"anyOf": [{"const": "all"}, {"type": "number"}]},
        }}}})]);
        assert_eq!(defs["Job"]["properties"]["kind"], json!({"type": "string", "const": "job"}));
        let (marks, end) = (&defs["JobMarksItem"], &defs["JobEnd"]);
        assert_eq!(
            (marks, end),
            (&json!({"type": "string", "enum": ["x"]}), &json!({"type": "string", "enum": ["never"]}))
        );
        assert_eq!(defs["JobSwitch"]["additionalProperties"], json!({"$ref": "#/$defs/JobSwitchValue"}));
        let share = defs["JobShare"]["anyOf"].as_array().expect("arms");
        assert!(share.iter().all(|arm| arm.get("const").is_none()), "{share:?}");
    }

    #[test]
    fn what_needs_a_type_gets_a_name() {
        let defs = canonical(&[json!({"$defs": {"Job": {"type": "object", "properties": {
            "org.example/run-state": {"enum": ["on", "off"]},
            "_meta": {"properties": {"steps": {"type": "array", "items": {"properties": {"n": {"type": "integer"}}}}}},
            "labels": {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
            "weight": {"type": "number", "minimum": 0},
            "ttl": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]},
            "mode": {"enum": ["a", "b", null]},
            "extra": {"type": "object", "properties": {}},
        }}}})]);
        let names = "Job JobRunState JobMeta JobMetaStepsItem JobLabels JobLabelsValue JobWeight JobMode";
        assert_eq!(defs.keys().cloned().collect::<Vec<_>>().join(" "), names);
        let fields = &defs["Job"]["properties"];
        assert_eq!(fields["mode"], json!({"anyOf": [{"$ref": "#/$defs/JobMode"}, {"type": "null"}]}));
        assert_eq!(fields["ttl"], json!({"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}]}));
        assert_eq!(fields["extra"], json!({"type": "object", "additionalProperties": true}));
        assert_eq!(defs["JobMeta"]["properties"]["steps"]["items"], json!({"$ref": "#/$defs/JobMetaStepsItem"}));
    }

    #[test]
    fn a_nullable_definition_keeps_null_apart() {
        let defs = canonical(&[json!({"$defs": {"X": {"type": ["string", "integer", "null"]}}})]);
        assert_eq!(defs["X"], json!({"anyOf": [{"$ref": "#/$defs/XValue"}, {"type": "null"}]}));
        assert_eq!(defs["XValue"], json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}));
    }

    #[test]
    fn constants_as_definitions() {
        let defs = canonical(&[json!({"$defs": {"Word": {"const": "x"}, "Code": {"const": -3}}})]);
        assert_eq!(defs["Word"], json!({"type": "string", "enum": ["x"]}));
        assert_eq!(defs["Code"], json!({"type": "integer", "minimum": -3, "maximum": -3}));
    }

    #[test]
    fn a_name_that_is_taken_is_refused() {
        let found = problems(json!({"$defs": {
            "JobState": {"type": "string"},
            "Job": {"type": "object", "properties": {"state": {"enum": ["on", "off"]}, "none": {"type": "null"}}},
        }}));
        let taken =
            "0.json#/$defs/Job/properties/state: this shape would be named `JobState`, which is the name of another";
        assert!(found.contains(&taken.to_owned()), "{found:?}");
        assert_eq!(found.len(), 2);
    }
}
