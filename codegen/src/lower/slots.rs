//! The type of a member, an item or an arm.

use super::{Schemas, Spot};
use crate::error::{Error, Problem};
use crate::ir::Type;
use serde_json::{Map, Value};

impl Schemas<'_> {
    /// The type that a schema inside a definition stands for.
    pub(super) fn slot(&self, schema: &Value, spot: &Spot) -> Result<Type, Error> {
        let schema = match schema {
            Value::Bool(true) => return Ok(Type::Any),
            Value::Object(schema) => schema,
            _ => return Err(spot.problem("a schema is an object").into()),
        };
        if let Some(reference) = schema.get("$ref") {
            return self.reference(reference, spot).map(Type::Named);
        }
        if let Some(arms) = schema.get("anyOf") {
            return self.nullable(arms, &spot.below("anyOf"));
        }
        if schema.contains_key("const") {
            let problem = spot.below("const").problem("`const` stands where there is no member");
            return Err(problem.help("make the value a definition of its own, an `enum` of one").into());
        }
        let Some(kind) = schema.get("type") else { return untyped(schema, spot) };
        match kind.as_str() {
            Some("string") => plain(schema, spot, &["minLength", "maxLength", "enum"], Type::String),
            Some("integer") => bounds(schema, spot).map(|(min, max)| Type::Integer { min, max }),
            Some("number") => plain(schema, spot, &["minimum", "maximum"], Type::Number),
            Some("boolean") => Ok(Type::Boolean),
            Some("array") => self.items(schema, spot),
            Some("object") => free(schema, spot),
            _ => Err(spot.below("type").problem(format!("`type` {kind} is none that a member can have")).into()),
        }
    }

    /// The name of the definition that a reference points to.
    pub(super) fn reference(&self, reference: &Value, spot: &Spot) -> Result<String, Error> {
        let spot = spot.below("$ref");
        let text = reference.as_str().ok_or_else(|| spot.problem("`$ref` is a string"))?;
        let dangling = || spot.problem(format!("`{text}` points to nothing"));
        let (document, pointer) = text.split_once('#').ok_or_else(dangling)?;
        if !document.is_empty() && !self.ids.contains(&document) {
            return Err(dangling().help(format!("the documents here are {}", self.ids.join(", "))).into());
        }
        let name = pointer.strip_prefix("/$defs/").ok_or_else(dangling)?;
        let name = name.replace("~1", "/").replace("~0", "~");
        match self.places.get(name.as_str()) {
            Some(place) if document.is_empty() || is_in(place.document, document) => Ok(name),
            _ => Err(with_nearest(dangling(), &name, self.places.keys()).into()),
        }
    }

    fn nullable(&self, arms: &Value, spot: &Spot) -> Result<Type, Error> {
        match arms.as_array().map(Vec::as_slice) {
            Some([value, null]) if is_null(null) => Ok(Type::Nullable(Box::new(self.slot(value, &spot.below("0"))?))),
            _ => Err(spot
                .problem("inside a definition, `anyOf` is a value or null")
                .help("make the union a definition of its own")
                .into()),
        }
    }

    fn items(&self, schema: &Map<String, Value>, spot: &Spot) -> Result<Type, Error> {
        let item = schema.get("items").ok_or_else(|| spot.problem("a list needs `items`"))?;
        let list = Type::List(Box::new(self.slot(item, &spot.below("items"))?));
        plain(schema, spot, &["minItems", "maxItems"], list)
    }
}

fn is_in(document: &crate::document::Document, id: &str) -> bool {
    document.root.get("$id").and_then(Value::as_str) == Some(id)
}

fn with_nearest<'a>(problem: Problem, name: &str, names: impl Iterator<Item = &'a &'a str>) -> Problem {
    let lower = name.to_lowercase();
    let mut near = names.filter(|known| known.to_lowercase() == lower || known.starts_with(name));
    match near.next() {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

/// A type whose bounds would need a definition of its own.
fn plain(schema: &Map<String, Value>, spot: &Spot, bounds: &[&str], value: Type) -> Result<Type, Error> {
    match bounds.iter().find(|key| schema.contains_key(**key)) {
        None => Ok(value),
        Some(key) => Err(spot
            .below(key)
            .problem(format!("`{key}` stands inside another definition"))
            .help("make the bounded value a definition of its own")
            .into()),
    }
}

fn free(schema: &Map<String, Value>, spot: &Spot) -> Result<Type, Error> {
    let open = matches!(schema.get("additionalProperties"), None | Some(Value::Bool(true)));
    if open && !schema.contains_key("properties") {
        return Ok(Type::Free);
    }
    let help = "make the object a definition of its own";
    Err(spot.problem("an object with members stands inside another definition").help(help).into())
}

/// A schema without a type says nothing but words: any JSON.
fn untyped(schema: &Map<String, Value>, spot: &Spot) -> Result<Type, Error> {
    match schema.keys().find(|key| !matches!(key.as_str(), "title" | "description")) {
        None => Ok(Type::Any),
        Some(key) => Err(spot.below(key).problem(format!("`{key}` without `type` is not understood here")).into()),
    }
}

/// The bounds of an integer.
pub(super) fn bounds(schema: &Map<String, Value>, spot: &Spot) -> Result<(Option<i64>, Option<i64>), Error> {
    let bound = |key: &str| match schema.get(key) {
        None => Ok(None),
        Some(value) => match value.as_i64() {
            Some(bound) => Ok(Some(bound)),
            None => Err(spot.below(key).problem("a bound of an integer is an integer of at most 63 bits")),
        },
    };
    Ok((bound("minimum")?, bound("maximum")?))
}
