//! Definitions without `allOf`: every object with all its members, so that it reads alone and can be closed.

use crate::error::{Error, Problem};
use crate::ir::{Definition, Revision};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Definitions by name, in the order of the schemas.
pub(super) type Definitions = IndexMap<String, Value>;

/// All definitions of a revision, flat.
pub(super) fn definitions(revision: &Revision) -> Result<Definitions, Error> {
    let flat = |definition: &Definition| Ok((definition.name.clone(), flat(definition, revision)?));
    revision.definitions().map(flat).collect()
}

/// A fault of a definition.
pub(super) fn problem(revision: &Revision, name: &str, message: String) -> Problem {
    let (file, pointer) = revision.get(name).map(|it| (&*it.file, &*it.pointer)).unwrap_or_default();
    Problem::new(file, pointer, message)
}

/// A definition with what it is composed of put together. Lowering has seen to it that there is no circle.
fn flat(definition: &Definition, revision: &Revision) -> Result<Value, Error> {
    let Some(Value::Array(members)) = definition.schema.get("allOf") else {
        return Ok(definition.schema.clone());
    };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for member in members {
        let part = part(member, definition, revision)?;
        // A later member narrows what an earlier one said, at the earlier one's place.
        properties.extend(part["properties"].as_object().cloned().unwrap_or_default());
        for name in part["required"].as_array().into_iter().flatten() {
            if !required.contains(name) {
                required.push(name.clone());
            }
        }
    }
    let mut schema = definition.schema.as_object().cloned().unwrap_or_default();
    schema.shift_remove("allOf");
    schema.extend([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), Value::Array(required)),
        ("additionalProperties".to_owned(), json!(true)),
    ]);
    Ok(Value::Object(schema))
}

fn part(member: &Value, definition: &Definition, revision: &Revision) -> Result<Value, Error> {
    let Some(name) = super::walk::target(member) else { return Ok(member.clone()) };
    match revision.get(name) {
        Some(base) => flat(base, revision),
        None => Err(Problem::new(&definition.file, &definition.pointer, format!("there is no `{name}`")).into()),
    }
}
