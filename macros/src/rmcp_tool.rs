//! Parse: rmcp's `#[tool(..)]` below `#[task_tool]`.

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, GenericArgument, Meta, PathArguments, Result, ReturnType, Signature, Token, Type, TypeParamBound,
};

use crate::model::RmcpTool;
use crate::signature::{Function, is_called};

/// The name under which rmcp's `#[tool_router]` looks for tools, whatever the path in front of it.
pub(crate) const TOOL: &str = "tool";

/// The `#[tool]` of `function`, if it has one.
pub(crate) fn find(function: &Function) -> Result<Option<RmcpTool>> {
    let Some(index) = function.attributes.iter().position(|attribute| is_called(attribute, TOOL)) else {
        return Ok(None);
    };
    let attribute = function.attributes[index].clone();
    let mut arguments = arguments(&attribute)?;
    let meta = arguments.iter().position(|argument| argument.path().is_ident("meta"));
    let meta = meta.map(|meta| arguments.remove(meta));
    let meta = meta.map(|meta| meta.require_name_value().map(|pair| pair.value.clone())).transpose()?;
    Ok(Some(RmcpTool { index, attribute, arguments, meta }))
}

fn arguments(attribute: &Attribute) -> Result<Vec<Meta>> {
    match &attribute.meta {
        Meta::List(list) => {
            let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
            Ok(parser.parse2(list.tokens.clone())?.into_iter().collect())
        }
        Meta::Path(_) | Meta::NameValue(_) => Ok(Vec::new()),
    }
}

/// Whether `#[tool]` has been here: it makes an async method a plain one that returns a boxed future.
pub(crate) fn has_rewritten(signature: &Signature) -> bool {
    let ReturnType::Type(_, output) = &signature.output else { return false };
    signature.asyncness.is_none() && first_argument(output, "Pin").is_some_and(is_boxed_future)
}

fn is_boxed_future(pointee: &Type) -> bool {
    let Some(Type::TraitObject(object)) = first_argument(pointee, "Box") else { return false };
    object.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|segment| segment.ident == "Future"),
        _ => false,
    })
}

/// `T`, where `ty` is `name<T>`.
fn first_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last().filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    }
}
