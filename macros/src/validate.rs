//! Validate: what was parsed becomes a [`TaskTool`], or every error that it has.

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{FnArg, GenericParam, LitBool, Meta, Path, Receiver, ReceiverKind, ReturnType, Safety, Type, parse_quote};

use crate::args::Args;
use crate::diagnostics::{self, Errors};
use crate::docs;
use crate::model::{About, FreeFn, Home, OnRestart, Options, RmcpTool, TaskMode, TaskTool};
use crate::parameter;
use crate::rmcp_tool;
use crate::signature::{Function, TASK_TOOL};

/// The path of `mcp_tasks` unless `crate = path` says another.
pub(crate) fn default_crate() -> Path {
    parse_quote!(::mcp_tasks)
}

/// Checks everything that can be seen in the source.
pub(crate) fn validate(args: Args, function: Function, mut errors: Errors) -> Result<TaskTool, Errors> {
    check_modes(&args, &mut errors);
    check_order(&function, &mut errors);
    let home = errors.absorb(rmcp_tool::find(&function)).and_then(|tool| match tool {
        Some(tool) => Some(Home::RmcpMethod(rmcp_method(tool, &args, &function, &mut errors))),
        None => free_fn(&function, &mut errors).map(Home::Free),
    });
    let krate = args.krate.clone().unwrap_or_else(default_crate);
    let (about, options) = (about(&args, &function), options(args));
    errors.finish(home.map(|home| TaskTool { krate, function, about, options, home }))
}

/// Some arguments make no sense together.
fn check_modes(args: &Args, errors: &mut Errors) {
    if args.mode.is_some_and(|mode| mode.value == TaskMode::Required) {
        if let Some(promote_after) = args.promote_after {
            errors.push(diagnostics::required_with(promote_after.span, "promote_after"));
        }
        if let Some(when) = &args.when {
            errors.push(diagnostics::required_with(when.span(), "when"));
        }
    }
    if let Some(max_attempts) = args.max_attempts.as_ref().filter(|_| args.on_restart != Some(OnRestart::Rerun)) {
        errors.push(diagnostics::attempts_without_rerun(max_attempts.span));
    }
    let says = |flag: &Option<LitBool>| flag.as_ref().is_some_and(LitBool::value);
    if let Some(destructive) = args.destructive.as_ref().filter(|_| says(&args.read_only) && says(&args.destructive)) {
        errors.push(diagnostics::read_only_and_destructive(destructive.span));
    }
}

/// `#[task_tool]` stands once, and above `#[tool]`.
fn check_order(function: &Function, errors: &mut Errors) {
    if let Some(second) = function.attribute(TASK_TOOL) {
        errors.push(diagnostics::stacked_twice(second));
    }
    if rmcp_tool::has_rewritten(&function.signature) {
        errors.push(diagnostics::below_rmcp_tool(&function.signature.ident));
    }
}

fn rmcp_method(tool: RmcpTool, args: &Args, function: &Function, errors: &mut Errors) -> RmcpTool {
    check_signature(function, errors);
    if let Some(receiver) = function.signature.receiver().filter(|receiver| !is_shared(receiver)) {
        errors.push(diagnostics::receiver(&function.signature.ident, receiver));
    }
    parameter::method(function, errors);
    check_said_once(&tool, args, errors);
    tool
}

/// Whether it is `&self`, the one receiver that rmcp can call.
fn is_shared(receiver: &Receiver) -> bool {
    matches!(receiver.kind, ReceiverKind::Reference(_, _, None))
}

