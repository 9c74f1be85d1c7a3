//! What is emitted beside the errors: the user's fn, and a stand-in for what would have been made of it, so that the
//! compiler reports the mistakes themselves and nothing that follows from them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Path;

use crate::diagnostics::Errors;
use crate::expand;
use crate::rmcp_tool;
use crate::signature::{Function, TASK_TOOL, is_called};

/// The errors, `function`, and its stand-in.
pub(crate) fn task_tool(krate: &Path, function: &Function, errors: &Errors) -> TokenStream {
    let errors = errors.to_compile_errors();
    let stand_in = is_free(function).then(|| stand_in(krate, function));
    let function = without_second(function.without_parameter_attributes());
    quote!(#errors #function #stand_in)
}

/// Whether a type can stand beside it, which is impossible inside a trait or an `impl`.
fn is_free(function: &Function) -> bool {
    function.has_body()
        && function.signature.receiver().is_none()
        && function.attribute(rmcp_tool::TOOL).is_none()
        && !rmcp_tool::has_rewritten(&function.signature)
}

/// A second `#[task_tool]` would only say the same again.
fn without_second(mut function: Function) -> Function {
    function.attributes.retain(|attribute| !is_called(attribute, TASK_TOOL));
    function
}

/// The type and the trait of a tool that is never called.
fn stand_in(krate: &Path, function: &Function) -> TokenStream {
    let name = &function.signature.ident;
    let marker = expand::marker(function);
    quote! {
        #marker
        impl #krate::private::TaskTool for #name {
            fn definition() -> #krate::private::ToolDefinition {
                ::core::unreachable!()
            }
            async fn call(_: #krate::private::ToolCall) -> #krate::private::ToolResult {
                ::core::unreachable!()
            }
        }
    }
}
