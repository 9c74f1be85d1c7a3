//! A free fn: beside it, a type of its name that lists and calls it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{LitStr, Path, Type};

use super::place::{at, named_at};
use super::{inputs, options};
use crate::model::{About, FreeFn, TaskTool};
use crate::signature::Function;

/// From
/// ```text
/// #[task_tool(ttl = "10m")]
/// /// Adds.
/// pub async fn sum(a: i64, task: TaskContext) -> i64 { .. }
/// ```
/// to
/// ```text
/// /// Adds.
/// pub async fn sum(a: i64, task: TaskContext) -> i64 { .. }
/// pub struct sum {}
/// const _: () = {
///     const __INPUT_0: Parameter<i64> = Parameter::<i64>::new("a");
///     fn __returned() -> Returned<i64> { ReturnType::<i64>::describe() }
///     impl TaskTool for sum {
///         fn definition() -> ToolDefinition {
///             ToolDefinition::new("sum", const { &ToolOptions::new().ttl_ms(600000) })
///                 .description("Adds.").parameter(&__INPUT_0).extracts::<TaskContext>().returns(&__returned())
///         }
///         async fn call(mut call: ToolCall) -> ToolResult {
///             let input_0 = call.argument(&__INPUT_0)?;
///             let input_1 = call.extract::<TaskContext>()?;
///             __returned().convert(sum(input_0, input_1).await)
///         }
///     }
/// };
/// ```
pub(super) fn expand(tool: &TaskTool, free: &FreeFn) -> TokenStream {
    let TaskTool { krate, function, .. } = tool;
    let name = &function.signature.ident;
    let marker = marker(function);
    let descriptors = inputs::descriptors(krate, &free.inputs);
    let returned = returned(krate, &free.output);
    let definition = definition(tool, free);
    let call = call(krate, name, free);
    let function = function.without_parameter_attributes();
    quote! {
        #function
        #marker
        const _: () = {
            #descriptors
            #returned
            impl #krate::private::TaskTool for #name {
                fn definition() -> #krate::private::ToolDefinition {
                    #definition
                }
                #call
            }
        };
    }
}

/// The type by which the tool is named: braced, so that the fn keeps its name to itself among the values.
pub(crate) fn marker(function: &Function) -> TokenStream {
    let Function { visibility, signature, .. } = function;
    let name = &signature.ident;
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code)]
        #visibility struct #name {}
    }
}

/// One fn that describes the return type: the one place where it has to be a tool's output.
fn returned(krate: &Path, output: &Type) -> TokenStream {
    let here = named_at(krate, output);
    let describe = quote_spanned!(at(output)=> #here::private::ReturnType::<#output>::describe());
    quote! {
        fn __returned() -> #krate::private::Returned<#output> {
            #[allow(unused_imports)]
            use #krate::private::PlainReturn as _;
            #describe
        }
    }
}

fn definition(tool: &TaskTool, free: &FreeFn) -> TokenStream {
    let TaskTool { krate, function, about, .. } = tool;
    let ident = &function.signature.ident;
    let name = about.name.clone().unwrap_or_else(|| LitStr::new(&ident.unraw().to_string(), ident.span()));
    let options = options::expand(krate, &tool.options);
    let about = said(about);
    let inputs = inputs::described(&free.inputs);
    quote!(#krate::private::ToolDefinition::new(#name, #options) #about #inputs .returns(&__returned()))
}

fn said(about: &About) -> TokenStream {
    let title = about.title.as_ref().map(|title| quote!(.title(#title)));
    let description = about.description.as_ref().map(|text| quote!(.description(#text)));
    let hints = about.hints.iter().map(|(name, flag)| {
        let name = Ident::new(name, Span::mixed_site());
        quote!(.#name(#flag))
    });
    quote!(#title #description #(#hints)*)
}

fn call(krate: &Path, name: &Ident, free: &FreeFn) -> TokenStream {
    let call = Ident::new("call", Span::mixed_site());
    let binding = if free.inputs.is_empty() { quote!(_) } else { quote!(mut #call) };
    let values = inputs::values(krate, &call, &free.inputs);
    let names: Vec<Ident> = (0..values.len()).map(inputs::local).collect();
    // At the fn's name, so that a future that is not `Send` is reported there.
    let here = named_at(krate, name);
    let signature = quote_spanned! {at(name)=>
        async fn call(#binding: #here::private::ToolCall) -> #here::private::ToolResult
    };
    quote! {
        #signature {
            #(let #names = #values?;)*
            __returned().convert(#name(#(#names),*).await)
        }
    }
}
