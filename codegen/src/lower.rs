//! Canonical documents to [`ir`](crate::ir): what each definition is, in terms of the others.
//!
//! The form is the house style of `schema/`, or what [`foreign`](crate::foreign) makes of a published file. Whatever
//! does not have that form is a problem at its place; nothing is skipped.

mod circles;
mod objects;
mod slots;
mod unions;

use crate::document::{Document, escape};
use crate::error::{Error, Problem, Problems};
use crate::ir::{Definition, Docs, Enum, List, Map, Part, Revision, Scalar, Shape, Type};
use serde_json::{Map as JsonMap, Value};
use std::collections::BTreeMap;

/// Reads the documents of one revision.
pub(crate) fn revision(name: &str, documents: &[Document]) -> Result<Revision, Error> {
    let schemas = Schemas::index(documents)?;
    let mut problems = Problems::default();
    let mut parts = Vec::new();
    let mut index = BTreeMap::new();
    for document in documents {
        let mut definitions = Vec::new();
        for place in schemas.places.values().filter(|place| std::ptr::eq(place.document, document)) {
            let Some(shape) = problems.take(schemas.shape(place)) else { continue };
            definitions.push((place.order, place.definition(shape)));
        }
        definitions.sort_by_key(|(order, _)| *order);
        let definitions: Vec<_> = definitions.into_iter().map(|(_, definition)| definition).collect();
        for (position, definition) in definitions.iter().enumerate() {
            index.insert(definition.name.clone(), (parts.len(), position));
        }
        parts.push(Part { name: part_name(document), docs: docs(&document.root), definitions });
    }
    let revision = problems.finish(Revision { name: name.to_owned(), parts, index })?;
    circles::check(&revision)?;
    Ok(revision)
}

/// The last part of the document's `$id` if it is one of ours; otherwise `types`.
fn part_name(document: &Document) -> String {
    let id = document.root.get("$id").and_then(Value::as_str).unwrap_or_default();
    match id.strip_prefix("urn:").and_then(|urn| urn.rsplit(':').next()) {
        Some(part) => part.to_owned(),
        None => "types".to_owned(),
    }
}

fn docs(schema: &Value) -> Docs {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).map(str::to_owned);
    Docs { title: text("title"), description: text("description") }
}

/// Where a definition stands.
struct Place<'a> {
    document: &'a Document,
    name: &'a str,
    order: usize,
    schema: &'a Value,
}

impl Place<'_> {
    fn pointer(&self) -> String {
        self.document.pointer_of(self.name)
    }

    fn definition(&self, shape: Shape) -> Definition {
        Definition {
            name: self.name.to_owned(),
            docs: docs(self.schema),
            file: self.document.file.clone(),
            pointer: self.pointer(),
            shape,
            schema: self.schema.clone(),
        }
    }

    /// A place below the definition.
    fn spot(&self) -> Spot {
        Spot { file: self.document.file.clone(), pointer: self.pointer() }
    }
}

/// A file and a pointer, for messages.
#[derive(Clone)]
struct Spot {
    file: String,
    pointer: String,
}

impl Spot {
    fn below(&self, step: impl AsRef<str>) -> Spot {
        Spot { file: self.file.clone(), pointer: format!("{}/{}", self.pointer, escape(step.as_ref())) }
    }

    fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(&self.file, &self.pointer, message)
    }
}

/// The definitions of a revision by name, and the documents by `$id`.
struct Schemas<'a> {
    places: BTreeMap<&'a str, Place<'a>>,
    ids: Vec<&'a str>,
}

impl<'a> Schemas<'a> {
    fn index(documents: &'a [Document]) -> Result<Self, Error> {
        let mut problems = Problems::default();
        let mut schemas = Schemas { places: BTreeMap::new(), ids: Vec::new() };
        for document in documents {
            schemas.ids.extend(document.root.get("$id").and_then(Value::as_str));
            let Some(definitions) = document.root.get("$defs").and_then(Value::as_object) else {
                problems.push(Problem::new(&document.file, "", "a schema document needs an object `$defs`"));
                continue;
            };
            for (order, (name, schema)) in definitions.iter().enumerate() {
                let place = Place { document, name, order, schema };
                let (spot, before) = (place.spot(), schemas.places.insert(name, place));
                if let Some(before) = before {
                    let message = format!("`{name}` is defined in {} already", before.document.file);
                    problems.push(spot.problem(message).help("give one of them another name"));
                }
            }
        }
        problems.finish(schemas)
    }