/// What `#[tool]` says already, `#[task_tool]` does not say again.
fn check_said_once(tool: &RmcpTool, args: &Args, errors: &mut Errors) {
    let hints = [&args.read_only, &args.destructive, &args.idempotent, &args.open_world];
    let ours = [
        ("name", args.name.as_ref().map(Spanned::span)),
        ("title", args.title.as_ref().map(Spanned::span)),
        ("description", args.description.as_ref().map(Spanned::span)),
        ("annotations", hints.into_iter().flatten().map(LitBool::span).next()),
    ];
    for (key, span) in ours {
        let is_theirs = tool.arguments.iter().any(|argument: &Meta| argument.path().is_ident(key));
        if let Some(span) = span.filter(|_| is_theirs) {
            errors.push(diagnostics::also_on_rmcp_tool(span, key));
        }
    }
}

fn free_fn(function: &Function, errors: &mut Errors) -> Option<FreeFn> {
    if rmcp_tool::has_rewritten(&function.signature) {
        return None;
    }
    check_signature(function, errors);
    if let Some(FnArg::Receiver(receiver)) = function.signature.inputs.first() {
        errors.push(diagnostics::method_without_rmcp_tool(&function.signature.ident, receiver));
    }
    let inputs = parameter::free(function, errors);
    Some(FreeFn { inputs, output: output(function, errors)? })
}

fn output(function: &Function, errors: &mut Errors) -> Option<Type> {
    match &function.signature.output {
        ReturnType::Default => Some(parse_quote!(())),
        ReturnType::Type(_, ty) if matches!(**ty, Type::ImplTrait(_)) => {
            errors.push(diagnostics::opaque_output(ty));
            None
        }
        ReturnType::Type(_, ty) => Some((**ty).clone()),
    }
}

/// What holds in both homes: an ordinary async fn with a body.
fn check_signature(function: &Function, errors: &mut Errors) {
    let signature = &function.signature;
    let name = &signature.ident;
    if !function.has_body() {
        errors.push(diagnostics::no_body(name));
    }
    if signature.asyncness.is_none() && !rmcp_tool::has_rewritten(signature) {
        errors.push(diagnostics::not_async(name, signature.fn_token.span));
    }
    if let Some(constness) = &signature.constness {
        errors.push(diagnostics::qualified(name, constness, "const"));
    }
    if let Safety::Unsafe(unsafety) = &signature.safety {
        errors.push(diagnostics::qualified(name, unsafety, "unsafe"));
    }
    if let Some(abi) = &signature.abi {
        errors.push(diagnostics::qualified(name, abi, "extern"));
    }
    if let Some(dots) = &signature.variadic {
        errors.push(diagnostics::variadic(name, dots));
    }
    check_generics(function, errors);
}

/// Generic types have no one schema. A lifetime can only be of use on `&self`.
fn check_generics(function: &Function, errors: &mut Errors) {
    let generics = &function.signature.generics;
    let is_method = function.signature.receiver().is_some();
    let is_lifetime = |parameter: &GenericParam| matches!(parameter, GenericParam::Lifetime(_));
    if generics.params.iter().any(|parameter| !(is_method && is_lifetime(parameter))) {
        errors.push(diagnostics::generic(&function.signature.ident, &generics.params));
    }
}

fn about(args: &Args, function: &Function) -> About {
    let description = args.description.as_ref().map(ToTokens::to_token_stream);
    let hints = [
        ("read_only", &args.read_only),
        ("destructive", &args.destructive),
        ("idempotent", &args.idempotent),
        ("open_world", &args.open_world),
    ];
    About {
        name: args.name.clone(),
        title: args.title.clone(),
        description: description.or_else(|| docs::description(&function.attributes)),
        hints: hints.into_iter().filter_map(|(name, flag)| Some((name, flag.clone()?))).collect(),
    }
}

fn options(args: Args) -> Options {
    Options {
        ttl: args.ttl,
        poll_interval_ms: args.poll_interval,
        mode: args.mode.map(|mode| mode.value),
        when: args.when,
        promote_after_ms: args.promote_after.map(|after| after.value),
        on_cancel: args.on_cancel,
        on_restart: args.on_restart,
        max_attempts: args.max_attempts.map(|count| count.value),
        version: args.version,
        max_running: args.max_running,
    }
}
