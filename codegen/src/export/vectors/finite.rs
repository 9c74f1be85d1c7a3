//! Which schemas have a value with an end.
//!
//! Lowering refuses definitions that have none. What the strict flavour asks for besides can make new ones, and where a
//! schema leaves a choice, not every choice leads to an end.

use crate::export::flat::Definitions;
use crate::export::walk;
use serde_json::Value;
use std::collections::BTreeSet;

/// The definitions that have a value with an end in which no value of those `without` stands.
pub(super) fn names<'a>(definitions: &'a Definitions, without: &[&str]) -> BTreeSet<&'a str> {
    let mut finite = BTreeSet::new();
    let mut rest: Vec<_> = definitions.iter().filter(|(name, _)| !without.contains(&name.as_str())).collect();
    loop {
        let before = rest.len();
        rest.retain(|(name, schema)| !is(schema, &finite) || !finite.insert(name.as_str()));
        if rest.len() == before {
            return finite;
        }
    }
}

/// Whether a schema has a value with an end, if of the definitions these have one.
pub(super) fn is(schema: &Value, finite: &BTreeSet<&str>) -> bool {
    if let Some(name) = walk::target(schema) {
        return finite.contains(name);
    }
    if let Some(arms) = arms(schema) {
        return arms.iter().any(|arm| is(arm, finite));
    }
    match schema["type"].as_str() {
        Some("object") => has_finite_members(schema, finite),
        Some("array") => schema["minItems"].as_u64().unwrap_or(0) == 0 || is(&schema["items"], finite),
        _ => *schema != Value::Bool(false),
    }
}

/// The arms of a union. Those of an object say which of its members have to be there, not what it is.
pub(super) fn arms(schema: &Value) -> Option<&[Value]> {
    let arms = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    schema.get("properties").is_none().then_some(arms)
}

/// Whether the named members of an object can be there.
pub(super) fn are(names: &Value, object: &Value, finite: &BTreeSet<&str>) -> bool {
    let member = |name: &Value| {
        let named = name.as_str().and_then(|name| object["properties"].get(name));
        named.is_none_or(|inner| is(inner, finite))
    };
    names.as_array().into_iter().flatten().all(member)
}

fn has_finite_members(object: &Value, finite: &BTreeSet<&str>) -> bool {
    let needs_entries = object["minProperties"].as_u64().unwrap_or(0) > 0;
    are(&object["required"], object, finite)
        && object["anyOf"].as_array().is_none_or(|some| some.iter().any(|arm| are(&arm["required"], object, finite)))
        && (!needs_entries || is(&object["additionalProperties"], finite))
}
