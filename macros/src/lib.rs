//! `#[task_tool]` and `#[task_handler]` of `mcp-tasks`, which re-exports both. Use them from there: what they emit
//! names items of that crate.
//!
//! A macro call passes four stages: parse (`args`, `signature`, `rmcp_tool`), validate (`validate`, `parameter`), model
//! (`model`), expand (`expand`). Every mistake is collected (`diagnostics`); after one, the item is still there
//! (`fallback`), so that the compiler does not report what follows from it.

mod args;
mod diagnostics;
mod docs;
mod duration;
mod expand;
mod fallback;
mod handler;
mod model;
mod parameter;
mod rmcp_tool;
mod signature;
mod validate;

#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

#[doc = include_str!("task_tool.md")]
#[proc_macro_attribute]
pub fn task_tool(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::task_tool(args.into(), item.into()).into()
}

#[doc = include_str!("task_handler.md")]
#[proc_macro_attribute]
pub fn task_handler(args: TokenStream, item: TokenStream) -> TokenStream {
    handler::task_handler(args.into(), item.into()).into()
}
