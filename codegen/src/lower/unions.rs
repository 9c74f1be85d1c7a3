//! Unions: told apart by a tag, or by shape.

use super::objects::is_object;
use super::{Schemas, Spot};
use crate::error::{Error, Problem};
use crate::ir::{Choice, Content, Object, Shape, Tagged, TaggedArm, Type};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// An arm that is an object definition.
struct ObjectArm {
    name: String,
    object: Object,
}

impl Schemas<'_> {
    /// A union. `oneOf` promises a tag; `anyOf` has one if there is one, and is told apart by shape otherwise.
    pub(super) fn union(&self, schema: &Map<String, Value>, spot: &Spot) -> Result<Shape, Error> {
        let keyword = if schema.contains_key("oneOf") { "oneOf" } else { "anyOf" };
        let spot = spot.below(keyword);
        let arms = schema.get(keyword).and_then(Value::as_array);
        let arms = arms.filter(|arms| !arms.is_empty()).ok_or_else(|| spot.problem("a union is a list of arms"))?;
        if let [value, null] = arms.as_slice()
            && null.get("type").and_then(Value::as_str) == Some("null")
        {
            return Ok(Shape::Alias(Type::Nullable(Box::new(self.slot(value, &spot.below("0"))?))));
        }
        let mut types = Vec::new();
        for (index, arm) in arms.iter().enumerate() {
            types.push(self.slot(arm, &spot.below(index.to_string()))?);
        }
        if let Some(objects) = self.all_objects(&types, &spot)?
            && let Some(tagged) = tagged(&objects)
        {
            return Ok(Shape::Tagged(tagged));
        }
        if keyword == "oneOf" {
            let help = "give each arm a required string `const` of the same member, or use `anyOf` for shapes";
            return Err(spot.problem("a union without a discriminator").help(help).into());
        }
        self.choice(types, &spot)
    }

    fn all_objects(&self, arms: &[Type], spot: &Spot) -> Result<Option<Vec<ObjectArm>>, Error> {
        let mut objects = Vec::new();
        for arm in arms {
            match self.object_arm(arm, spot)? {
                Some(object) => objects.push(object),
                None => return Ok(None),
            }
        }
        Ok(Some(objects))
    }

    fn object_arm(&self, arm: &Type, spot: &Spot) -> Result<Option<ObjectArm>, Error> {
        let Type::Named(name) = arm else { return Ok(None) };
        let Some((key, place)) = self.places.get_key_value(name.as_str()) else { return Ok(None) };
        if !is_object(place.schema) {
            return Ok(None);
        }
        Ok(Some(ObjectArm { name: name.clone(), object: self.object(key, spot)? }))
    }

    fn choice(&self, arms: Vec<Type>, spot: &Spot) -> Result<Shape, Error> {
        let mut kinds: Vec<(&'static str, &Type)> = Vec::new();
        let mut objects: Vec<ObjectArm> = Vec::new();
        for arm in &arms {
            if let Some(object) = self.object_arm(arm, spot)? {
                let shown = self.evidence(&object.object);
                if let Some(same) = objects.iter().find(|other| !shown.differs(&self.evidence(&other.object))) {
                    return Err(inseparable(spot, &same.name, &object.name).into());
                }
                objects.push(object);
                continue;
            }
            let kind = self.kind(arm, spot)?;
            let clash = kinds.iter().find(|(other, _)| *other == kind || overlaps(other, kind));
            if let Some((_, other)) = clash {
                return Err(inseparable(spot, &label(other), &label(arm)).into());
            }
            kinds.push((kind, arm));
        }
        if !objects.is_empty() && kinds.iter().any(|(kind, _)| *kind == "object") {
            let free = kinds.iter().find(|(kind, _)| *kind == "object").map(|(_, arm)| label(arm)).unwrap_or_default();
            return Err(inseparable(spot, &free, &objects[0].name).into());
        }
        Ok(Shape::Choice(Choice { arms }))
    }

    /// The JSON type of the values of an arm.
    fn kind(&self, arm: &Type, spot: &Spot) -> Result<&'static str, Error> {
        let mut arm = arm.clone();
        for _ in 0..=self.places.len() {
            match &arm {
                Type::String => return Ok("string"),
                Type::Integer { .. } => return Ok("integer"),
                Type::Number => return Ok("number"),
                Type::Boolean => return Ok("boolean"),
                Type::List(_) => return Ok("array"),
                Type::Free => return Ok("object"),
                Type::Any | Type::Nullable(_) => {
                    return Err(spot.problem("an arm of any JSON leaves nothing to tell apart").into());
                }
                Type::Named(name) => {
                    let place = self.places.get(name.as_str()).ok_or_else(|| spot.problem("points to nothing"))?;
                    match place.schema.get("type").and_then(Value::as_str) {
                        Some("string") => return Ok("string"),
                        Some("integer") => return Ok("integer"),
                        Some("number") => return Ok("number"),
                        Some("boolean") => return Ok("boolean"),
                        Some("array") => return Ok("array"),
                        Some("object") => return Ok("object"),
                        _ if is_tagged_union(place.schema) => return Ok("object"),
                        _ => arm = self.slot(place.schema, &place.spot())?,
                    }
                }
            }
        }
        Err(spot.problem("an arm is an alias of itself").into())
    }
}

