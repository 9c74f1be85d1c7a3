//! Parse: the fn below the attribute. Its body stays opaque, so that a half-written one still works in an editor.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Result, Signature, Visibility};

/// Our attribute, whatever the path in front of it.
pub(crate) const TASK_TOOL: &str = "task_tool";

/// A fn with or without a body.
#[derive(Clone)]
pub(crate) struct Function {
    /// All attributes but `#[task_tool]` itself.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    pub(crate) signature: Signature,
    /// Everything after the signature.
    body: TokenStream,
}

impl Function {
    /// Whether something in braces follows the signature.
    pub(crate) fn has_body(&self) -> bool {
        let is_braces =
            |tree| matches!(tree, TokenTree::Group(group) if group.delimiter() == proc_macro2::Delimiter::Brace);
        self.body.clone().into_iter().next().is_some_and(is_braces)
    }

    /// The attribute whose path ends in `name`.
    pub(crate) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| is_called(attribute, name))
    }

    /// The fn without parameter attributes, of which rustc knows only lints and `cfg`.
    pub(crate) fn without_parameter_attributes(&self) -> Self {
        let mut function = self.clone();
        for input in &mut function.signature.inputs {
            attributes_of(input).retain(is_known_to_rustc);
        }
        function
    }
}

/// Whether the path of `attribute` ends in `name`, which is all that a macro can know of it.
pub(crate) fn is_called(attribute: &Attribute, name: &str) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == name)
}

fn attributes_of(input: &mut FnArg) -> &mut Vec<Attribute> {
    match input {
        FnArg::Receiver(receiver) => &mut receiver.attrs,
        FnArg::Typed(parameter) => &mut parameter.attrs,
    }
}

fn is_known_to_rustc(attribute: &Attribute) -> bool {
    is_lint(attribute) || ["cfg", "cfg_attr"].iter().any(|name| attribute.path().is_ident(name))
}

/// Whether `attribute` only sets lints.
pub(crate) fn is_lint(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|name| attribute.path().is_ident(name))
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        Ok(Self {
            attributes: input.call(Attribute::parse_outer)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            body: input.parse()?,
        })
    }
}

impl ToTokens for Function {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attributes, visibility, signature, body } = self;
        tokens.extend(quote!(#(#attributes)* #visibility #signature #body));
    }
}
