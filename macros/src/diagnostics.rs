//! The error sink, and one constructor for each message. No other file holds message text.
//!
//! A message is lower case, has code in backticks and no full stop; it says what was found and what to write.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::Error;

use crate::duration::DurationError;

/// Collects every error of one macro call, in the order in which they are found.
#[derive(Default)]
pub(crate) struct Errors(Vec<Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        self.0.push(error);
    }

    /// Keeps the error of `result`, gives its value.
    pub(crate) fn absorb<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// `value`, unless there were errors.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Self> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self),
        }
    }

    /// One `compile_error!` for each error.
    pub(crate) fn to_compile_errors(&self) -> TokenStream {
        self.0.iter().map(Error::to_compile_error).collect()
    }
}

impl From<Error> for Errors {
    fn from(error: Error) -> Self {
        Self(vec![error])
    }
}

/// `node` as one would write it.
pub(crate) fn source(node: &impl ToTokens) -> String {
    let tokens = node.to_token_stream().to_string();
    [("& ", "&"), (" < ", "<"), (" >", ">"), (" :: ", "::"), (" ,", ","), (" :", ":")]
        .into_iter()
        .fold(tokens, |text, (spaced, plain)| text.replace(spaced, plain))
}

/// The whole accepted signature, for those who are far from it.
const USAGE: &str = "async fn name(argument: T, .., task: TaskContext) -> Result<T, ToolError>";

// The item.

pub(crate) fn not_a_fn(item: impl ToTokens) -> Error {
    Error::new_spanned(item, format!("`#[task_tool]` stands above a fn: write `{USAGE}`"))
}

pub(crate) fn no_body(name: &Ident) -> Error {
    Error::new(name.span(), format!("`{name}` has no body: `#[task_tool]` stands above a fn that has one"))
}

pub(crate) fn not_async(name: &Ident, at: Span) -> Error {
    Error::new(at, format!("`{name}` is not async: write `async fn {name}`"))
}

pub(crate) fn qualified(name: &Ident, qualifier: impl ToTokens, word: &str) -> Error {
    Error::new_spanned(qualifier, format!("`{name}` is `{word}`, and a tool cannot be: remove `{word}`"))
}

pub(crate) fn generic(name: &Ident, generics: impl ToTokens) -> Error {
    let text = "a tool has one input schema, so it cannot be generic: write the types out";
    Error::new_spanned(generics, format!("`{name}` is generic; {text}"))
}

pub(crate) fn variadic(name: &Ident, dots: impl ToTokens) -> Error {
    Error::new_spanned(dots, format!("`{name}` is variadic: name each argument, or take them whole as `#[args]`"))
}

pub(crate) fn opaque_output(ty: impl ToTokens) -> Error {
    Error::new_spanned(ty, "the return type has to be named for the output schema: write it out instead of `impl ..`")
}

// Where the attribute stands.

pub(crate) fn stacked_twice(attribute: impl ToTokens) -> Error {
    Error::new_spanned(attribute, "`#[task_tool]` stands here twice: write all arguments in one")
}

pub(crate) fn below_rmcp_tool(name: &Ident) -> Error {
    let order = "swap the two lines, so that `#[task_tool]` stands above `#[tool]`";
    Error::new(name.span(), format!("`#[tool]` has already rewritten `{name}`: {order}"))
}

pub(crate) fn method_without_rmcp_tool(name: &Ident, receiver: impl ToTokens) -> Error {
    let ways = "write `#[tool]` below `#[task_tool]`, inside `#[tool_router] impl`, or make it a free fn that takes \
                its state as `State<T>`";
    Error::new_spanned(receiver, format!("`{name}` is a method, but no rmcp tool: {ways}"))
}

// Parameters.

pub(crate) fn receiver(name: &Ident, receiver: impl ToTokens) -> Error {
    let found = source(&receiver);
    let reason = "the handler is shared by all calls: write `&self`";
    Error::new_spanned(receiver, format!("`{name}` takes `{found}`, but {reason}"))
}

pub(crate) fn two_contexts(ty: impl ToTokens) -> Error {
    Error::new_spanned(ty, "a second `TaskContext`: a call has one, remove this parameter")
}

pub(crate) fn pattern(pattern: impl ToTokens) -> Error {
    let advice = "write `name: T` and take it apart in the body, or mark it `#[args]` to take all arguments at once";
    Error::new_spanned(pattern, format!("a pattern gives the argument no name: {advice}"))
}

