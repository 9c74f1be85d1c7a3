//! Objects: their own members and those of the definitions they are composed of.

use super::{Place, Schemas, Spot};
use crate::error::{Error, Problem, Problems};
use crate::ir::{Content, Field, Object, Presence, Type};
use serde_json::{Map, Value};

/// More members than this and the writer's record of what it has written would not fit.
const MOST_FIELDS: usize = 128;

impl<'a> Schemas<'a> {
    /// The object that a definition describes, bases included.
    pub(super) fn object(&self, name: &'a str, spot: &Spot) -> Result<Object, Error> {
        let object = self.composed(name, spot, &mut Vec::new())?;
        match object.fields.len() {
            count if count > MOST_FIELDS => {
                Err(spot.problem(format!("{count} members are more than {MOST_FIELDS}, the most of an object")).into())
            }
            _ => Ok(object),
        }
    }

    fn composed(&self, name: &'a str, spot: &Spot, trail: &mut Vec<&'a str>) -> Result<Object, Error> {
        if trail.contains(&name) {
            let circle = format!("`{name}` is composed of itself, by way of {}", trail.join(", "));
            return Err(spot.problem(circle).into());
        }
        let Some((name, place)) = self.places.get_key_value(name) else {
            return Err(spot.problem(format!("`{name}` is not defined")).into());
        };
        let here = place.spot();
        let schema = place.schema.as_object().ok_or_else(|| here.problem("a definition is an object"))?;
        trail.push(name);
        let object = match schema.get("allOf") {
            None => self.members(place, schema, &here),
            Some(members) => self.merged(place, members, &here.below("allOf"), trail),
        };
        trail.pop();
        object
    }

    fn merged(
        &self,
        place: &Place<'a>,
        members: &'a Value,
        spot: &Spot,
        trail: &mut Vec<&'a str>,
    ) -> Result<Object, Error> {
        let members = members.as_array().ok_or_else(|| spot.problem("`allOf` is a list"))?;
        let mut whole = Object { fields: Vec::new(), bases: Vec::new(), open: true };
        for (index, member) in members.iter().enumerate() {
            let spot = spot.below(index.to_string());
            let schema = member.as_object().ok_or_else(|| spot.problem("a schema is an object"))?;
            let part = match schema.get("$ref") {
                None => self.members(place, schema, &spot)?,
                Some(reference) => {
                    let base = self.reference(reference, &spot)?;
                    let (name, base_place) =
                        self.places.get_key_value(base.as_str()).ok_or_else(|| spot.problem("points to nothing"))?;
                    if !is_object(base_place.schema) {
                        let message = format!("`allOf` is over objects, and `{name}` is none");
                        return Err(spot.problem(message).into());
                    }
                    whole.bases.push(base.clone());
                    self.composed(name, &spot, trail)?
                }
            };
            whole.open &= part.open;
            for field in part.fields {
                merge(&mut whole.fields, field, &spot)?;
            }
        }
        Ok(whole)
    }

    fn members(&self, place: &Place<'a>, schema: &Map<String, Value>, spot: &Spot) -> Result<Object, Error> {
        let required = required(schema, spot)?;
        let properties = match schema.get("properties") {
            None => &Map::new(),
            Some(properties) => properties.as_object().ok_or_else(|| spot.problem("`properties` is an object"))?,
        };
        let spot = spot.below("properties");
        let mut fields = Vec::new();
        let mut problems = Problems::default();
        for (wire, property) in properties {
            let Some((content, nullable)) = problems.take(self.content(property, &spot.below(wire))) else { continue };
            fields.push(Field {
                wire: wire.clone(),
                docs: property.get("description").and_then(Value::as_str).map(str::to_owned),
                presence: presence(required.contains(&wire.as_str()), nullable),
                content,
                origin: place.name.to_owned(),
            });
        }
        for wire in required.iter().filter(|wire| !properties.contains_key(**wire)) {
            fields.push(Field {
                wire: (*wire).to_owned(),
                docs: None,
                presence: Presence::Required,
                content: Content::Typed(Type::Any),
                origin: place.name.to_owned(),
            });
        }
        let open = schema.get("additionalProperties") != Some(&Value::Bool(false));
        problems.finish(Object { fields, bases: Vec::new(), open })
    }

    fn content(&self, property: &Value, spot: &Spot) -> Result<(Content, bool), Error> {
        if let Some(constant) = property.get("const") {
            return Ok((fixed(constant, &spot.below("const"))?, false));
        }
        Ok(match self.slot(property, spot)? {
            Type::Nullable(value) => (Content::Typed(*value), true),
            value => (Content::Typed(value), false),
        })
    }
}

pub(super) fn is_object(schema: &Value) -> bool {
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    schema.get("properties").is_some() || schema.get("allOf").is_some() || closed
}

fn fixed(constant: &Value, spot: &Spot) -> Result<Content, Problem> {
    match (constant.as_str(), constant.as_i64()) {
        (Some(text), _) => Ok(Content::Constant(text.to_owned())),
        (None, Some(integer)) => Ok(Content::ConstantInteger(integer)),
        (None, None) => Err(spot.problem(format!("`const` is a string or an integer, and {constant} is neither"))),
    }
}

fn presence(required: bool, nullable: bool) -> Presence {
    match (required, nullable) {
        (true, false) => Presence::Required,
        (false, false) => Presence::Optional,
        (true, true) => Presence::RequiredNullable,
        (false, true) => Presence::OptionalNullable,
    }
}

fn required<'s>(schema: &'s Map<String, Value>, spot: &Spot) -> Result<Vec<&'s str>, Problem> {
    let Some(required) = schema.get("required") else { return Ok(Vec::new()) };
    let names = required.as_array().and_then(|names| names.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    names.ok_or_else(|| spot.below("required").problem("`required` is a list of strings"))
}

/// Adds a member, or narrows the one that a base brought in.
fn merge(fields: &mut Vec<Field>, new: Field, spot: &Spot) -> Result<(), Problem> {
    let Some(old) = fields.iter_mut().find(|field| field.wire == new.wire) else {
        fields.push(new);
        return Ok(());
    };
    let content = narrowed(&old.content, &new.content).ok_or_else(|| {
        let message = format!("`{}` has another type here than in `{}`", new.wire, old.origin);
        spot.below("properties").below(&new.wire).problem(message)
    })?;
    old.presence = presence(
        old.presence.is_required() || new.presence.is_required(),
        old.presence.is_nullable() && new.presence.is_nullable(),
    );
    old.content = content;
    old.docs = new.docs.or_else(|| old.docs.take());
    Ok(())
}

/// What satisfies both: a constant narrows any type (that it is one of its values was checked before), a type narrows
/// any JSON, and a definition an object of any content.
fn narrowed(old: &Content, new: &Content) -> Option<Content> {
    match (old, new) {
        (old, new) if old == new => Some(new.clone()),
        (Content::Typed(_), Content::Constant(_) | Content::ConstantInteger(_)) => Some(new.clone()),
        (Content::Constant(_) | Content::ConstantInteger(_), Content::Typed(_)) => Some(old.clone()),
        (Content::Typed(Type::Any), _) => Some(new.clone()),
        (_, Content::Typed(Type::Any)) => Some(old.clone()),
        (Content::Typed(Type::Free), Content::Typed(Type::Named(_))) => Some(new.clone()),
        _ => None,
    }
}