/// A union of references counts as an object; that its arms are objects is checked where it is defined.
fn is_tagged_union(schema: &Value) -> bool {
    let arms = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
    arms.is_some_and(|arms| arms.iter().all(|arm| arm.get("$ref").is_some()))
}

fn overlaps(one: &str, other: &str) -> bool {
    matches!((one, other), ("integer", "number") | ("number", "integer"))
}

fn label(arm: &Type) -> String {
    match arm {
        Type::Named(name) => name.clone(),
        Type::String => "string".to_owned(),
        Type::Integer { .. } => "integer".to_owned(),
        Type::Number => "number".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::List(_) => "list".to_owned(),
        Type::Free => "object".to_owned(),
        Type::Any | Type::Nullable(_) => "any JSON".to_owned(),
    }
}

fn inseparable(spot: &Spot, one: &str, other: &str) -> Problem {
    spot.problem(format!("a union without a discriminator: nothing tells `{one}` and `{other}` apart"))
        .help("give each a required member that the other lacks, or a `const` of its own")
}

/// The tag, if one member has a different constant in each arm. One arm may leave it out.
fn tagged(arms: &[ObjectArm]) -> Option<Tagged> {
    let first = arms.first()?;
    first.object.fields.iter().find_map(|field| {
        let tag = &field.wire;
        let mut tagged = Tagged { tag: tag.clone(), arms: Vec::new(), absent: None };
        for arm in arms {
            let field = arm.object.field(tag)?;
            let Content::Constant(value) = &field.content else { return None };
            if tagged.arms.iter().any(|other| other.value == *value) {
                return None;
            }
            if !field.presence.is_required() && tagged.absent.replace(value.clone()).is_some() {
                return None;
            }
            tagged.arms.push(TaggedArm { value: value.clone(), target: arm.name.clone() });
        }
        Some(tagged)
    })
}

/// What an object shows of which arm it is: the same that the emitted reader looks at.
struct Evidence {
    required: BTreeSet<String>,
    known: BTreeSet<String>,
    constants: BTreeMap<String, Vec<String>>,
}

impl Evidence {
    /// Whether some object could show to be of the one and not of the other.
    fn differs(&self, other: &Self) -> bool {
        let disjoint = |(wire, values): (&String, &Vec<String>)| {
            other.constants.get(wire).is_some_and(|others| values.iter().all(|value| !others.contains(value)))
        };
        self.required != other.required || self.known != other.known || self.constants.iter().any(disjoint)
    }
}

impl Schemas<'_> {
    fn evidence(&self, object: &Object) -> Evidence {
        let mut evidence = Evidence { required: BTreeSet::new(), known: BTreeSet::new(), constants: BTreeMap::new() };
        for field in &object.fields {
            evidence.known.insert(field.wire.clone());
            if field.presence.is_required() {
                evidence.required.insert(field.wire.clone());
                let inner = self.required_below(&field.content);
                evidence.required.extend(inner.map(|inner| format!("{}/{inner}", field.wire)));
            }
            if let Some(values) = self.texts(&field.content) {
                evidence.constants.insert(field.wire.clone(), values);
            }
        }
        evidence
    }

    /// The members that the object under a member requires in turn.
    fn required_below(&self, content: &Content) -> impl Iterator<Item = String> + use<> {
        let inner = match content {
            Content::Typed(Type::Named(name)) => self.places.get_key_value(name.as_str()),
            _ => None,
        };
        let object = inner.and_then(|(name, place)| match is_object(place.schema) {
            true => self.object(name, &place.spot()).ok(),
            false => None,
        });
        let fields = object.map(|object| object.fields).unwrap_or_default();
        fields.into_iter().filter(|field| field.presence.is_required()).map(|field| field.wire)
    }

    /// The texts that a member can have, if they are listed.
    fn texts(&self, content: &Content) -> Option<Vec<String>> {
        match content {
            Content::Constant(text) => Some(vec![text.clone()]),
            Content::Typed(Type::Named(name)) => {
                let values = self.places.get(name.as_str())?.schema.get("enum")?.as_array()?;
                Some(values.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            _ => None,
        }
    }
}
