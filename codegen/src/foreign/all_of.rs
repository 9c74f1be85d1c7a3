//! `allOf` as a composition: references to objects first, and at most one inline object after them.
//!
//! Nested `allOf` are opened, inline members become one, and what says nothing (any JSON, a free object) goes. A member
//! that is a union is [distributed](super::distribution): a type cannot be a struct and an enum at once.

use super::distribution::Distribution;
use super::intersection::intersect;
use super::naming::Context;
use super::references::dependencies_first;
use super::schema::{Definitions, Object, Place, Schema, Shape, Union, one_or, resolve};
use crate::error::{Error, Problem, Problems};
use indexmap::IndexSet;
use indexmap::map::Entry;

/// Rewrites every `allOf`. What definitions are themselves comes first, each after those it is made of, so that whatever
/// stands in their fields meets them in their final form.
pub(super) fn compose(definitions: &mut Definitions) -> Result<(), Error> {
    let mut composer = Composer { problems: Problems::default(), made: Definitions::new() };
    for reach in [Reach::Itself, Reach::Fields] {
        for name in dependencies_first(definitions) {
            let Some(mut schema) = definitions.get(&name).cloned() else { continue };
            composer.visit(&Context::definition(&name), &mut schema, definitions, reach);
            let (index, _) = definitions.insert_full(name, schema);
            for (at, (name, schema)) in (index + 1..).zip(std::mem::take(&mut composer.made)) {
                definitions.shift_insert(at, name, schema);
            }
        }
    }
    composer.problems.finish(())
}

/// How far into a definition a round goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Unions and members of `allOf`.
    Itself,
    /// Fields, items and values as well.
    Fields,
}

struct Composer {
    problems: Problems,
    /// Definitions that distribution made up for the current one.
    made: Definitions,
}

impl Composer {
    fn visit(&mut self, context: &Context, schema: &mut Schema, definitions: &Definitions, reach: Reach) {
        if reach == Reach::Fields || matches!(schema.shape, Shape::Union(_) | Shape::All(_)) {
            for (context, child) in schema.children_mut(context) {
                self.visit(&context, child, definitions, reach);
            }
        }
        if let Shape::All(members) = &schema.shape {
            match self.composed(context, &schema.place, members, definitions) {
                Ok(shape) => schema.shape = shape,
                Err(problem) => self.problems.push(problem),
            }
        }
    }

    fn composed(
        &mut self,
        context: &Context,
        place: &Place,
        members: &[Schema],
        definitions: &Definitions,
    ) -> Result<Shape, Problem> {
        let mut parts = Parts::new(place.clone());
        for member in members {
            parts.add(member, definitions)?;
        }
        match parts.unions.as_slice() {
            [] => parts.shape(definitions),
            [union] if parts.is_empty() => Ok(union.schema.shape.clone()),
            [union] => {
                let distribution = Distribution { context, parts: &parts, definitions };
                let (shape, made) = distribution.over(&union.schema, &union.union)?;
                made.into_iter().try_for_each(|(name, schema)| self.define(name, schema, definitions))?;
                Ok(shape)
            }
            [_, second, ..] => {
                let problem = second.schema.place.problem("an `allOf` over two unions is not supported");
                Err(problem.help("name the combinations that are meant, each as an object of its own"))
            }
        }
    }

    fn define(&mut self, name: String, schema: Schema, definitions: &Definitions) -> Result<(), Problem> {
        let taken = definitions.get(&name).or(self.made.get(&name));
        match taken {
            Some(other) if other.shape.fingerprint() != schema.shape.fingerprint() => {
                let message = format!("the combination `{name}` made here is not what that name already stands for");
                Err(schema.place.problem(message).help("give the combinations names of their own under `$defs`"))
            }
            Some(_) => Ok(()),
            None => {
                self.made.insert(name, schema);
                Ok(())
            }
        }
    }
}

/// The members of an `allOf`, sorted.
#[derive(Clone)]
pub(super) struct Parts {
    place: Place,
    /// Names of object definitions.
    references: IndexSet<String>,
    /// All inline objects as one.
    inline: Option<Object>,
    /// What stands for neither object nor union, as one.
    value: Option<Schema>,
    /// Whether anything said that the value is an object.
    is_object: bool,
    unions: Vec<UnionMember>,
}

/// A union among the members: the member as it stands, and the union it is or refers to.
#[derive(Clone)]
struct UnionMember {
    schema: Schema,
    union: Union,
}

impl Parts {
    pub(super) fn new(place: Place) -> Self {
        Self { place, references: IndexSet::new(), inline: None, value: None, is_object: false, unions: Vec::new() }
    }

