//! Code on its way to a file: Rust for `prettyplease` to lay out, and tables that have their layout.

use crate::error::{Error, Problem};
use proc_macro2::TokenStream;

/// The pieces of a file in order.
///
/// What a macro call holds is no Rust to `prettyplease`, which fills lines with it; so tables are text from the start.
/// That also saves the parser most of what there is to parse.
#[derive(Default)]
pub(super) struct Code(Vec<Piece>);

enum Piece {
    Rust(TokenStream),
    Table(String),
}

impl From<TokenStream> for Code {
    fn from(code: TokenStream) -> Self {
        Self(vec![Piece::Rust(code)])
    }
}

impl Code {
    pub(super) fn rust(&mut self, code: TokenStream) {
        if !code.is_empty() {
            self.0.push(Piece::Rust(code));
        }
    }

    /// Adds a macro call, `head` and a line for each row.
    pub(super) fn table(&mut self, head: &str, rows: impl IntoIterator<Item = String>) {
        let rows: String = rows.into_iter().map(|row| format!("    {row};\n")).collect();
        self.0.push(Piece::Table(format!("{head} {{\n{rows}}}\n")));
    }

    pub(super) fn append(&mut self, code: Self) {
        self.0.extend(code.0);
    }

    /// The text of all pieces; `what` they are is said if they are not Rust.
    pub(super) fn laid_out(self, what: &str) -> Result<String, Error> {
        let pieces = self.0.into_iter().map(|piece| match piece {
            Piece::Rust(code) => lay_out(code, what),
            Piece::Table(text) => Ok(text),
        });
        pieces.collect()
    }
}

fn lay_out(code: TokenStream, what: &str) -> Result<String, Error> {
    let mut file: syn::File = syn::parse2(code).map_err(|error| {
        Problem::new(what, "", format!("the code made for it is not Rust: {error}"))
            .help("this is a fault of the generator")
    })?;
    inline_small_functions(&mut file);
    Ok(prettyplease::unparse(&file))
}

/// Marks the functions without type parameters. They are small; left to whoever calls one, the crate itself compiles none
/// of them, nor what drops the types they touch.
fn inline_small_functions(file: &mut syn::File) {
    let is_plain = |generics: &syn::Generics| generics.type_params().next().is_none();
    for item in &mut file.items {
        let syn::Item::Impl(block) = item else { continue };
        let plain_block = is_plain(&block.generics);
        for item in &mut block.items {
            if let syn::ImplItem::Fn(function) = item
                && plain_block
                && is_plain(&function.sig.generics)
            {
                function.attrs.push(syn::parse_quote!(#[inline]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Code;
    use quote::quote;

    #[test]
    fn rust_is_laid_out_and_a_table_stays_as_it_is() {
        let mut code = Code::from(quote!(
            struct One;
        ));
        code.table("rows!", ["1 \"a\"".to_owned(), "22 \"b\"".to_owned()]);
        code.rust(quote!(
            struct Two;
        ));
        let text = code.laid_out("test").expect("it is Rust");
        assert_eq!(text, "struct One;\nrows! {\n    1 \"a\";\n    22 \"b\";\n}\nstruct Two;\n");
    }

    #[test]
    fn what_is_no_rust_is_named() {
        let error = Code::from(quote!(struct struct)).laid_out("parcels").expect_err("it is none");
        assert!(error.to_string().contains("parcels"), "{error}");
    }
}
