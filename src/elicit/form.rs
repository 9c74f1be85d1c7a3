//! `Form`: the form that a client shows for a type, made from the schema that schemars derives.

use std::{any::type_name, borrow::Cow, fmt};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::field::{Unshowable, field};
use crate::types::{ElicitRequestFormParamsRequestedSchema as RequestedSchema, support::JsonObject};

/// What can be asked for by [`elicit`](crate::context::TaskContext::elicit): a struct whose schema a client can show.
///
/// Elicitation knows flat forms only. What a type's fields are cannot be seen by the compiler here, so [`form`] looks at
/// the schema: name the type to [`TaskServer::form`](crate::TaskServer::form) and the server does so when it is built.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a form",
    label = "not `Deserialize` and `JsonSchema`",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it: a struct of texts, numbers, `bool`s and enums"
)]
pub trait Form: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Form for T {}

/// The form of `T`.
///
/// ```
/// use mcp_tasks::elicit::form;
/// use serde_json::json;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// enum Size {
///     Small,
///     Large,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Order {
///     /// Which size?
///     size: Size,
///     #[schemars(range(min = 1, max = 9))]
///     count: Option<u8>,
/// }
///
/// let form = serde_json::to_value(form::<Order>()?)?;
/// assert_eq!(form["required"], json!(["size"]));
/// assert_eq!(form["properties"]["size"], json!({
///     "type": "string", "description": "Which size?", "enum": ["Small", "Large"],
/// }));
/// assert_eq!(form["properties"]["count"], json!({"type": "integer", "minimum": 1, "maximum": 9}));
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Nested {
///     order: Order,
/// }
/// let error = mcp_tasks::elicit::form::<Nested>().unwrap_err();
/// assert!(error.to_string().ends_with("`Nested` cannot be a form: field `order`: an object cannot be asked for"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Names the first field that no form can show, and why.
pub fn form<T: Form>() -> Result<RequestedSchema, FormError> {
    let wrong = |field: Option<&str>, why: Cow<'static, str>| FormError {
        type_name: type_name::<T>(),
        field: field.map(Into::into),
        why,
    };
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let Value::Object(schema) = settings.into_generator().into_root_schema_for::<T>().to_value() else {
        return Err(wrong(None, "it can be anything".into()));
    };
    check_shape(&schema).map_err(|why| wrong(None, why.into()))?;

    let required = required(&schema);
    let mut properties = Vec::new();
    for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let shown = field(member).map_err(|Unshowable(why)| wrong(Some(name), why))?;
        properties.push((name.clone(), shown));
    }
    let form = RequestedSchema::new(properties.into_iter().collect());
    Ok(if required.is_empty() { form } else { form.with_required(required) })
}

/// Whether the schema is that of a plain struct.
fn check_shape(schema: &JsonObject) -> Result<(), &'static str> {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("a form is a struct with named fields");
    }
    if schema.get("additionalProperties").is_some_and(|others| !others.is_boolean()) {
        return Err("a form has no fields without a name");
    }
    match ["oneOf", "anyOf", "allOf", "not", "if"].iter().any(|keyword| schema.contains_key(*keyword)) {
        true => Err("a form has the same fields in every case"),
        false => Ok(()),
    }
}

fn required(schema: &JsonObject) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A type that no form can be made of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormError {
    /// The type.
    pub type_name: &'static str,
    /// The field that cannot be shown; `None` if it is the type as a whole.
    pub field: Option<Box<str>>,
    /// Why.
    pub why: Cow<'static, str>,
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be a form: ", self.type_name.rsplit("::").next().unwrap_or(self.type_name))?;
        match &self.field {
            Some(field) => write!(f, "field `{field}`: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for FormError {}
