//! Expand: the model becomes tokens. Nothing here can fail.

mod free;
mod inputs;
mod method;
mod options;
mod place;

use proc_macro2::TokenStream;
use quote::quote;

use crate::args::Args;
use crate::diagnostics::{self, Errors};
use crate::fallback;
use crate::model::{Home, TaskTool};
use crate::signature::Function;
use crate::validate::{default_crate, validate};

pub(crate) use free::marker;

/// All four stages of `#[task_tool(args)] item`.
pub(crate) fn task_tool(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = Args::parse(args, &mut errors);
    let function: Function = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return not_a_fn(error, item, errors),
    };
    let krate = args.krate.clone().unwrap_or_else(default_crate);
    match validate(args, function.clone(), errors) {
        Ok(tool) => expand(&tool),
        Err(errors) => fallback::task_tool(&krate, &function, &errors),
    }
}

fn expand(tool: &TaskTool) -> TokenStream {
    match &tool.home {
        Home::Free(free) => free::expand(tool, free),
        Home::RmcpMethod(rmcp) => method::expand(tool, rmcp),
    }
}

/// The item as it came, with what is wrong about it.
fn not_a_fn(error: syn::Error, item: TokenStream, mut errors: Errors) -> TokenStream {
    let is_other_item = syn::parse2::<syn::Item>(item.clone()).is_ok();
    errors.push(if is_other_item { diagnostics::not_a_fn(&item) } else { error });
    let errors = errors.to_compile_errors();
    quote!(#errors #item)
}
