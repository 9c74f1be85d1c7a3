//! The traits that tie a message to its method, its parameters and its result.

use super::{Emitter, docs};
use crate::ir::{Content, Definition, Object, Type};
use proc_macro2::TokenStream;
use quote::quote;

impl Emitter<'_> {
    /// The trait of a request or notification, if the definition is one: a `method` of one value, and for a request a
    /// result that is named like it (`XRequest`, `XResult`) or in the overlay.
    pub(super) fn message(&self, definition: &Definition) -> Option<TokenStream> {
        let object = self.revision.object(&definition.name)?;
        let Content::Constant(method) = &object.field("method")?.content else { return None };
        let name = self.names.get(&definition.name);
        let parameters = self.parameters(object);
        let usage = self.generics(&definition.name).usage;
        let (bare, bounded) = match usage.is_empty() {
            true => (TokenStream::new(), TokenStream::new()),
            false => (quote!(<P>), quote!(<P: support::Payload>)),
        };
        let constant_docs = docs::comment(&format!("The method, `{method}`."));
        let constant = quote! {
            impl #bare #name #usage {
                #constant_docs
                pub const METHOD: &'static str = #method;
            }
        };
        if definition.name.ends_with("Notification") {
            return Some(quote! {
                #constant
                impl #bounded support::Notification for #name #usage {
                    const METHOD: &'static str = #method;
                    type Params = #parameters;
                }
            });
        }
        let Some(result) = self.result_of(&definition.name) else { return Some(constant) };
        Some(quote! {
            #constant
            impl #bounded support::Request for #name #usage {
                const METHOD: &'static str = #method;
                type Params = #parameters;
                type Result = #result;
            }
        })
    }

    fn parameters(&self, object: &Object) -> TokenStream {
        match object.field("params").map(|field| &field.content) {
            Some(Content::Typed(value)) => self.ty(value),
            _ => quote!(()),
        }
    }

    fn result_of(&self, request: &str) -> Option<TokenStream> {
        let by_name = || Some(format!("{}Result", request.strip_suffix("Request")?));
        let result = self.settings.results.get(request).cloned().or_else(by_name)?;
        self.revision.get(&result)?;
        // A request is not about the form of a payload, so its result has the one it has by default.
        match self.graph.is_generic(&result) {
            true => {
                let name = self.names.get(&result);
                Some(quote!(#name))
            }
            false => Some(self.ty(&Type::Named(result))),
        }
    }
}