pub(crate) fn borrowed(reference: impl ToTokens, owned: &str) -> Error {
    let reason = "a task outlives the request it came from, so its parameters are owned";
    Error::new_spanned(reference, format!("{reason}: write `{owned}` instead of a reference"))
}

pub(crate) fn opaque_parameter(ty: impl ToTokens) -> Error {
    Error::new_spanned(ty, "the type has to be named for the input schema: write it out instead of `impl ..`")
}

pub(crate) fn foreign_attribute(attribute: impl ToTokens) -> Error {
    let advice =
        "write `#[arg(..)]`, or take the arguments whole as `#[args] input: T` and put the attribute on a field";
    Error::new_spanned(attribute, format!("not an attribute for a tool's parameter: {advice}"))
}

pub(crate) fn args_with_content(attribute: impl ToTokens) -> Error {
    Error::new_spanned(attribute, "`#[args]` takes nothing: write `#[args] input: T`")
}

pub(crate) fn argument_beside_whole(name: impl ToTokens) -> Error {
    let advice = "make it a field of that struct, or remove `#[args]`";
    Error::new_spanned(name, format!("an argument beside `#[args]`, which already takes all of them: {advice}"))
}

pub(crate) fn same_argument_name(at: Span, name: &str) -> Error {
    Error::new(at, format!("a second argument named `{name}`: give it another name"))
}

pub(crate) fn unknown_arg_option(option: impl ToTokens) -> Error {
    let found = source(&option);
    let known = "`#[arg(default)]`, `#[arg(default = 5)]` or `#[arg(name = \"..\")]`";
    Error::new_spanned(option, format!("`#[arg]` has no `{found}`: write {known}"))
}

pub(crate) fn argument_attribute_on_method(attribute: impl ToTokens) -> Error {
    let advice = "rmcp takes arguments as `Parameters<T>`: put defaults and names on the fields of `T`";
    Error::new_spanned(attribute, format!("not for a method under `#[tool]`; {advice}"))
}

// Arguments of the attribute.

/// All arguments of `#[task_tool]`, for the message about an unknown one.
const ARGUMENTS: &str = "`name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, `open_world`, `ttl`, \
                         `poll_interval`, `mode`, `when`, `promote_after`, `on_cancel`, `on_restart`, `max_attempts`, \
                         `version`, `max_running`, `crate`";

pub(crate) fn unknown_argument(key: &Ident) -> Error {
    let advice = match similar_argument(&key.to_string()) {
        Some(instead) => format!("write {instead}"),
        None => format!("there are {ARGUMENTS}"),
    };
    Error::new(key.span(), format!("`#[task_tool]` has no argument `{key}`: {advice}"))
}

/// What somebody meant who wrote `key`.
fn similar_argument(key: &str) -> Option<&'static str> {
    match key {
        "ttl_ms" | "timeout" | "lifetime" | "keep_alive" => Some("`ttl = \"10m\"`"),
        "poll_interval_ms" | "poll" | "interval" => Some("`poll_interval = \"1s\"`"),
        "promote_after_ms" => Some("`promote_after = \"2s\"`"),
        "read_only_hint" | "readonly" => Some("`read_only`"),
        "destructive_hint" => Some("`destructive`"),
        "idempotent_hint" => Some("`idempotent`"),
        "open_world_hint" => Some("`open_world`"),
        "attempts" | "max_retries" => Some("`max_attempts = 3`"),
        "annotations" => Some("the hints themselves: `read_only`, `destructive`, `idempotent`, `open_world`"),
        "required" => Some("`mode = \"required\"`"),
        "optional" => Some("`mode = \"optional\"`"),
        "krate" | "crate_path" => Some("`crate = path`"),
        _ => None,
    }
}

pub(crate) fn unknown_handler_argument(key: &Ident) -> Error {
    let known = "there are `engine` and `crate`";
    Error::new(key.span(), format!("`#[task_handler]` has no argument `{key}`: {known}"))
}

pub(crate) fn repeated_argument(key: &Ident) -> Error {
    Error::new(key.span(), format!("`{key}` is given twice: write it once"))
}

pub(crate) fn no_comma(at: Span) -> Error {
    Error::new(at, "expected `,` between two arguments")
}

pub(crate) fn no_key(at: Span) -> Error {
    Error::new(at, "expected the name of an argument")
}

