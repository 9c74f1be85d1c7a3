//! Validate: the parameters of the fn.

use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprLit, FnArg, Lit, LitStr, Meta, Pat, PatType, Token, Type, TypeImplTrait, TypeReference,
};

use crate::diagnostics::{self, Errors, source};
use crate::docs;
use crate::model::{Argument, ArgumentDefault, Input};
use crate::signature::{Function, is_lint};

/// The type that stands for the running call.
const CONTEXT: &str = "TaskContext";
/// The type that stands for the server's shared state.
const STATE: &str = "State";

/// The parameters of a free fn, each with the source of its value.
pub(crate) fn free(function: &Function, errors: &mut Errors) -> Vec<Input> {
    let mut inputs = Vec::new();
    for parameter in typed(function) {
        check_type(&parameter.ty, errors);
        inputs.extend(input(parameter, errors));
    }
    check_contexts(function, errors);
    check_whole(&inputs, errors);
    check_names(&inputs, errors);
    inputs
}

/// The parameters of a method, whose values rmcp provides.
pub(crate) fn method(function: &Function, errors: &mut Errors) {
    for parameter in typed(function) {
        check_type(&parameter.ty, errors);
        for attribute in parameter.attrs.iter().filter(|attribute| !is_lint(attribute)) {
            errors.push(diagnostics::argument_attribute_on_method(attribute));
        }
    }
    check_contexts(function, errors);
}

fn typed(function: &Function) -> impl Iterator<Item = &PatType> {
    function.signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(parameter),
        FnArg::Receiver(_) => None,
    })
}

/// What the attributes of one parameter say.
#[derive(Default)]
struct Marks {
    whole: bool,
    argument: bool,
    name: Option<LitStr>,
    default: Option<ArgumentDefault>,
}

fn input(parameter: &PatType, errors: &mut Errors) -> Option<Input> {
    let marks = marks(&parameter.attrs, errors);
    let ty = (*parameter.ty).clone();
    if marks.whole {
        Some(Input::Whole(ty))
    } else if !marks.argument && (is_type(&ty, CONTEXT) || is_type(&ty, STATE)) {
        Some(Input::Extracted(ty))
    } else {
        argument(parameter, marks, errors).map(Box::new).map(Input::Argument)
    }
}

fn argument(parameter: &PatType, marks: Marks, errors: &mut Errors) -> Option<Argument> {
    let Pat::Ident(pattern) = &*parameter.pat else {
        errors.push(diagnostics::pattern(&parameter.pat));
        return None;
    };
    if pattern.by_ref.is_some() || pattern.subpat.is_some() {
        errors.push(diagnostics::pattern(pattern));
        return None;
    }
    let ident = pattern.ident.clone();
    let name = marks.name.unwrap_or_else(|| LitStr::new(&ident.unraw().to_string(), ident.span()));
    let description = docs::description(&parameter.attrs);
    Some(Argument { ident, name, ty: (*parameter.ty).clone(), description, default: marks.default })
}

fn marks(attributes: &[Attribute], errors: &mut Errors) -> Marks {
    let mut marks = Marks::default();
    for attribute in attributes.iter().filter(|attribute| !is_lint(attribute)) {
        let path = attribute.path();
        if path.is_ident("args") {
            marks.whole = true;
            check_bare(attribute, errors);
        } else if path.is_ident("arg") {
            marks.argument = true;
            read_arg(attribute, &mut marks, errors);
        } else if !path.is_ident("doc") {
            errors.push(diagnostics::foreign_attribute(attribute));
        }
    }
    marks
}

fn check_bare(attribute: &Attribute, errors: &mut Errors) {
    if !matches!(attribute.meta, Meta::Path(_)) {
        errors.push(diagnostics::args_with_content(attribute));
    }
}

