//! `schemars::JsonSchema` for the generated types: each returns the definition it was made from.
//!
//! A derived schema would describe the Rust type; what counts is the message.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// The definitions of a revision.
pub(crate) struct Definitions {
    text: &'static str,
    parsed: OnceLock<Map<String, Value>>,
}

impl Definitions {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self { text, parsed: OnceLock::new() }
    }

    /// A definition; what it refers to is given to the generator, under names that a user's own types do not have.
    pub(crate) fn describe(&self, name: &str, generator: &mut SchemaGenerator) -> Schema {
        let prefix = generator.settings().definitions_path.trim_end_matches('/').to_owned();
        let mut wanted = Vec::new();
        let schema = self.definition(name, &prefix, &mut wanted);
        while let Some(name) = wanted.pop() {
            let key = format!("mcp.{name}");
            if !generator.definitions_mut().contains_key(&key) {
                let definition = self.definition(&name, &prefix, &mut wanted);
                generator.definitions_mut().insert(key, definition);
            }
        }
        Schema::try_from(schema).unwrap_or_default()
    }

    fn definition(&self, name: &str, prefix: &str, wanted: &mut Vec<String>) -> Value {
        let mut schema = self.parsed().get(name).cloned().unwrap_or(Value::Bool(true));
        redirect(&mut schema, prefix, wanted);
        schema
    }

    fn parsed(&self) -> &Map<String, Value> {
        self.parsed.get_or_init(|| {
            let document: Value = serde_json::from_str(self.text).unwrap_or_default();
            document.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default()
        })
    }
}

/// Points the references of a schema to where the generator keeps definitions, and notes them.
fn redirect(schema: &mut Value, prefix: &str, wanted: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match value.as_str().and_then(|text| text.strip_prefix("#/$defs/")).filter(|_| key == "$ref") {
                    Some(name) => {
                        wanted.push(name.to_owned());
                        *value = Value::String(format!("#{prefix}/mcp.{name}"));
                    }
                    None => redirect(value, prefix, wanted),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redirect(item, prefix, wanted)),
        _ => {}
    }
}

/// Implements `JsonSchema` for types of a revision.
macro_rules! describe {
    ($definitions:ident; $([$($parameter:ident)?] $name:ident $(<$usage:ident>)? = $text:literal;)*) => {
        $(
            impl $(<$parameter>)? schemars::JsonSchema for $name $(<$usage>)? {
                fn schema_name() -> std::borrow::Cow<'static, str> {
                    $text.into()
                }

                fn schema_id() -> std::borrow::Cow<'static, str> {
                    concat!(module_path!(), "::", $text).into()
                }

                fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    $definitions.describe($text, generator)
                }
            }
        )*
    };
}
pub(crate) use describe;
