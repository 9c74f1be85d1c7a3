//! The parameters of a free fn: described by a constant each, taken out of the call into a local each.
//!
//! A parameter is known by its place among the parameters of the fn.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Path;

use super::place::{at, named_at};
use crate::model::{Argument, ArgumentDefault, Input};

/// A constant for each argument: the one place where the argument's type has to be fit for one.
pub(super) fn descriptors(krate: &Path, inputs: &[Input]) -> TokenStream {
    let each = inputs.iter().enumerate().map(|(place, input)| descriptor(krate, &constant(place), input));
    each.collect()
}

fn descriptor(krate: &Path, name: &Ident, input: &Input) -> TokenStream {
    match input {
        Input::Argument(argument) => {
            let (ty, value) = (&argument.ty, parameter(krate, argument));
            quote!(const #name: #krate::private::Parameter<#ty> = #value;)
        }
        Input::Whole(ty) => {
            let here = named_at(krate, ty);
            let value = quote_spanned!(at(ty)=> #here::private::WholeInput::<#ty>::new());
            quote!(const #name: #krate::private::WholeInput<#ty> = #value;)
        }
        Input::Extracted(_) => TokenStream::new(),
    }
}

fn parameter(krate: &Path, argument: &Argument) -> TokenStream {
    let Argument { name, ty, description, default, .. } = argument;
    let here = named_at(krate, ty);
    let new = quote_spanned!(at(ty)=> #here::private::Parameter::<#ty>::new(#name));
    let description = description.as_ref().map(|text| quote!(.description(#text)));
    let default = default.as_ref().map(|default| match default {
        ArgumentDefault::OfType => quote_spanned!(at(ty)=> .default(<#ty as ::core::default::Default>::default)),
        ArgumentDefault::Value(value) => quote_spanned!(at(ty)=> .default(|| #value)),
    });
    quote!(#new #description #default)
}

/// What tells the definition of the parameters, in their order.
pub(super) fn described(inputs: &[Input]) -> TokenStream {
    let each = inputs.iter().enumerate().map(|(place, input)| {
        let constant = constant(place);
        match input {
            Input::Argument(_) => quote!(.parameter(&#constant)),
            Input::Whole(_) => quote!(.whole_input(&#constant)),
            Input::Extracted(ty) => quote!(.extracts::<#ty>()),
        }
    });
    each.collect()
}

/// For each parameter an expression that takes its value out of `call`.
pub(super) fn values(krate: &Path, call: &Ident, inputs: &[Input]) -> Vec<TokenStream> {
    let each = inputs.iter().enumerate().map(|(place, input)| {
        let constant = constant(place);
        match input {
            Input::Argument(_) => quote!(#call.argument(&#constant)),
            Input::Whole(_) => quote!(#call.whole_input(&#constant)),
            Input::Extracted(ty) => {
                let here = named_at(krate, ty);
                quote_spanned!(at(ty)=> #here::private::ToolCall::extract::<#ty>(&mut #call))
            }
        }
    });
    each.collect()
}

/// The constant of the parameter at `place`.
fn constant(place: usize) -> Ident {
    format_ident!("__INPUT_{place}")
}

/// The local of the parameter at `place`.
pub(super) fn local(place: usize) -> Ident {
    format_ident!("input_{place}", span = Span::mixed_site())
}
