//! One function that knows every type by the name of its definition: for tests, fuzzing and tools.

use super::Emitter;
use crate::ir::Shape;
use proc_macro2::TokenStream;
use quote::quote;

impl Emitter<'_> {
    /// The function, with the types brought in by `import`.
    pub(super) fn registry(&self, import: &TokenStream) -> TokenStream {
        let definitions =
            || self.revision.definitions().filter(|definition| !matches!(definition.shape, Shape::Alias(_)));
        let names: Vec<_> = definitions().map(|definition| &definition.name).collect();
        let types = definitions().map(|definition| self.names.get(&definition.name));
        quote! {
            #import
            /// The definitions that have a type of their own.
            pub const NAMES: &[&str] = &[#(#names),*];

            /// Reads JSON text as the type of a definition and writes it again; nothing if there is no such definition.
            pub fn recode(name: &str, text: &str) -> Option<::serde_json::Result<String>> {
                Some(match name {
                    #(#names => again::<#types>(text),)*
                    _ => return None,
                })
            }

            fn again<T: ::serde::de::DeserializeOwned + ::serde::Serialize>(
                text: &str,
            ) -> ::serde_json::Result<String> {
                ::serde_json::to_string(&::serde_json::from_str::<T>(text)?)
            }
        }
    }
}
