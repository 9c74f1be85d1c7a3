//! Where the compiler points when emitted tokens do not fit the user's types.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Path;
use syn::spanned::Spanned;

/// Where `node` stands, with the names of the macro.
pub(super) fn at(node: &impl Spanned) -> Span {
    Span::mixed_site().located_at(node.span())
}

/// `path`, with the names that it has, as if it stood at `node`: an error about a path is reported where it begins.
pub(super) fn named_at(path: &Path, node: &impl Spanned) -> TokenStream {
    let place = node.span();
    let moved = |mut tree: TokenTree| {
        tree.set_span(tree.span().located_at(place));
        tree
    };
    path.to_token_stream().into_iter().map(moved).collect()
}