    /// The first object definition among the members.
    pub(super) fn first_reference(&self) -> Option<&str> {
        self.references.first().map(String::as_str)
    }

    /// The parts beside the unions.
    pub(super) fn without_unions(&self) -> Self {
        Self { unions: Vec::new(), ..self.clone() }
    }

    fn is_empty(&self) -> bool {
        self.references.is_empty() && self.inline.is_none() && self.value.is_none()
    }

    /// Adds a member to the part it belongs to.
    pub(super) fn add(&mut self, member: &Schema, definitions: &Definitions) -> Result<(), Problem> {
        let (name, target) = match &member.shape {
            Shape::Reference(name) => resolve(definitions, name).map_or((None, member), |(name, to)| (Some(name), to)),
            _ => (None, member),
        };
        match (&target.shape, name) {
            (Shape::Any, _) => {}
            (shape, _) if shape.is_free_object() => self.is_object = true,
            (Shape::Union(union), _) => {
                self.unions.push(UnionMember { schema: member.clone(), union: union.clone() });
            }
            (Shape::Object(_) | Shape::All(_), Some(name)) => {
                self.references.insert(name.to_owned());
            }
            (Shape::Object(object), None) => self.add_object(object, definitions)?,
            (Shape::All(members), None) => members.iter().try_for_each(|member| self.add(member, definitions))?,
            _ => self.add_value(member, definitions)?,
        }
        Ok(())
    }

    fn add_object(&mut self, object: &Object, definitions: &Definitions) -> Result<(), Problem> {
        let Some(inline) = &mut self.inline else {
            self.inline = Some(object.clone());
            return Ok(());
        };
        refuse_lost(inline, object)?;
        refuse_lost(object, inline)?;
        inline.open &= object.open;
        let new = object.required.iter().filter(|name| !inline.required.contains(name)).cloned().collect::<Vec<_>>();
        inline.required.extend(new);
        for (name, property) in &object.properties {
            match inline.properties.entry(name.clone()) {
                Entry::Vacant(entry) => {
                    entry.insert(property.clone());
                }
                Entry::Occupied(mut entry) => {
                    let both = intersect(entry.get(), property, definitions);
                    entry.insert(both.ok_or_else(|| disagreement(name, property, &entry.get().place))?);
                }
            }
        }
        Ok(())
    }

    fn add_value(&mut self, member: &Schema, definitions: &Definitions) -> Result<(), Problem> {
        let both = match &self.value {
            None => Some(member.clone()),
            Some(value) => intersect(value, member, definitions),
        };
        self.value = Some(both.ok_or_else(|| {
            let problem = member.place.problem("the members of this `allOf` cannot be said in one");
            problem.help("write the values that are left as one schema")
        })?);
        Ok(())
    }

    /// The members as one shape. Needs parts without unions.
    pub(super) fn shape(&self, definitions: &Definitions) -> Result<Shape, Problem> {
        let object = self.is_object || self.inline.is_some() || !self.references.is_empty();
        match &self.value {
            Some(value) if object => {
                let problem = value.place.problem("this member of an `allOf` is no object with fields, and others are");
                Err(problem.help("write all members as objects with `properties`"))
            }
            Some(value) => Ok(value.shape.clone()),
            None => self.composition(definitions),
        }
    }

    fn composition(&self, definitions: &Definitions) -> Result<Shape, Problem> {
        self.refuse_closed_bases(definitions)?;
        let reference = |name: &String| Schema::reference(self.place.clone(), name.as_str());
        let inline = self.inline.clone().map(|inline| Schema::new(self.place.clone(), Shape::Object(inline)));
        let members = self.references.iter().map(reference).chain(inline).collect();
        let whole = one_or(members, |members| Schema::new(self.place.clone(), Shape::All(members)));
        let nothing = if self.is_object { Shape::free_object(&self.place) } else { Shape::Any };
        Ok(whole.map_or(nothing, |whole| whole.shape))
    }

    /// A member without room for the fields of the others would forbid them all.
    fn refuse_closed_bases(&self, definitions: &Definitions) -> Result<(), Problem> {
        let mut objects: Vec<Object> = self.inline.iter().cloned().collect();
        for name in &self.references {
            flat_objects(name, definitions, &mut objects);
        }
        for closed in objects.iter().filter(|object| !object.open) {
            objects.iter().try_for_each(|other| refuse_lost(closed, other))?;
        }
        Ok(())
    }
}