    fn shape(&self, place: &Place<'a>) -> Result<Shape, Error> {
        let spot = place.spot();
        let schema = place.schema.as_object().ok_or_else(|| spot.problem("a definition is an object"))?;
        if schema.contains_key("allOf") || schema.contains_key("properties") {
            return Ok(Shape::Object(self.object(place.name, &spot)?));
        }
        if schema.contains_key("oneOf") || schema.contains_key("anyOf") {
            return self.union(schema, &spot);
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => self.map(schema, &spot),
            Some("array") => self.list(schema, &spot),
            Some("string") => self.string(schema, &spot),
            Some("integer") => integer(schema, &spot),
            Some("number") => {
                Ok(Shape::Scalar(Scalar::Number { min: float(schema, "minimum"), max: float(schema, "maximum") }))
            }
            Some("boolean") => Ok(Shape::Scalar(Scalar::Boolean)),
            Some(other) => Err(spot.problem(format!("`type` is {other:?}, which has no form of its own")).into()),
            None => Ok(Shape::Alias(self.slot(place.schema, &spot)?)),
        }
    }

    fn map(&self, schema: &JsonMap<String, Value>, spot: &Spot) -> Result<Shape, Error> {
        match schema.get("additionalProperties") {
            None | Some(Value::Bool(true)) => Ok(Shape::Alias(Type::Free)),
            Some(Value::Bool(false)) => {
                let object = crate::ir::Object { fields: Vec::new(), bases: Vec::new(), open: false };
                Ok(Shape::Object(object))
            }
            Some(value) => {
                let value = self.slot(value, &spot.below("additionalProperties"))?;
                let (min, max) = (whole(schema, "minProperties"), whole(schema, "maxProperties"));
                Ok(Shape::Map(Map { value, min, max }))
            }
        }
    }

    fn list(&self, schema: &JsonMap<String, Value>, spot: &Spot) -> Result<Shape, Error> {
        let item = schema.get("items").ok_or_else(|| spot.problem("a list needs `items`"))?;
        let item = self.slot(item, &spot.below("items"))?;
        match (whole(schema, "minItems"), whole(schema, "maxItems")) {
            (None, None) => Ok(Shape::Alias(Type::List(Box::new(item)))),
            (min, max) => Ok(Shape::List(List { item, min, max })),
        }
    }

    fn string(&self, schema: &JsonMap<String, Value>, spot: &Spot) -> Result<Shape, Error> {
        let Some(values) = schema.get("enum") else {
            let length = |key| whole(schema, key).and_then(|length| u32::try_from(length).ok());
            return Ok(Shape::Scalar(Scalar::String { min: length("minLength"), max: length("maxLength") }));
        };
        let spot = spot.below("enum");
        let values = values.as_array().ok_or_else(|| spot.problem("`enum` is a list"))?;
        let values = values.iter().map(|value| value.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>();
        let values = values.ok_or_else(|| spot.problem("the values of a string `enum` are strings"))?;
        if let Some(twice) = values.iter().enumerate().find(|(index, value)| values[..*index].contains(value)) {
            return Err(spot.below(twice.0.to_string()).problem(format!("{:?} is listed twice", twice.1)).into());
        }
        Ok(Shape::Enum(Enum { values }))
    }
}

fn integer(schema: &JsonMap<String, Value>, spot: &Spot) -> Result<Shape, Error> {
    let (min, max) = slots::bounds(schema, spot)?;
    Ok(Shape::Scalar(Scalar::Integer { min, max }))
}

fn whole(schema: &JsonMap<String, Value>, key: &str) -> Option<u64> {
    schema.get(key).and_then(Value::as_u64)
}

fn float(schema: &JsonMap<String, Value>, key: &str) -> Option<f64> {
    schema.get(key).and_then(Value::as_f64)
}