pub(crate) fn no_value(key: &Ident, equals: impl ToTokens) -> Error {
    Error::new_spanned(equals, format!("`{key} =` is followed by no value"))
}

pub(crate) fn missing_value(key: &Ident, example: &str) -> Error {
    Error::new(key.span(), format!("`{key}` needs a value: write `{key} = {example}`"))
}

pub(crate) fn wrong_value(key: &Ident, found: impl ToTokens, what: &str, example: &str) -> Error {
    Error::new_spanned(found, format!("`{key}` takes {what}: write `{key} = {example}`"))
}

pub(crate) fn unknown_choice(key: &Ident, at: Span, found: &str, choices: &[&str]) -> Error {
    let choices: Vec<_> = choices.iter().map(|choice| format!("`{key} = \"{choice}\"`")).collect();
    Error::new(at, format!("`{key}` cannot be `\"{found}\"`: write {}", choices.join(" or ")))
}

pub(crate) fn zero_count(key: &Ident, at: Span) -> Error {
    Error::new(at, format!("`{key} = 0` would never run anything: write a number from 1"))
}

pub(crate) fn duration(key: &Ident, at: Span, found: &str, error: &DurationError) -> Error {
    let text = match error {
        DurationError::Malformed => {
            format!(
                "`\"{found}\"` is no duration: write whole numbers with `ms`, `s`, `m`, `h` or `d`, such as `\"10m\"`"
            )
        }
        DurationError::NoUnit(number) => format!("`{number}` has no unit: write `\"{number}s\"` or `\"{number}ms\"`"),
        DurationError::UnknownUnit(unit) => {
            format!("`{unit}` is no unit of time: write `ms`, `s`, `m`, `h` or `d`")
        }
        DurationError::Zero => return Error::new(at, zero_duration(key)),
        DurationError::TooLong => format!("`\"{found}\"` is longer than JSON can say exactly, 2^53 ms"),
    };
    Error::new(at, format!("`{key}`: {text}"))
}

fn zero_duration(key: &Ident) -> String {
    match key.to_string().as_str() {
        "ttl" => "`ttl` is zero, so that no result could be fetched: write a longer one, or `\"unlimited\"`".to_owned(),
        "promote_after" => "`promote_after` is zero: leave it out for a task from the start".to_owned(),
        _ => format!("`{key}` is zero: write a longer one, such as `\"1s\"`"),
    }
}

pub(crate) fn tool_name(at: Span, found: &str) -> Error {
    let rule = "write 1 to 128 letters, digits, `_`, `-` or `.`";
    Error::new(at, format!("`\"{found}\"` is no tool name: {rule}"))
}

pub(crate) fn required_with(at: Span, key: &str) -> Error {
    let reason = "with `mode = \"required\"` every call is a task from the start";
    Error::new(at, format!("`{key}` has no effect, for {reason}: remove one of the two"))
}

pub(crate) fn attempts_without_rerun(at: Span) -> Error {
    let reason = "a tool is started once unless it says `on_restart = \"rerun\"`";
    Error::new(at, format!("`max_attempts` has no effect, for {reason}: write that, or remove `max_attempts`"))
}

pub(crate) fn version(at: Span) -> Error {
    Error::new(at, "no version: write 1 to 64 characters, such as `version = \"2\"`")
}

pub(crate) fn read_only_and_destructive(at: Span) -> Error {
    Error::new(at, "a tool that is `read_only` destroys nothing: remove `destructive` or `read_only`")
}

pub(crate) fn also_on_rmcp_tool(at: Span, key: &str) -> Error {
    Error::new(at, format!("`{key}` is given to `#[tool]` too: write it in one place"))
}

// The handler.

pub(crate) fn not_a_handler(item: impl ToTokens) -> Error {
    Error::new_spanned(item, "`#[task_handler]` stands on `impl ServerHandler for X`")
}

pub(crate) fn no_call_tool(ty: impl ToTokens) -> Error {
    let advice = "write `#[tool_handler]` beside `#[task_handler]`";
    Error::new_spanned(ty, format!("this handler has no `call_tool`, so no tool could become a task: {advice}"))
}

pub(crate) fn handwritten_method(name: &Ident) -> Error {
    Error::new(name.span(), format!("`{name}` is what `#[task_handler]` adds: remove the fn or the attribute"))
}