/// Reads `#[arg]` and `#[arg(..)]` into `marks`.
fn read_arg(attribute: &Attribute, marks: &mut Marks, errors: &mut Errors) {
    let list = match &attribute.meta {
        Meta::Path(_) => return,
        Meta::List(list) => list,
        Meta::NameValue(_) => return errors.push(diagnostics::unknown_arg_option(&attribute.meta)),
    };
    let options = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(list.tokens.clone());
    for option in errors.absorb(options).into_iter().flatten() {
        read_arg_option(option, marks, errors);
    }
}

fn read_arg_option(option: Meta, marks: &mut Marks, errors: &mut Errors) {
    match &option {
        Meta::Path(path) if path.is_ident("default") => marks.default = Some(ArgumentDefault::OfType),
        Meta::NameValue(pair) if pair.path.is_ident("default") => {
            marks.default = Some(ArgumentDefault::Value(pair.value.clone()));
        }
        Meta::NameValue(pair) if pair.path.is_ident("name") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) => marks.name = Some(name.clone()),
            _ => errors.push(diagnostics::unknown_arg_option(&option)),
        },
        _ => errors.push(diagnostics::unknown_arg_option(&option)),
    }
}

/// Whether the path of `ty` ends in `name`.
fn is_type(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|segment| segment.ident == name))
}

/// A call has one context.
fn check_contexts(function: &Function, errors: &mut Errors) {
    let is_argument = |parameter: &PatType| parameter.attrs.iter().any(|attribute| attribute.path().is_ident("arg"));
    let contexts = typed(function).filter(|parameter| is_type(&parameter.ty, CONTEXT) && !is_argument(parameter));
    for second in contexts.skip(1) {
        errors.push(diagnostics::two_contexts(&second.ty));
    }
}

/// Beside a struct that takes all arguments stands no other argument.
fn check_whole(inputs: &[Input], errors: &mut Errors) {
    let mut wholes = inputs.iter().filter_map(|input| match input {
        Input::Whole(ty) => Some(ty),
        Input::Argument(_) | Input::Extracted(_) => None,
    });
    if wholes.next().is_none() {
        return;
    }
    for second in wholes {
        errors.push(diagnostics::argument_beside_whole(second));
    }
    for argument in arguments(inputs) {
        errors.push(diagnostics::argument_beside_whole(&argument.ident));
    }
}

fn check_names(inputs: &[Input], errors: &mut Errors) {
    let mut seen = Vec::new();
    for argument in arguments(inputs) {
        let name = argument.name.value();
        if seen.contains(&name) {
            errors.push(diagnostics::same_argument_name(argument.name.span(), &name));
        }
        seen.push(name);
    }
}

fn arguments(inputs: &[Input]) -> impl Iterator<Item = &Argument> {
    inputs.iter().filter_map(|input| match input {
        Input::Argument(argument) => Some(&**argument),
        Input::Whole(_) | Input::Extracted(_) => None,
    })
}

/// Refuses what cannot leave the request (`&T`) and what has no name (`impl T`), at any depth.
fn check_type(ty: &Type, errors: &mut Errors) {
    TypeCheck { errors }.visit_type(ty);
}

struct TypeCheck<'a> {
    errors: &'a mut Errors,
}

impl<'ast> Visit<'ast> for TypeCheck<'_> {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        self.errors.push(diagnostics::borrowed(reference, &owned(&reference.elem)));
    }

    fn visit_type_impl_trait(&mut self, opaque: &'ast TypeImplTrait) {
        self.errors.push(diagnostics::opaque_parameter(opaque));
    }

    /// The parameters of a fn type are not parameters of the tool.
    fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}

    fn visit_type(&mut self, ty: &'ast Type) {
        visit::visit_type(self, ty);
    }
}

/// What to write for a reference to `borrowed`.
fn owned(borrowed: &Type) -> String {
    match borrowed {
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        Type::Slice(slice) => format!("Vec<{}>", source(&slice.elem)),
        other => source(other),
    }
}
