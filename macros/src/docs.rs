//! Doc comments as descriptions.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta};

/// The text of all doc attributes among `attributes`, whatever stands between them; `None` if there is no text.
///
/// `#[doc = include_str!(..)]` counts too. Blank lines inside are kept, those around the text are not.
pub(crate) fn description(attributes: &[Attribute]) -> Option<TokenStream> {
    let lines: Vec<&Expr> = attributes.iter().filter_map(doc_value).collect();
    let text: Option<Vec<LitStr>> = lines.iter().map(|line| literal(line)).collect();
    match text {
        Some(text) => joined(&text).map(ToTokens::into_token_stream),
        None => Some(concatenated(&lines)),
    }
}

fn doc_value(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
        _ => None,
    }
}

fn literal(value: &Expr) -> Option<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}

fn joined(lines: &[LitStr]) -> Option<LitStr> {
    let span = lines.first().map_or_else(Span::call_site, LitStr::span);
    let text: Vec<String> = lines.iter().map(unindented).collect();
    let text = text.join("\n");
    let text = text.trim_matches('\n').trim_end();
    (!text.is_empty()).then(|| LitStr::new(text, span))
}

/// The text without the one space that follows `///`.
fn unindented(line: &LitStr) -> String {
    let text = line.value();
    text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end()).collect::<Vec<_>>().join("\n")
}

fn concatenated(lines: &[&Expr]) -> TokenStream {
    let lines = lines.iter().map(|line| match literal(line) {
        Some(text) => LitStr::new(&unindented(&text), text.span()).into_token_stream(),
        None => line.into_token_stream(),
    });
    let mut parts = Vec::new();
    for line in lines {
        if !parts.is_empty() {
            parts.push(quote!("\n"));
        }
        parts.push(line);
    }
    quote!(::core::concat!(#(#parts),*))
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::{ItemStruct, parse_quote};

    use super::description;

    fn text(item: ItemStruct) -> Option<String> {
        description(&item.attrs).map(|text| text.to_string())
    }

    #[test]
    fn attributes_between_and_after_the_lines_do_not_matter() {
        let item = parse_quote! {
            /// One.
            #[allow(dead_code)]
            ///
            ///   Two.
            #[cold]
            struct S;
        };
        assert_eq!(text(item).as_deref(), Some(r#""One.\n\n  Two.""#));
    }

    #[test]
    fn block_comments_and_included_files_count() {
        assert_eq!(
            text(parse_quote!(
                #[doc = " a\n b"]
                struct S;
            ))
            .as_deref(),
            Some(r#""a\nb""#)
        );
        let included: ItemStruct = parse_quote!(
            #[doc = "Intro"]
            #[doc = include_str!("x.md")]
            struct S;
        );
        let text = description(&included.attrs).map(|text| text.into_token_stream().to_string());
        assert_eq!(text.as_deref(), Some(r#":: core :: concat ! ("Intro" , "\n" , include_str ! ("x.md"))"#));
    }

    #[test]
    fn no_text_is_no_description() {
        assert_eq!(
            text(parse_quote!(
                #[doc(hidden)]
                #[doc = ""]
                #[doc = "  "]
                struct S;
            )),
            None
        );
    }
}
