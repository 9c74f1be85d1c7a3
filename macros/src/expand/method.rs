//! A method in rmcp's `#[tool_router] impl`: only its `#[tool]` changes.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Meta, parse_quote};

use super::options;
use crate::model::{About, RmcpTool, TaskTool};

/// From
/// ```text
/// #[task_tool(ttl = "10m")]
/// /// Adds.
/// #[tool(title = "Sum")]
/// async fn sum(&self, Parameters(sum): Parameters<Sum>, task: TaskContext) -> Json<i64> { .. }
/// ```
/// to
/// ```text
/// /// Adds.
/// #[tool(title = "Sum", description = "Adds.", meta = tool_meta(None, const { &ToolOptions::new().ttl_ms(600000) }))]
/// async fn sum(&self, Parameters(sum): Parameters<Sum>, task: TaskContext) -> Json<i64> { .. }
/// ```
/// The options travel in the tool's `_meta` to whoever handles the call, and are taken out before a client sees it.
/// The description is given in so many words, for rmcp forgets the doc comment when another attribute follows it.
pub(super) fn expand(tool: &TaskTool, rmcp: &RmcpTool) -> TokenStream {
    let mut function = tool.function.clone();
    function.attributes[rmcp.index] = attribute(tool, rmcp);
    function.into_token_stream()
}

fn attribute(tool: &TaskTool, rmcp: &RmcpTool) -> Attribute {
    let path = rmcp.attribute.path();
    let theirs = &rmcp.arguments;
    let ours = said(&tool.about, rmcp);
    let meta = meta(tool, rmcp);
    parse_quote!(#[#path(#(#theirs,)* #(#ours,)* #meta)])
}

fn meta(tool: &TaskTool, rmcp: &RmcpTool) -> TokenStream {
    let krate = &tool.krate;
    let options = options::expand(krate, &tool.options);
    let theirs = match &rmcp.meta {
        Some(meta) => quote!(::core::option::Option::Some(#meta)),
        None => quote!(::core::option::Option::None),
    };
    quote!(meta = #krate::private::handler::tool_meta(#theirs, #options))
}

/// What `#[task_tool]` was told of the tool, in rmcp's words.
fn said(about: &About, rmcp: &RmcpTool) -> Vec<TokenStream> {
    let is_theirs = |key: &str| rmcp.arguments.iter().any(|argument: &Meta| argument.path().is_ident(key));
    let description = about.description.as_ref().filter(|_| !is_theirs("description"));
    let said = [
        about.name.as_ref().map(|name| quote!(name = #name)),
        about.title.as_ref().map(|title| quote!(title = #title)),
        description.map(|text| quote!(description = #text)),
        annotations(about),
    ];
    said.into_iter().flatten().collect()
}

fn annotations(about: &About) -> Option<TokenStream> {
    let hints: Vec<TokenStream> = about
        .hints
        .iter()
        .map(|(name, flag)| {
            let name = format_ident!("{name}_hint", span = Span::call_site());
            quote!(#name = #flag)
        })
        .collect();
    (!hints.is_empty()).then(|| quote!(annotations(#(#hints),*)))
}
