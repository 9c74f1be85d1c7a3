//! The validated model. Only `validate.rs` builds it, only `expand.rs` reads it.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Attribute, Expr, LitBool, LitInt, LitStr, Path, Type};

use crate::signature::Function;

/// A value and the place that it came from.
#[derive(Clone, Copy)]
pub(crate) struct Sp<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

/// A fn that is a task tool.
pub(crate) struct TaskTool {
    /// The path of `mcp_tasks`.
    pub(crate) krate: Path,
    pub(crate) function: Function,
    pub(crate) about: About,
    pub(crate) options: Options,
    pub(crate) home: Home,
}

/// Where the fn stands.
pub(crate) enum Home {
    /// By itself: we list and call it.
    Free(FreeFn),
    /// In rmcp's `#[tool_router] impl`: rmcp lists and calls it.
    RmcpMethod(RmcpTool),
}

/// What clients are told of the tool.
pub(crate) struct About {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    /// An expression of type `&'static str`.
    pub(crate) description: Option<TokenStream>,
    /// The annotations that were given: their name here, and their value.
    pub(crate) hints: Vec<(&'static str, LitBool)>,
}

/// How the tool's tasks run; what is `None` has the default of the runtime.
pub(crate) struct Options {
    pub(crate) ttl: Option<Ttl>,
    pub(crate) poll_interval_ms: Option<u64>,
    pub(crate) mode: Option<TaskMode>,
    pub(crate) when: Option<Path>,
    pub(crate) promote_after_ms: Option<u64>,
    pub(crate) on_cancel: Option<OnCancel>,
    pub(crate) on_restart: Option<OnRestart>,
    pub(crate) max_attempts: Option<LitInt>,
    pub(crate) version: Option<LitStr>,
    pub(crate) max_running: Option<LitInt>,
}

/// How long a task is kept.
#[derive(Clone, Copy)]
pub(crate) enum Ttl {
    /// For so many milliseconds.
    Ms(u64),
    /// For ever.
    Unlimited,
}

/// Whether a call has to become a task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskMode {
    Optional,
    Required,
}

impl TaskMode {
    pub(crate) const CHOICES: &[(&str, Self)] = &[("optional", Self::Optional), ("required", Self::Required)];
}

/// What a cancellation does to the tool.
#[derive(Clone, Copy)]
pub(crate) enum OnCancel {
    Drop,
    Signal,
}

impl OnCancel {
    pub(crate) const CHOICES: &[(&str, Self)] = &[("drop", Self::Drop), ("signal", Self::Signal)];
}

/// What becomes of a task whose server went away.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnRestart {
    Fail,
    Rerun,
}

impl OnRestart {
    pub(crate) const CHOICES: &[(&str, Self)] = &[("fail", Self::Fail), ("rerun", Self::Rerun)];
}

/// A free fn.
pub(crate) struct FreeFn {
    /// In the order of the fn's parameters.
    pub(crate) inputs: Vec<Input>,
    pub(crate) output: Type,
}

/// Where the value of one parameter comes from.
pub(crate) enum Input {
    /// One argument of the call.
    Argument(Box<Argument>),
    /// All arguments of the call, as one struct.
    Whole(Type),
    /// The call itself: its context, the server's state.
    Extracted(Type),
}

/// One argument of the input schema.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) name: LitStr,
    pub(crate) ty: Type,
    /// An expression of type `&'static str`.
    pub(crate) description: Option<TokenStream>,
    pub(crate) default: Option<ArgumentDefault>,
}

/// What an absent argument is.
pub(crate) enum ArgumentDefault {
    /// The default of its type.
    OfType,
    /// This value.
    Value(Expr),
}

/// rmcp's `#[tool(..)]`, taken apart.
pub(crate) struct RmcpTool {
    /// Where it stands among the attributes of the fn.
    pub(crate) index: usize,
    pub(crate) attribute: Attribute,
    /// What it says, without `meta`.
    pub(crate) arguments: Vec<syn::Meta>,
    /// The value of its `meta`.
    pub(crate) meta: Option<Expr>,
}
