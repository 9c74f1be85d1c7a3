//! Through a schema, schema by schema. Member names that look like keywords (a form field has a `default`) are not met.

use serde_json::Value;

/// Calls `change` on a schema and on every schema in it, from the outside in.
pub(super) fn each(schema: &mut Value, change: &mut impl FnMut(&mut Value)) {
    change(schema);
    let Value::Object(members) = schema else { return };
    for (keyword, value) in members.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(|inner| each(inner, change)),
            ("allOf" | "anyOf" | "oneOf", Value::Array(arms)) => arms.iter_mut().for_each(|arm| each(arm, change)),
            ("items" | "additionalProperties" | "not", inner) => each(inner, change),
            _ => (),
        }
    }
}

/// The names of the definitions that a schema refers to, in order, as often as it does.
pub(super) fn references(schema: &Value) -> Vec<String> {
    let mut names = Vec::new();
    each(&mut schema.clone(), &mut |inner| names.extend(target(inner).map(str::to_owned)));
    names
}

/// The definition that a reference leads to.
pub(super) fn target(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}
