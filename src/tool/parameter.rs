//! `Parameter` and `WholeInput`: how arguments are described, checked and decoded.
//!
//! Both are constants made of fn pointers, one for each parameter of a tool, so that the compiler's errors point at the
//! parameter, and those of a call name it.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserializer, Serialize,
    de::{DeserializeOwned, Visitor, value::Error as AbsentError},
    forward_to_deserialize_any,
};
use serde_json::Value;

use crate::types::support::JsonObject;

/// What can be an argument of a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "not `Deserialize` and `JsonSchema`",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it"
)]
pub trait ToolArgument: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ToolArgument for T {}

/// Arguments that do not fit the tool (ERR-04).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadArguments {
    /// One is missing.
    #[error("missing argument `{0}`")]
    Missing(&'static str),
    /// One is not of its type.
    #[error("argument `{name}`: {cause}")]
    Unfit {
        /// Which.
        name: &'static str,
        /// What does not fit.
        cause: serde_json::Error,
    },
    /// All together do not make the tool's input.
    #[error("arguments: {0}")]
    UnfitWhole(serde_json::Error),
    /// They are of the right types, and against the schema.
    #[error("arguments: {0}")]
    OffSchema(#[from] crate::json_schema::Mismatch),
}

type Decoded<T> = Result<T, serde_json::Error>;

/// One argument of a tool.
pub struct Parameter<T> {
    pub(super) name: &'static str,
    pub(super) description: Option<&'static str>,
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
    pub(super) check: fn(&Value) -> Decoded<()>,
    decode: fn(Value) -> Decoded<T>,
    absent: fn() -> Option<T>,
    default: Option<Default<T>>,
}

struct Default<T> {
    value: fn() -> T,
    print: fn(&T) -> Option<Value>,
}

impl<T> Parameter<T> {
    /// The argument of this name.
    pub const fn new(name: &'static str) -> Self
    where
        T: ToolArgument,
    {
        Self {
            name,
            description: None,
            schema: SchemaGenerator::subschema_for::<T>,
            check: check::<T>,
            decode: serde_json::from_value::<T>,
            absent: absent::<T>,
            default: None,
        }
    }

    /// Describes it.
    #[must_use]
    pub const fn description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// Lets it be absent.
    #[must_use]
    pub const fn default(mut self, default: fn() -> T) -> Self
    where
        T: Serialize,
    {
        self.default = Some(Default { value: default, print: |value| serde_json::to_value(value).ok() });
        self
    }

    /// The default as the schema shows it.
    pub(super) fn printed_default(&self) -> Option<Value> {
        let default = self.default.as_ref()?;
        (default.print)(&(default.value)())
    }

    /// Whether a call may leave it out.
    pub(super) fn may_be_absent(&self) -> bool {
        self.default.is_some() || (self.absent)().is_some()
    }

    pub(super) fn take(&self, arguments: &mut JsonObject) -> Result<T, BadArguments> {
        let name = self.name;
        match (arguments.remove(name), &self.default) {
            (Some(value), _) => (self.decode)(value).map_err(|cause| BadArguments::Unfit { name, cause }),
            (None, Some(default)) => Ok((default.value)()),
            (None, None) => (self.absent)().ok_or(BadArguments::Missing(name)),
        }
    }
}

/// All arguments of a tool, as one value.
pub struct WholeInput<T> {
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
    pub(super) check: fn(&JsonObject) -> Decoded<()>,
    decode: fn(JsonObject) -> Decoded<T>,
}

impl<T> WholeInput<T> {
    /// The input of this type.
    #[expect(clippy::new_without_default, reason = "only the macro makes one, as a constant")]
    pub const fn new() -> Self
    where
        T: ToolArgument,
    {
        Self { schema: SchemaGenerator::root_schema_for::<T>, check: check_all::<T>, decode: T::deserialize }
    }

    pub(super) fn take(&self, arguments: JsonObject) -> Result<T, BadArguments> {
        (self.decode)(arguments).map_err(BadArguments::UnfitWhole)
    }
}

fn check<T: DeserializeOwned>(value: &Value) -> Decoded<()> {
    T::deserialize(value).map(drop)
}

fn check_all<T: DeserializeOwned>(arguments: &JsonObject) -> Decoded<()> {
    T::deserialize(arguments).map(drop)
}

/// What stands for an argument that is not there: nothing, unless the type is an `Option`. This is how serde's derive
/// fills a missing field.
fn absent<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = AbsentError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, AbsentError> {
        Err(serde::de::Error::custom("absent"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, AbsentError> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
