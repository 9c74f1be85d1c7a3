//! `ToolDefinition`: what a tool says about itself, collected by macro output; and what a server makes of it.

use std::{
    any::{TypeId, type_name},
    marker::PhantomData,
    sync::Arc,
};

use rmcp::model::{Tool, ToolAnnotations};
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

use super::{
    ToolFailure, ToolOptions, ToolOutput,
    call::{ToolCall, ToolResult},
    options::InvalidOptions,
    parameter::{BadArguments, Parameter, WholeInput},
    state::States,
};
use crate::{context::TaskContext, json_schema, types::support::JsonObject};

/// A tool that a server can offer; made by `#[task_tool]` above a free fn.
pub trait TaskTool: 'static {
    /// What it says about itself.
    fn definition() -> ToolDefinition;

    /// Runs it.
    fn call(call: ToolCall) -> impl Future<Output = ToolResult> + Send;
}

/// What a tool says about itself.
pub struct ToolDefinition {
    name: &'static str,
    options: &'static ToolOptions,
    title: Option<&'static str>,
    description: Option<&'static str>,
    annotations: ToolAnnotations,
    input: Input,
    output: Option<Arc<JsonObject>>,
    /// The parameters that are no arguments.
    extracted: Vec<(TypeId, &'static str)>,
}

/// The input schema as it grows, and how arguments are checked against the types behind it.
struct Input {
    generator: SchemaGenerator,
    properties: JsonObject,
    required: Vec<Value>,
    checks: Vec<Check>,
    whole: Option<(Schema, CheckAll)>,
}

type CheckValue = fn(&Value) -> Result<(), serde_json::Error>;
type CheckAll = fn(&JsonObject) -> Result<(), serde_json::Error>;

/// How one argument is checked.
struct Check {
    name: &'static str,
    value: CheckValue,
    may_be_absent: bool,
}

impl ToolDefinition {
    /// A tool of this name.
    pub fn new(name: &'static str, options: &'static ToolOptions) -> Self {
        let generator = SchemaSettings::draft2020_12().into_generator();
        let (properties, required, checks) = Default::default();
        Self {
            name,
            options,
            title: None,
            description: None,
            annotations: ToolAnnotations::new(),
            input: Input { generator, properties, required, checks, whole: None },
            output: None,
            extracted: Vec::new(),
        }
    }

    /// Names it for people.
    #[must_use]
    pub fn title(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    /// Describes it.
    #[must_use]
    pub fn description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// Says whether it changes nothing.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.annotations.read_only_hint = Some(hint);
        self
    }

    /// Says whether it may destroy something.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.annotations.destructive_hint = Some(hint);
        self
    }

    /// Says whether a second call with the same arguments changes nothing more.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.annotations.idempotent_hint = Some(hint);
        self
    }

    /// Says whether it deals with the world outside.
    #[must_use]
    pub fn open_world(mut self, hint: bool) -> Self {
        self.annotations.open_world_hint = Some(hint);
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn parameter<T>(mut self, parameter: &Parameter<T>) -> Self {
        let mut schema = (parameter.schema)(&mut self.input.generator);
        if let Some(description) = parameter.description {
            schema.insert("description".to_owned(), description.into());
        }
        if let Some(default) = parameter.printed_default() {
            schema.insert("default".to_owned(), default);
        }
        let (name, may_be_absent) = (parameter.name, parameter.may_be_absent());
        if !may_be_absent {
            self.input.required.push(name.into());
        }
        self.input.properties.insert(name.to_owned(), schema.to_value());
        self.input.checks.push(Check { name, value: parameter.check, may_be_absent });
        self
    }

    /// Takes all arguments as one value.
    #[must_use]
    pub fn whole_input<T>(mut self, input: &WholeInput<T>) -> Self {
        let schema = (input.schema)(&mut self.input.generator);
        self.input.whole = Some((schema, input.check));
        self
    }

    /// Adds a parameter that is no argument. Whether it can be one is said where the call takes it.
    #[must_use]
    pub fn extracts<T: 'static>(mut self) -> Self {
        self.extracted.push((TypeId::of::<T>(), type_name::<T>()));
        self
    }

    /// The type of a state that it takes and that is not among these.
    pub(super) fn missing_state(&self, states: &States) -> Option<&'static str> {
        let there = |id: TypeId| id == TypeId::of::<TaskContext>() || states.has(id);
        self.extracted.iter().find(|(id, _)| !there(*id)).map(|(_, name)| *name)
    }

    /// Says what it returns.
    #[must_use]
    pub fn returns<T>(mut self, returned: &Returned<T>) -> Self {
        self.output = (returned.schema)();
        self
    }

    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Makes it ready to be served.
    ///
    /// # Errors
    /// If its options contradict each other, or its arguments are no JSON object.
    pub(crate) fn finish(self) -> Result<DefinedTool, InvalidTool> {
        self.options.check()?;
        let (schema, checks) = self.input.finish()?;
        let mut tool = Tool::new_with_raw(self.name, self.description.map(Into::into), schema);
        tool.title = self.title.map(str::to_owned);
        tool.annotations = (self.annotations != ToolAnnotations::new()).then_some(self.annotations);
        tool.output_schema = self.output;
        Ok(DefinedTool { tool, options: self.options, checks })
    }
}