/// All objects that a composition is made of.
fn flat_objects(name: &str, definitions: &Definitions, objects: &mut Vec<Object>) {
    let Some((_, schema)) = resolve(definitions, name) else { return };
    let members = match &schema.shape {
        Shape::All(members) => members.as_slice(),
        _ => std::slice::from_ref(schema),
    };
    for member in members {
        match &member.shape {
            Shape::Object(object) => objects.push(object.clone()),
            Shape::Reference(name) => flat_objects(name, definitions, objects),
            _ => {}
        }
    }
}

/// A field that a closed object has no room for can never be there.
fn refuse_lost(closed: &Object, other: &Object) -> Result<(), Problem> {
    let lost = other.properties.iter().find(|(name, _)| !closed.open && !closed.properties.contains_key(*name));
    lost.map_or(Ok(()), |(name, property)| {
        let message =
            format!("another member of the `allOf` has `additionalProperties: false` and no property `{name}`");
        Err(property.place.problem(message).help("leave `additionalProperties` out of the members of an `allOf`"))
    })
}

fn disagreement(name: &str, property: &Schema, other: &Place) -> Problem {
    let message =
        format!("the property `{name}` is also described at {}, and neither is within the other", other.pointer);
    property.place.problem(message).help("describe it once, or narrow it to a constant")
}

#[cfg(test)]
mod tests {
    use crate::foreign::testing::{canonical, definition, problems};
    use serde_json::json;

    fn object(properties: serde_json::Value) -> serde_json::Value {
        json!({"type": "object", "properties": properties, "required": [], "additionalProperties": true})
    }

    #[test]
    fn inline_members_become_one_object() {
        let all = json!({"allOf": [
            {"allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"type": "object"}]},
            {"properties": {"b": {"type": "string"}, "a": {"const": "x"}}, "required": ["a", "b"]},
        ]});
        let mut expected = object(json!({"a": {"type": "string", "const": "x"}, "b": {"type": "string"}}));
        expected["required"] = json!(["a", "b"]);
        assert_eq!(definition(all), expected);
    }

    #[test]
    fn references_come_first_and_a_lone_one_is_an_alias() {
        let defs = canonical(&[json!({"$defs": {
            "Base": object(json!({"id": {"type": "string"}, "at": {"type": "string"}})),
            "More": {"properties": {"x": {"type": "string"}, "y": {"type": "string"}}, "allOf": [{"$ref": "#/$defs/Base"}]},
            "Same": {"description": "The base.", "allOf": [{"$ref": "#/$defs/Base"}, {"type": "object"}, {}]},
        }})]);
        let inline = object(json!({"x": {"type": "string"}, "y": {"type": "string"}}));
        assert_eq!(defs["More"], json!({"allOf": [{"$ref": "#/$defs/Base"}, inline]}));
        assert_eq!(defs["Same"], json!({"description": "The base.", "$ref": "#/$defs/Base"}));
    }

    #[test]
    fn a_field_over_a_later_definition_meets_its_final_form() {
        let object = |tag: &str| json!({"type": "object", "properties": {"is": {"const": tag}}});
        let defs = canonical(&[json!({"$defs": {
            "User": {"properties": {"either": {"allOf": [{"$ref": "#/$defs/Either"}, {"required": ["is"]}]}}},
            "Either": {"allOf": [{"$ref": "#/$defs/Base"}, {"anyOf": [object("x"), object("y")]}]},
            "Base": {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
        }})]);
        assert_eq!(defs["UserEither"]["anyOf"][1], json!({"$ref": "#/$defs/UserEitherEitherY"}));
        assert_eq!(defs["UserEitherEitherY"]["allOf"][0], json!({"$ref": "#/$defs/EitherY"}));
    }

    #[test]
    fn members_that_do_not_go_together_are_refused() {
        let base = json!({"properties": {"a": {"type": "string"}}, "additionalProperties": false});
        for all in [
            json!([{"$ref": "#/$defs/Base"}, {"type": "object", "properties": {"b": {}}}]),
            json!([{"$ref": "#/$defs/Base"}, {"type": "string"}]),
            json!([{"type": "string"}, {"type": "integer"}]),
            json!([{"$ref": "#/$defs/Either"}, {"$ref": "#/$defs/Other"}]),
        ] {
            let either = json!({"anyOf": [{"$ref": "#/$defs/Base"}, {"type": "string"}]});
            let other = json!({"anyOf": [{"$ref": "#/$defs/Base"}, {"type": "integer"}]});
            let defs = json!({"Base": base, "Either": either, "Other": other, "X": {"allOf": all}});
            assert_eq!(problems(json!({ "$defs": defs })).len(), 1, "{all}");
        }
    }
}
