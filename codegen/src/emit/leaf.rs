//! Leaves: strings of their own meaning and closed enums. A library renders them, behind one trait.

use super::{Emitter, docs};
use crate::error::{Error, Problem};
use crate::ir::{Definition, Part, Scalar, Shape};
use crate::typify::Typify;
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The code of each leaf by the name of its definition.
pub(super) type Leaves = BTreeMap<String, TokenStream>;

/// A leaf to render: its Rust name and a schema of nothing but what its values are.
pub(crate) struct Leaf {
    pub(crate) name: String,
    pub(crate) schema: Value,
}

/// Renders leaves.
pub(crate) trait LeafRenderer {
    /// The items of each leaf in the order given, without doc comments; or what it could not do.
    fn render(&self, leaves: &[Leaf]) -> Result<Vec<Vec<syn::Item>>, String>;
}

/// Renders the leaves of a part.
pub(super) fn render(emitter: &Emitter<'_>, part: &Part) -> Result<Leaves, Error> {
    let definitions: Vec<_> = part.definitions.iter().filter(|definition| is_leaf(emitter, definition)).collect();
    let leaves: Vec<_> = definitions.iter().filter_map(|definition| leaf(emitter, definition)).collect();
    let rendered = Typify.render(&leaves).map_err(|message| match definitions.first() {
        Some(first) => Problem::new(&first.file, "/$defs", message),
        None => Problem::new(&part.name, "", message),
    })?;
    Ok(definitions
        .iter()
        .zip(rendered)
        .map(|(definition, items)| (definition.name.clone(), documented(emitter, definition, items)))
        .collect())
}

fn is_leaf(emitter: &Emitter<'_>, definition: &Definition) -> bool {
    let settings = emitter.settings;
    match &definition.shape {
        Shape::Enum(_) => !settings.open_enums.contains(&definition.name),
        Shape::Scalar(Scalar::String { .. }) => !settings.known_values.contains_key(&definition.name),
        _ => false,
    }
}

fn leaf(emitter: &Emitter<'_>, definition: &Definition) -> Option<Leaf> {
    let schema = match &definition.shape {
        Shape::Enum(values) => json!({ "type": "string", "enum": values.values }),
        Shape::Scalar(Scalar::String { min, max }) => {
            let mut schema = json!({ "type": "string" });
            let bounds = [("minLength", min), ("maxLength", max)];
            for (key, bound) in bounds {
                if let Some(bound) = bound {
                    schema[key] = json!(bound);
                }
            }
            schema
        }
        _ => return None,
    };
    Some(Leaf { name: emitter.names.get(&definition.name).to_string(), schema })
}

/// The items with our doc comments, and what makes a string without bounds pleasant to make.
fn documented(emitter: &Emitter<'_>, definition: &Definition, items: Vec<syn::Item>) -> TokenStream {
    let name = emitter.names.get(&definition.name);
    let docs = docs::of_definition(definition);
    let mut code = TokenStream::new();
    for item in items {
        code.extend(match item {
            syn::Item::Enum(mut item) => {
                if let Shape::Enum(values) = &definition.shape {
                    for (variant, value) in item.variants.iter_mut().zip(&values.values) {
                        let docs = docs::comment(&format!("`{value}`."));
                        variant.attrs.extend(outer(&docs));
                    }
                }
                quote!(#docs #item)
            }
            syn::Item::Struct(item) => quote!(#docs #item),
            item => quote!(#item),
        });
    }
    if matches!(definition.shape, Shape::Scalar(Scalar::String { min: None, max: None })) {
        code.extend(quote! {
            impl From<&str> for #name {
                fn from(text: &str) -> Self { Self(text.to_owned()) }
            }
        });
    }
    code
}

fn outer(docs: &TokenStream) -> Vec<syn::Attribute> {
    use syn::parse::Parser;
    syn::Attribute::parse_outer.parse2(docs.clone()).unwrap_or_default()
}