impl Input {
    fn finish(mut self) -> Result<(JsonObject, Checks), InvalidTool> {
        if let Some((schema, check)) = self.whole {
            return Ok((object_schema(schema)?, Checks::Whole(check)));
        }
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        let definitions = self.generator.take_definitions(true);
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        Ok((schema, Checks::Each(self.checks)))
    }
}

/// The schema of a type that is the whole input; on the wire it has to be that of an object.
fn object_schema(schema: Schema) -> Result<JsonObject, InvalidTool> {
    let Value::Object(mut schema) = schema.to_value() else { return Err(InvalidTool::NotAnObject) };
    for noise in ["$schema", "title", "description"] {
        schema.shift_remove(noise);
    }
    match schema.entry("type").or_insert("object".into()) {
        Value::String(kind) if kind == "object" => Ok(schema),
        _ => Err(InvalidTool::NotAnObject),
    }
}

/// What is wrong with a tool, found when its server is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTool {
    /// Its options do not go together.
    #[error(transparent)]
    Options(#[from] InvalidOptions),
    /// Its `#[args]` are of a type that is no JSON object.
    #[error("the type of its `#[args]` is no JSON object")]
    NotAnObject,
}

/// A tool that is ready to be served.
pub(crate) struct DefinedTool {
    pub tool: Tool,
    pub options: &'static ToolOptions,
    checks: Checks,
}

enum Checks {
    Each(Vec<Check>),
    Whole(CheckAll),
}

impl DefinedTool {
    /// Whether a call with these arguments would get as far as the tool's own code (ERR-04): each is decoded into its type,
    /// the same way as in the call, and held against the schema, which may say more than the type.
    pub fn check(&self, arguments: &JsonObject) -> Result<(), BadArguments> {
        match &self.checks {
            Checks::Each(checks) => checks.iter().try_for_each(|check| check.run(arguments))?,
            Checks::Whole(check) => check(arguments).map_err(BadArguments::UnfitWhole)?,
        }
        Ok(json_schema::check_object(&self.tool.input_schema, arguments)?)
    }
}

impl Check {
    fn run(&self, arguments: &JsonObject) -> Result<(), BadArguments> {
        let name = self.name;
        match arguments.get(name) {
            Some(value) => (self.value)(value).map_err(|cause| BadArguments::Unfit { name, cause }),
            None if self.may_be_absent => Ok(()),
            None => Err(BadArguments::Missing(name)),
        }
    }
}

/// The type that a tool returns, to be told whether it is a `Result`.
pub struct ReturnType<T>(PhantomData<T>);

/// How what a tool returns is described and converted.
pub struct Returned<T> {
    schema: fn() -> Option<Arc<JsonObject>>,
    convert: fn(T) -> ToolResult,
}

impl<T> Returned<T> {
    /// The result of the call.
    ///
    /// # Errors
    /// The tool's own (ERR-05).
    pub fn convert(self, value: T) -> ToolResult {
        (self.convert)(value)
    }
}

impl<T, E> ReturnType<Result<T, E>> {
    /// A tool that may fail. Inherent, so that it comes before [`PlainReturn`], and sees through aliases.
    pub fn describe() -> Returned<Result<T, E>>
    where
        T: ToolOutput,
        E: ToolFailure,
    {
        Returned {
            schema: T::schema,
            convert: |returned| match returned {
                Ok(output) => output.into_result(),
                Err(error) => Err(error.into_tool_error().into()),
            },
        }
    }
}

/// A tool that cannot fail.
pub trait PlainReturn {
    /// What it returns.
    type Value;

    /// How that is converted.
    fn describe() -> Returned<Self::Value>
    where
        Self::Value: ToolOutput;
}

impl<T> PlainReturn for ReturnType<T> {
    type Value = T;

    fn describe() -> Returned<T>
    where
        T: ToolOutput,
    {
        Returned { schema: T::schema, convert: T::into_result }
    }
}
